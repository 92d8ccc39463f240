import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  authorize,
  entriesOf,
  grantTo,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { send } from '../../../../test/app/repeating.ts';
import { type Call, type Developer, openConnections, type Service } from '../../../../test/app/start-app.ts';

const join = sharedSandbox();

const AT_ONCE = 20;
const NOBODYS = 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

type Granted = Awaited<ReturnType<typeof grantTo>>;

const exchange = (acme: Developer, agentId: string, code: unknown, more: object = {}) =>
  acme('POST', '/v1/token', { code, agentId, ...more });

/** A code for a grant that replaces one. */
async function replacing(acme: Developer, { agentId, grantId }: Granted, request: object = {}) {
  const { code, ...asked } = await authorize(acme, agentId, { replacesGrantId: grantId, ...request });
  return { code: String(code), asked };
}

/** The status of each grant of the account, or the reason of its revocation, by its id. */
async function statesOf(acme: Developer): Promise<Readonly<Record<string, string>>> {
  const { grants } = (await acme('GET', '/v1/grants?limit=500')).json();
  return Object.fromEntries(
    grants.map(({ id, status, revokedReason }: Record<string, string>) => [id, revokedReason ?? status]),
  );
}

const activeIn = async (acme: Developer) =>
  Object.values(await statesOf(acme)).filter((state) => state === 'active').length;

async function countedGrants({ db }: Pick<Service, 'db'>, { developerId }: Developer): Promise<number> {
  const { rows } = await sql<{ used: string }>`select used from quota_counters
    where developer_id = ${developerId} and resource = 'active_grants'`.execute(db);
  return Number(rows[0]?.used);
}

