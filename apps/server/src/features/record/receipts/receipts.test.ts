import { createHash } from 'node:crypto';
import { commitmentTo, leafOf } from '@behest/protocol/audit-parts';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { rootAbove } from '@behest/protocol/receipt-proof';
import { verifyReceipt } from '@behest/sdk/receipts';
import { compactVerify, createLocalJWKSet } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  grantTo,
  openSession,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { newVoucher, startAsking } from '../../../../test/app/person.ts';
import type { Call, Developer, Service } from '../../../../test/app/start-app.ts';
import { eraseRecordsOf } from '../../grants/consent/consent.repo.ts';
import { findEntriesOfGrants } from './receipts.repo.ts';

const joinSandbox = sharedSandbox();

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());

interface Entry {
  readonly index: number;
  readonly hash: string;
  readonly parts: readonly string[];
}

/** A receipt, checked as an outsider would: every leaf up to the root, and the service's signature over the rest. */
async function readReceipt(text: string) {
  const { consent, entries, limits, proof, statement, ...head } = JSON.parse(text);
  const { checkpoint, keys } = head;
  const { checks, anchored } = await verifyReceipt(text, { did: keys.did });
  expect([checks.filter(({ ok }) => !ok), anchored]).toEqual([[], true]);
  const leaves = entries.map(({ index, hash, parts }: Entry) => ({
    index,
    hash: leafOf(hash, parts, sha256),
  }));
  const hashes = proof.map((each: string) => Buffer.from(each, 'base64'));
  const root = rootAbove(leaves, { size: checkpoint.size, proof: hashes }, sha256);
  expect(Buffer.from(root ?? '').toString('base64')).toBe(checkpoint.root);
  const { payload } = await compactVerify(statement, createLocalJWKSet(keys.jwks));
  const { grantId, rootGrantId, since, until } = head;
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
    iss: head.issuer,
    iat: Math.floor(Date.parse(head.generatedAt) / 1000),
    origin: head.log.origin,
    ...{ grantId, rootGrantId, since, until, size: checkpoint.size, root: checkpoint.root },
    count: entries.length,
    leaves: sha256(Buffer.concat(leaves.map(({ hash }: { hash: Buffer }) => hash))).toString('base64url'),
    head: sha256(Buffer.from(canonicalJson(head))).toString('base64url'),
    limits: limits && sha256(Buffer.from(canonicalJson(limits))).toString('base64url'),
  });
  const facts = entries.map(({ parts }: Entry) => decoded(String(parts[0]))[2]);
  const metadata = entries.map(({ parts }: Entry) => metadataIn(parts));
  const approved = facts.findIndex(({ action }: { action: string }) => action === 'authorization.approved');
  if (consent) expect(commitmentTo(consent.parts, sha256)).toBe(metadata[approved]?.consentHash);
  const record = Object.fromEntries((consent?.parts ?? []).map((part: string) => decoded(part).slice(1)));
  const actions: string[] = facts.map(({ action }: { action: string }) => action);
  return { head, consent, entries, facts, metadata, actions, approved: metadata[approved], record };
}

const metadataIn = (parts: readonly string[]) =>
  Object.fromEntries(
    parts
      .slice(2)
      .filter((part) => !part.startsWith('#'))
      .map((part) => decoded(part).slice(1))
      .map(([name, value]) => [name.replace('metadata.', ''), value]),
  );

async function receiptOf(developer: Call, grantId: string, query = '') {
  const answer = await developer('GET', `/v1/grants/${grantId}/receipt${query}`);
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return readReceipt(answer.body);
}

async function asPrincipal(service: Service, developer: Developer, principalId = 'user_42') {
  return service.calling((await openSession(developer, principalId)).json().sessionToken);
}

const ownReceiptOf = async (person: Call, grantId: string) =>
  readReceipt((await person('GET', `/v1/principal/grants/${grantId}/receipt`)).body);

