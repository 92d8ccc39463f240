import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditEntry, verifyChain } from '@behest/protocol/audit-chain';
import { auditLine } from '@behest/protocol/audit-line';
import { readIssuedEntries } from '@behest/protocol/enforcement/entries';
import { errorCodes } from '@behest/protocol/errors';
import { keySetOf } from '@behest/protocol/key-set';
import { covers } from '@behest/protocol/scopes';
import { createTokenVerifier } from '@behest/protocol/token-verifier';
import { expect, test } from 'vitest';
import { deliveryHeaders } from '../apps/server/src/features/record/webhooks/webhooks.signing.rules.ts';
import { blocksOf } from './docs-steps.ts';

const ROOT = join(import.meta.dirname, '..');
const pageOf = (name: string) => `docs/protocol/${name}.md`;
const jsonOf = (name: string) => blocksOf(pageOf(name), 'json').map((code) => JSON.parse(code));

const pages = [
  'tokens-and-claims',
  'scopes-and-manifests',
  'enforcement-and-arguments',
  'audit-chain',
  'webhooks',
  'errors',
];

test.each(pages)('%s is short enough to read', (name) => {
  const lines = readFileSync(join(ROOT, pageOf(name)), 'utf8').split('\n');

  expect(lines.length).toBeLessThanOrEqual(201);
});

test('the token of the page verifies, and a changed one does not', () => {
  const [{ issuer, developerId, audience, jwks, token, claims }] = jsonOf('tokens-and-claims');
  const keys = keySetOf(jwks);
  const verifier = createTokenVerifier({
    ...{ issuer, developerId, keys: () => keys },
    verifySignature: ({ key, signed, signature }) => {
      const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
      return verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
    },
  });
  const expected = { now: new Date('2026-02-01T12:00:00Z'), audience };

  expect(verifier.verify(token, expected)).toMatchObject({ ok: true, claims });
  const at = token.length - 10;
  const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
  expect(verifier.verify(changed, expected)).toEqual({ ok: false, reason: 'bad_signature' });
});

test('the page on tokens names every refusal of the verifier', () => {
  const source = readFileSync(join(ROOT, 'packages/protocol/src/token-refusal.ts'), 'utf8');
  const refusals = [...source.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, name]) => name);
  const page = readFileSync(join(ROOT, pageOf('tokens-and-claims')), 'utf8');

  expect(refusals.length).toBeGreaterThan(10);
  expect(refusals.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
});

const rows = [
  ...readFileSync(join(ROOT, pageOf('scopes-and-manifests')), 'utf8').matchAll(
    /^\| `(\S+)` \| `(\S+)` \| (yes|no) \|$/gm,
  ),
];

test('the page on scopes has examples', () => {
  expect(rows.length).toBeGreaterThan(8);
});

test.each(rows.map(([, ...row]) => row))('%s covers %s: %s', (parent, child, answer) => {
  expect(covers(String(parent), String(child))).toBe(answer === 'yes');
});

test('the entries of the page can be read', () => {
  const [entries] = jsonOf('scopes-and-manifests');

  expect(readIssuedEntries(entries)).toMatchObject({ ok: true });
});

test('the cases that the pages show are those of the files', () => {
  const files = ['enforcement', 'argument'].map((name) =>
    readFileSync(join(ROOT, `packages/protocol/vectors/${name}-vectors.json`), 'utf8'),
  );
  const cases = files.flatMap((text) => JSON.parse(text).cases);
  const shown = [...jsonOf('scopes-and-manifests').slice(1), ...jsonOf('enforcement-and-arguments')];

  expect(shown).toHaveLength(3);
  for (const one of shown) expect(cases).toContainEqual(one);
});

test('the chain of the page is whole, and its first line is the one that is shown', () => {
  const [entries] = jsonOf('audit-chain') as [AuditEntry[]];
  const [line] = blocksOf(pageOf('audit-chain'), 'text');
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  expect(verifyChain(entries, {}, sha256)).toMatchObject({ valid: true, checkedEntries: 2 });
  expect(entries.slice(0, 1).map((entry) => `${auditLine(entry)}\n`)).toEqual([line]);
});

test('the delivery of the page is signed as the service signs it', () => {
  const [{ secret, body, headers }] = jsonOf('webhooks');
  const { id, type } = JSON.parse(body);
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signed = { eventId: id, eventType: type, deliveryId: 'whd_1', previousSecret: undefined };

  expect(deliveryHeaders({ ...signed, body, at, secret })).toMatchObject(headers);
});

test('the refusal of the page has a code of the API', () => {
  const [{ code }] = jsonOf('errors');

  expect(Object.keys(errorCodes)).toContain(code);
});