describe('the exchange of a request that replaces a grant', () => {
  test('R14 ends that grant with all that was delegated from it, and says so before the new one', async () => {
    const { acme, db } = await join();
    const held = await grantTo(acme);
    const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
    const part = { parentGrantToken: held.grantToken, subAgentId, scopes: ['calendar:read'] };
    const child = (await acme('POST', '/v1/grants/delegate', part)).json();
    const { code, asked } = await replacing(acme, held, { scopes: ['calendar:read', 'files:read'] });
    const before = await statesOf(acme);

    const { grantId, grantToken } = (await exchange(acme, held.agentId, code)).json();

    expect(before).toEqual({ [held.grantId]: 'active', [child.grantId]: 'active' });
    expect(await statesOf(acme)).toEqual({
      [held.grantId]: 'superseded',
      [child.grantId]: 'parent',
      [grantId]: 'active',
    });
    const verdict = async (token: string) => (await acme('POST', '/v1/tokens/verify', { token })).json();
    expect(await verdict(held.grantToken)).toMatchObject({ valid: false, reason: 'revoked' });
    expect(await verdict(child.grantToken)).toMatchObject({ valid: false, reason: 'revoked' });
    expect(await verdict(grantToken)).toMatchObject({ valid: true, scopes: ['calendar:read', 'files:read'] });
    expect(await countedGrants({ db }, acme)).toBe(1);

    expect(asked.replacesGrantId).toBe(held.grantId);
    expect((await acme('GET', `/v1/authorize/${asked.id}`)).json().replacesGrantId).toBe(held.grantId);
    const [, requested] = await entriesOf(acme, 'authorization.requested');
    expect(requested?.metadata).toMatchObject({ replacesGrantId: held.grantId });
    const { entries } = (await acme('GET', '/v1/audit/entries?limit=500')).json();
    expect(
      entries.slice(-4).map((entry: { action: string; grantId: string }) => [entry.action, entry.grantId]),
    ).toEqual([
      ['grant.revoked', held.grantId],
      ['grant.revoked', child.grantId],
      ['grant.created', grantId],
      ['token.issued', grantId],
    ]);
    expect((await entriesOf(acme, 'grant.revoked')).map(({ metadata }) => metadata)).toEqual([
      expect.objectContaining({ reason: 'superseded', cascade: true, revokedBy: 'developer' }),
      expect.objectContaining({ reason: 'parent', causedBy: held.grantId }),
    ]);
    const { events } = (await acme('GET', '/v1/events?limit=100')).json();
    const ended = events.filter(({ type }: { type: string }) => type === 'grant.revoked');
    expect(ended.map(({ data }: { data: { reason: string } }) => data.reason)).toEqual([
      'superseded',
      'parent',
    ]);
  });

  test('R14 ends nothing when it is refused', async () => {
    const { acme, service } = await startSandbox({ env: { PLAN_FREE_TOKEN_EXCHANGES: '1' } });
    const held = await grantTo(acme);
    const { code } = await replacing(acme, held);

    const full = await exchange(acme, held.agentId, code);
    const states = await statesOf(acme);
    await acme('PATCH', `/v1/agents/${held.agentId}`, { status: 'suspended' });
    const inactive = await exchange(acme, held.agentId, code);

    expect([full, inactive].map(refusalOf)).toEqual([
      '402 PLAN_LIMIT_EXCEEDED',
      '400 INVALID_GRANT agent_inactive',
    ]);
    expect(states).toEqual({ [held.grantId]: 'active' });
    expect(await entriesOf(acme, 'grant.revoked')).toEqual([]);
    expect(await countedGrants(service, acme)).toBe(1);
  });

  test('needs no further place in the plan, for the request nor for the grant', async () => {
    const { acme, service } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: '1' } });
    const held = await grantTo(acme);
    const plain = await acme('POST', '/v1/authorize', {
      ...{ agentId: held.agentId, principalId: 'user_42', scopes: ['calendar:read'] },
    });

    const { code } = await replacing(acme, held);
    const answer = await exchange(acme, held.agentId, code);

    expect(refusalOf(plain)).toBe('402 PLAN_LIMIT_EXCEEDED');
    expect(answer.statusCode).toBe(201);
    expect(await countedGrants(service, acme)).toBe(1);
  });

  test('leaves a grant as it is that was revoked since, or has run out', async () => {
    const { acme, advance } = await startSandbox();
    const [revoked, expired] = [await grantTo(acme), await grantTo(acme, { expiresIn: '60s' })];
    const codes = [await replacing(acme, revoked), await replacing(acme, expired)];
    await acme('DELETE', `/v1/grants/${revoked.grantId}`);
    advance(60);

    const answers = [
      await exchange(acme, revoked.agentId, codes[0]?.code),
      await exchange(acme, expired.agentId, codes[1]?.code),
    ];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
    expect(await statesOf(acme)).toMatchObject({
      [revoked.grantId]: 'developer',
      [expired.grantId]: 'expired',
    });
    expect(await activeIn(acme)).toBe(2);
    expect(await entriesOf(acme, 'grant.revoked')).toHaveLength(1);
  });

  test('R14 ends the grant that took the place meanwhile, so the last of several requests stays', async () => {
    const { acme } = await join();
    const held = await grantTo(acme);
    const codes = [await replacing(acme, held), await replacing(acme, held), await replacing(acme, held)];

    const made: string[] = [];
    for (const { code } of codes) made.push((await exchange(acme, held.agentId, code)).json().grantId);
    const other = await grantTo(acme);

    const [first = '', second = '', last = ''] = made;
    expect(await statesOf(acme)).toEqual({
      [held.grantId]: 'superseded',
      [first]: 'superseded',
      [second]: 'superseded',
      [last]: 'active',
      [other.grantId]: 'active',
    });
  });

  test('R14 leaves one active grant of twenty requests that are exchanged at once', async () => {
    const { acme, db } = await startSandbox();
    await openConnections(db);
    const held = await grantTo(acme);
    const codes: string[] = [];
    for (let each = 0; each < AT_ONCE; each += 1) codes.push((await replacing(acme, held)).code);

    const answers = await Promise.all(codes.map((code) => exchange(acme, held.agentId, code)));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(AT_ONCE).fill(201));
    expect(await activeIn(acme)).toBe(1);
    expect(await countedGrants({ db }, acme)).toBe(1);
    expect(await entriesOf(acme, 'grant.revoked')).toHaveLength(AT_ONCE);
  });

  test('ends the credential of the old grant, and brings one of the new', async () => {
    const { acme, service } = await join();
    const { agentId } = await registerAgent(acme);
    const { code: first } = await authorize(acme, agentId);
    const credentialFormat = 'vc-jwt';
    const old = (await exchange(acme, agentId, first, { credentialFormat })).json();
    const { code } = await authorize(acme, agentId, { replacesGrantId: old.grantId });

    const made = (await exchange(acme, agentId, code, { credentialFormat })).json();

    const verify = async (credential: string) =>
      (
        await service.app.inject({
          method: 'POST',
          url: '/v1/credentials/verify',
          body: { credential },
        })
      ).json();
    expect(await verify(old.verifiableCredential)).toMatchObject({ valid: false, code: 'revoked' });
    expect(await verify(made.verifiableCredential)).toMatchObject({ valid: true });
  });

  test('is answered again, and done once, with an idempotency key', async () => {
    const { acme, service } = await join();
    const held = await grantTo(acme);
    const { code } = await replacing(acme, held);
    const sent = { apiKey: acme.apiKey, url: '/v1/token', body: { code, agentId: held.agentId } };

    const [one, two] = [await send(service, sent), await send(service, sent)];

    expect([one.statusCode, two.json().grantId]).toEqual([201, one.json().grantId]);
    expect(await statesOf(acme)).toEqual({ [held.grantId]: 'superseded', [one.json().grantId]: 'active' });
  });
});