/** Each grant is delegated from the one before it. */
async function delegateDown(acme: Developer, parent: { grantToken: string }, agents: readonly string[]) {
  const grantIds: string[] = [];
  let parentGrantToken = parent.grantToken;
  for (const name of agents) {
    const { agentId: subAgentId } = await registerAgent(acme, name);
    const body = { parentGrantToken, subAgentId, scopes: ['calendar:read'] };
    const child = (await acme('POST', '/v1/grants/delegate', body)).json();
    grantIds.push(child.grantId);
    parentGrantToken = child.grantToken;
  }
  return grantIds;
}

describe('the receipt of a grant', () => {
  test('proves what was asked, approved and done under it, with names for those who read it', async () => {
    const { acme } = await joinSandbox();
    const { grantId, agentId, did } = await grantTo(acme);
    await grantTo(acme, { principalId: 'user_7' }); // beside it in the log
    const about = { agentId, agentDid: did, grantId, principalId: 'user_42' };
    await acme('POST', '/v1/audit/log', { ...about, action: 'letter.sent', metadata: { to: 'Bob' } });

    const answer = await acme('GET', `/v1/grants/${grantId}/receipt`);
    const receipt = await readReceipt(answer.body);

    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="receipt-${grantId}.json"`,
    });
    expect(receipt.head).toEqual({
      format: 'behest.receipt/1',
      issuer: 'https://auth.test',
      issuerDid: 'did:web:auth.test',
      generatedAt: '2026-01-01T00:00:00.000Z',
      audience: 'developer',
      sandbox: true,
      ...{ grantId, rootGrantId: grantId, warnings: [] },
      log: {
        origin: expect.stringMatching(/^auth\.test\/log\/[0-9a-f]{32}$/),
        url: expect.stringMatching(/^https:\/\/auth\.test\/log\/[0-9a-f]{32}$/),
        vkey: null, // without an Ed25519 key only the statement is signed
      },
      checkpoint: {
        size: expect.any(Number),
        root: expect.stringMatching(/^[\w+/]{43}=$/),
        note: null,
      },
      labels: {
        agents: { [agentId]: 'Travel booker' },
        scopes: { 'calendar:read': 'Read your calendar', 'email:send': 'Send email in your name' },
      },
      keys: {
        did: expect.objectContaining({ id: 'did:web:auth.test' }),
        jwks: { keys: expect.any(Array) },
        witnesses: [],
      },
    });
    expect(receipt.actions).toEqual([
      ...['authorization.requested', 'authorization.approved', 'grant.created', 'token.issued'],
      'letter.sent',
    ]);
    expect(receipt.metadata[4]).toEqual({ to: 'Bob' });
    expect(receipt.facts[4]).toMatchObject({
      ...{ agentId, grantId },
      action: 'letter.sent',
      status: 'success',
    });
  });

  test('as a page holds the same receipt, and no text of it ends the page’s own', async () => {
    const { acme } = await joinSandbox();
    const { grantId, agentId, did } = await grantTo(acme);
    const about = { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'letter.sent' };
    await acme('POST', '/v1/audit/log', { ...about, metadata: { to: '</script><b>' } });
    await acme('PATCH', `/v1/agents/${agentId}`, { name: '</script><b>' });

    const { body, headers } = await acme('GET', `/v1/grants/${grantId}/receipt?format=html`);

    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': `attachment; filename="receipt-${grantId}.html"`,
    });
    const [, before, receipt = '', after] = /^(.*?id="receipt">)(.*?)(<\/script>.*)$/s.exec(body) ?? [];
    expect(`${before}${after}`).toBe((await acme('GET', '/verify')).body);
    const { head, metadata } = await readReceipt(receipt);
    expect(head.labels.agents).toEqual({ [agentId]: '</script><b>' });
    expect(metadata.at(-1)).toEqual({ to: '</script><b>' });
  });

  test('covers the tree, whichever of its grants it is asked for, and how each ended', async () => {
    const { acme, service } = await joinSandbox();
    const root = await grantTo(acme);
    const [one, two, three] = await delegateDown(acme, root, ['Planner', 'Reader', 'Writer']);
    await acme('DELETE', `/v1/grants/${two}`);

    const whole = await receiptOf(acme, root.grantId);
    const part = await receiptOf(acme, String(three));
    const own = await ownReceiptOf(await asPrincipal(service, acme), root.grantId);

    const ends = whole.facts.filter(({ action }: { action: string }) => action === 'grant.revoked');
    expect(ends.map(({ grantId }: { grantId: string }) => grantId).sort()).toEqual([two, three].sort());
    const made = whole.facts.filter(({ action }: { action: string }) => action === 'grant.created');
    expect(made.map(({ grantId }: { grantId: string }) => grantId)).toEqual([root.grantId, one, two, three]);
    expect(Object.values(whole.head.labels.agents).sort()).toEqual([
      'Planner',
      'Reader',
      'Travel booker',
      'Writer',
    ]);
    expect([part.head.grantId, part.head.rootGrantId]).toEqual([three, root.grantId]);
    expect(part.entries).toEqual(whole.entries);
    expect(own.entries).toEqual(whole.entries);
    expect(own.head.audience).toBe('principal');
  });

  test('of an expired grant has the entries that made it, and of a log that went on the same leaves', async () => {
    const { acme, service } = await startSandbox();
    const { grantId } = await grantTo(acme, { expiresIn: '1h' });
    const early = await receiptOf(acme, grantId);
    service.advance(7200);
    await grantTo(acme);

    const late = await receiptOf(acme, grantId);

    expect(late.head.checkpoint.size).toBeGreaterThan(early.head.checkpoint.size);
    expect(late.entries).toEqual(early.entries);
  });

  test('hides from the person what the developer keeps to itself, and proves the rest', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId, agentId, did } = await grantTo(acme);
    const about = { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'offer.made' };
    await acme('POST', '/v1/audit/log', { ...about, metadata: { price: '10', margin: 'a third' } });
    await acme('PATCH', '/v1/me', { auditPrivateKeys: ['margin'] });

    const person = await asPrincipal(service, acme);
    const { body } = await person('GET', `/v1/principal/grants/${grantId}/receipt`);

    const own = await readReceipt(body);
    expect(own.metadata.at(-1)).toEqual({ price: '10' });
    expect(own.entries.at(-1)?.parts.filter((part: string) => part.startsWith('#'))).toHaveLength(1);
    expect((await receiptOf(acme, grantId)).metadata.at(-1)).toEqual({ price: '10', margin: 'a third' });
  });

  test('of a period leaves other acts out, and never what makes and ends grants', async () => {
    const { acme, service } = await startSandbox();
    const { grantId, agentId, did } = await grantTo(acme, { expiresIn: '30d' });
    const act = (name: string) =>
      acme('POST', '/v1/audit/log', {
        ...{ agentId, agentDid: did, grantId, principalId: 'user_42', action: name },
      });
    await act('mail.first');
    service.advance(3600);
    await act('mail.second');
    service.advance(3600);
    await act('mail.third');
    await acme('DELETE', `/v1/grants/${grantId}`);

    const some = await receiptOf(acme, grantId, '?since=2026-01-01T00:30:00Z&until=2026-01-01T01:30:00Z');

    expect(some.actions).toEqual([
      ...[
        'authorization.requested',
        'authorization.approved',
        'grant.created',
        'mail.second',
        'grant.revoked',
      ],
    ]);
    const backwards = '?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z';
    expect(refusalOf(await acme('GET', `/v1/grants/${grantId}/receipt${backwards}`))).toBe('400 BAD_REQUEST');
    expect(refusalOf(await acme('GET', `/v1/grants/${grantId}/receipt?format=pdf`))).toBe('400 BAD_REQUEST');
  });

  test('is of the developer’s own grants, and of the person’s own', async () => {
    const { acme, service } = await joinSandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const { grantId } = await grantTo(acme);
    await grantTo(acme, { principalId: 'user_43' });
    const path = `/v1/grants/${grantId}/receipt`;
    const own = `/v1/principal/grants/${grantId}/receipt`;
    const [person, stranger] = [
      await asPrincipal(service, acme),
      await asPrincipal(service, acme, 'user_43'),
    ];

    expect((await acme('GET', path)).statusCode).toBe(200); // the control
    expect((await person('GET', own)).statusCode).toBe(200);
    expect(refusalOf(await other('GET', path))).toBe('404 NOT_FOUND');
    expect(refusalOf(await stranger('GET', own))).toBe('404 NOT_FOUND');
    for (const [call, url] of [
      [service.calling(''), path],
      [service.calling(''), own],
      [acme, own],
      [person, path],
    ] as const) {
      expect(refusalOf(await call('GET', url))).toBe('401 UNAUTHORIZED');
    }
    await person('DELETE', '/v1/principal/session');
    expect(refusalOf(await person('GET', own))).toBe('401 UNAUTHORIZED');
  });

  test('makes no entry, so a person looks unnoticed', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    const person = await asPrincipal(service, acme);
    const before = (await acme('GET', '/v1/audit/head')).json().seq;

    await ownReceiptOf(person, grantId);

    expect((await acme('GET', '/v1/audit/head')).json().seq).toBe(before);
  });

  test('with more entries than a file holds is refused, and a period of it is not', async () => {
    const { acme, service } = await startSandbox({ env: { RECEIPT_MAX_ENTRIES: '10' } });
    const { grantId, agentId, did } = await grantTo(acme);
    const about = { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'mail.sent' };
    const act = () => acme('POST', '/v1/audit/log', about);
    for (let sent = 0; sent < 8; sent += 1) await act();
    expect((await receiptOf(acme, grantId)).entries).toHaveLength(12); // two are of its request, which is not counted
    service.advance(60);
    await act();

    const answer = await acme('GET', `/v1/grants/${grantId}/receipt`);

    expect(refusalOf(answer)).toBe('413 EXPORT_TOO_LARGE');
    expect(answer.json().details).toEqual({ limit: 10 });
    expect((await receiptOf(acme, grantId, '?since=2026-01-01T00:00:30Z')).entries).toHaveLength(4);
  });
});

test('of every second entry of a log with full tiles proves them, by the hashes halfway up these tiles', async () => {
  const { acme, service } = await startSandbox();
  const [one, other] = [await grantTo(acme), await grantTo(acme, { principalId: 'user_7' })];
  const act = ({ grantId, agentId, did }: typeof one, principalId: string) =>
    acme('POST', '/v1/audit/log', { agentId, agentDid: did, grantId, principalId, action: 'mail.sent' });
  for (let sent = 0; sent < 270; sent += 10) {
    const acts = Array.from({ length: 10 }, () => [act(one, 'user_42'), act(other, 'user_7')]).flat();
    await Promise.all(acts);
  }

  const { entries, head } = await receiptOf(acme, one.grantId); // which computes the root

  expect(entries.length).toBeGreaterThanOrEqual(274);
  expect(head.checkpoint.size).toBeGreaterThan(512);
  const kept = service.db.selectFrom('tlogTiles').where('developerId', '=', acme.developerId);
  const tiles = await kept.select(['level', 'idx']).orderBy('level').orderBy('idx').execute();
  expect(tiles.map(({ level, idx }) => `${level}/${idx}`)).toEqual([
    '-1/0',
    '-1/1',
    '0/0',
    '0/1',
    '0/2',
    '1/0',
  ]);
});

test('the entries of a receipt are measured by what they take in the file, also when they are erased', async () => {
  const { acme, service } = await startSandbox();
  const { grantId, agentId, did } = await grantTo(acme, { principalId: 'ada' });
  const about = { agentId, agentDid: did, grantId, principalId: 'ada', action: 'many.members' };
  const metadata = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`m${at}`, 1]));
  await acme('POST', '/v1/audit/log', { ...about, metadata });
  const range = { fromSeq: 1, toSeq: 1e9, size: 1e9, limit: 100 };
  const measured = async () => {
    const { bytes } = await findEntriesOfGrants(service.db, acme, [grantId], range);
    const { entries } = await receiptOf(acme, grantId);
    return bytes / JSON.stringify(entries).length;
  };

  const before = await measured();
  await acme('POST', '/v1/audit/erasures', { principalId: 'ada' });
  await service.runJob('erasure of audit entries');
  const after = await measured();

  for (const share of [before, after]) {
    expect(share).toBeGreaterThan(0.9);
    expect(share).toBeLessThan(2);
  }
});

describe('the consent in a receipt', () => {
  test('shows what the person saw and what they took out', async () => {
    const { acme, consent, service } = await startAsking();
    const { grantId } = await consent(
      { scopes: ['email:read', 'email:send'] },
      { approved: { scopes: ['email:read'] } },
    );

    const { record, approved, head } = await ownReceiptOf(await asPrincipal(service, acme), grantId);

    expect(record).toMatchObject({
      'consent/1': { agentName: 'Travel booker', scopes: ['email:read', 'email:send'] },
      principalId: 'user_42',
      decision: { scopes: ['email:read'], removedScopes: ['email:send'] },
      proof: { mode: 'developer', hint: expect.stringMatching(/^eyJ/) },
    });
    expect(approved).toMatchObject({ method: 'developer', narrowed: true, scopes: ['email:read'] });
    expect([head.sandbox, head.warnings]).toEqual([undefined, []]);
  });

  test('is not there where a policy or the sandbox approved by itself: the entry says so', async () => {
    const { service, acme: sandbox } = await joinSandbox();
    const live = await service.asDeveloper({ mode: 'live' });
    await live('PATCH', '/v1/me', { policyAutoApproval: true, consentKeys: [(await newVoucher()).jwk] });
    await live('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: ['calendar:read'] });

    for (const [acme, method] of [
      [sandbox, 'sandbox'],
      [live, 'policy'],
    ] as const) {
      const { grantId } = await grantTo(acme, { scopes: ['calendar:read'] });
      const { consent, approved, head } = await receiptOf(acme, grantId);
      expect([consent, approved.method, approved.consentHash]).toEqual([null, method, undefined]);
      expect(head.warnings).toEqual([]);
    }
  });

  test('goes with the person, whose receipts then prove what is left, and warns where it went without an erasure', async () => {
    const { acme, consent, service } = await startAsking();
    const [gone, kept] = [await consent({ principalId: 'ada' }), await consent({ principalId: 'bob' })];
    const before = await receiptOf(acme, gone.grantId);
    await acme('DELETE', `/v1/grants/${gone.grantId}`);
    await acme('POST', '/v1/audit/erasures', { principalId: 'ada' });
    await service.runJob('erasure of audit entries');

    const after = await receiptOf(acme, gone.grantId);

    expect([before.record.principalId, after.consent]).toEqual(['ada', null]);
    expect(after.head.warnings).toEqual([]);
    expect(after.entries.slice(0, before.entries.length).map(({ hash }: Entry) => hash)).toEqual(
      before.entries.map(({ hash }: Entry) => hash),
    );
    expect(JSON.stringify(after.facts) + JSON.stringify(after.metadata)).not.toContain('ada');
    expect((await receiptOf(acme, kept.grantId)).record.principalId).toBe('bob');
    await service.db.transaction().execute((tx) => eraseRecordsOf(tx as never, acme, 'bob'));
    expect((await receiptOf(acme, kept.grantId)).head.warnings).toEqual(['consent_missing']);
  });
});
