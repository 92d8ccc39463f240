import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ruleKeys } from '@behest/protocol/arguments/rule-keys';
import { type AuditEntry, verifyChain } from '@behest/protocol/audit-chain';
import { auditLine } from '@behest/protocol/audit-line';
import { grantClaims } from '@behest/protocol/claims';
import { readIssuedEntries } from '@behest/protocol/enforcement/entries';
import { errorCodes } from '@behest/protocol/errors';
import { keySetOf } from '@behest/protocol/key-set';
import { covers } from '@behest/protocol/scopes';
import { createTokenVerifier } from '@behest/protocol/token-verifier';
import { describe, expect, test } from 'vitest';
import { deliveryHeaders } from '../../apps/server/src/features/record/webhooks/webhooks.rules.ts';
import { blocksOf } from './steps.ts';

const ROOT = join(import.meta.dirname, '../..');
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
  const lines = textOf(name).split('\n');

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

const textOf = (name: string) => readFileSync(join(ROOT, pageOf(name)), 'utf8');

/** The words of a union of texts in a source file. */
function unionIn(file: string, type: string): string[] {
  const source = readFileSync(join(ROOT, 'packages/protocol/src', file), 'utf8');
  const [union = ''] = new RegExp(`export type ${type} =[^;]*;`).exec(source) ?? [];
  return [...union.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
}

const grant = {
  ...{ issuer: 'https://a.example', principalId: 'p', developerId: 'd', agentId: 'a', agentDid: 'did:a' },
  ...{ delegatedBy: ['did:b'], scopes: ['s'], audience: 'r', tokenId: 't', grantId: 'g', parentGrantId: 'h' },
  ...{ delegationDepth: 1, issuedAt: new Date(0), expiresAt: new Date(1_000), sandbox: true },
  ...{ authorizationDetails: [{ type: 'urn:service:budget:v1', amount: '1.0000' }], keyThumbprint: 'k' },
  ...{ authenticatedAt: new Date(0), authenticationMethods: ['pwd'], manifests: {} },
  manifestMode: 'warn' as const,
};
const claims = grantClaims(grant, { legacy: true });

test.each([
  ['tokens-and-claims', 'refusals', unionIn('token-refusal.ts', 'TokenRefusal')],
  ['tokens-and-claims', 'claims', Object.keys(claims)],
  ['tokens-and-claims', 'members of the grant', Object.keys(Object(claims['urn:service:grant']))],
  ['scopes-and-manifests', 'faults of entries', unionIn('enforcement/entry-parts.ts', 'DetailsFault')],
  ['enforcement-and-arguments', 'keys of rules', [...ruleKeys]],
])('%s names all %s', (name, _, words) => {
  const page = textOf(name);

  expect(words.length).toBeGreaterThan(5);
  expect(words.filter((word) => !page.includes(`\`${word}\``))).toEqual([]);
});

const rows = [...textOf('scopes-and-manifests').matchAll(/^\| `(\S+)` \| `(\S+)` \| (yes|no) \|$/gm)];

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

  const made = deliveryHeaders({ ...signed, body, at, secret });

  expect(made).toMatchObject(headers);
  const page = textOf('webhooks').toLowerCase();
  const unnamed = Object.keys(made).filter((name) => !page.includes(`\`${name}\``));
  expect(unnamed).toEqual(['content-type']);
});

test('the refusal of the page has a code of the API', () => {
  const [{ code }] = jsonOf('errors');

  expect(Object.keys(errorCodes)).toContain(code);
});

describe('conformance', () => {
  const OWN = 'apps/server/src/features/oauth/oauth/';
  const text = readFileSync('docs/conformance.md', 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (Rule|Flow) /.test(line));
  const named = rows.flatMap((row) => [...row.matchAll(/([\w./-]+\.test\.ts): “([^”]+)”/g)]);

  test.each(named.map(([, file = '', name = '']) => [file, name]))('%s has the test “%s”', (file, name) => {
    const path = file.includes('/') ? file : `${OWN}${file}`;
    expect(existsSync(path), path).toBe(true);
    expect(readFileSync(path, 'utf8').replaceAll("\\'", "'")).toContain(name);
  });

  /** The chapters whose rows need no test: each says why in their place. */
  const WITHOUT_TESTS = ['On paper only', 'Reserved paths'];

  test('every row names a test, or says why there is none', () => {
    const chapters = text.split(/^## /m).slice(1);
    const titles = chapters.map((chapter) => chapter.split('\n', 1)[0] ?? '');
    const tested = chapters.filter((_, each) => !WITHOUT_TESTS.includes(titles[each] ?? ''));
    const bare = tested
      .flatMap((chapter) => chapter.split('\n'))
      .filter((line) => line.startsWith('| ') && !/^\| (Rule|Flow) /.test(line));

    expect(titles).toEqual(expect.arrayContaining([...WITHOUT_TESTS, 'Metadata', 'MCP']));
    expect(titles.filter((title) => /AuthZEN|CIBA|SSF|RFC 7662/.test(title))).toHaveLength(4);
    expect(bare.length).toBeGreaterThan(110);
    expect(bare.filter((line) => !line.includes('.test.ts: “') && !line.includes('Not built'))).toEqual([]);
    expect(chapters[titles.indexOf('On paper only')]).toMatch(/OpenID provider/);
  });
});