describe('a request to replace a grant', () => {
  const ask = (acme: Call, agentId: string, replacesGrantId: unknown, more: object = {}) =>
    acme('POST', '/v1/authorize', {
      ...{ agentId, principalId: 'user_42', scopes: ['calendar:read'], replacesGrantId, ...more },
    });

  test('R14 names a grant of the same agent and person, and learns nothing of any other', async () => {
    const { acme, service } = await join();
    const stranger = await service.asDeveloper({ mode: 'sandbox' });
    const held = await grantTo(acme);
    const { agentId: helper } = await registerAgent(acme, 'Helper');
    const bound = await acme.asRuntime(helper);

    const refused = [
      await ask(acme, held.agentId, NOBODYS),
      await ask(acme, held.agentId, (await grantTo(stranger)).grantId),
      await ask(acme, held.agentId, (await grantTo(acme)).grantId),
      await ask(acme, held.agentId, held.grantId, { principalId: 'user_43' }),
      await ask(bound, helper, held.grantId),
    ];

    expect(refused.map(refusalOf)).toEqual(Array(5).fill('404 NOT_FOUND'));
    const bodies = refused.map((answer) => ({ ...answer.json(), requestId: '' }));
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect((await ask(acme, held.agentId, held.grantId)).statusCode).toBe(201);
  });

  test('names a grant that is active', async () => {
    const { acme, advance } = await startSandbox();
    const [revoked, expired] = [await grantTo(acme), await grantTo(acme, { expiresIn: '60s' })];
    await acme('DELETE', `/v1/grants/${revoked.grantId}`);
    const early = await ask(acme, expired.agentId, expired.grantId);
    advance(60);

    const refused = [
      await ask(acme, revoked.agentId, revoked.grantId),
      await ask(acme, expired.agentId, expired.grantId),
    ];

    expect(early.statusCode).toBe(201);
    expect(refused.map(refusalOf)).toEqual(['409 GRANT_INACTIVE revoked', '409 GRANT_INACTIVE expired']);
  });

  test.each([
    ['a number', 7],
    ['nothing', ''],
    ['a long text', 'g'.repeat(257)],
  ])('is refused with %s for the grant', async (_what, replacesGrantId) => {
    const { acme } = await join();
    const { agentId } = await registerAgent(acme);

    expect(refusalOf(await ask(acme, agentId, replacesGrantId))).toBe('400 BAD_REQUEST');
  });
});
