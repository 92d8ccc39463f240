import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { afterStatements } from '../../../../test/app/after-statements.ts';
import { insertBranches, insertChain, setGrant } from '../../../../test/app/delegated.ts';
import {
  actionsOf,
  entriesOf,
  grantTo,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const joinSandbox = sharedSandbox();

/** A tree of ten thousand takes Postgres seconds, so the suite has the least that takes several statements. */
const SIBLINGS = process.env.TEST_LONG ? 999 : 199;
const BELOW = 10 * (1 + SIBLINGS);

const revoke = (developer: Developer, grantId: string, query = '') =>
  developer('DELETE', `/v1/grants/${grantId}${query}`);

const read = async (developer: Developer, grantId = '') =>
  (await developer('GET', `/v1/grants/${grantId}`)).json();

/** The status of each grant of the developer, or the reason of its revocation, by its id. */
async function statesOf(developer: Developer): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  let query = '?limit=500';
  while (query) {
    const { grants, nextCursor } = (await developer('GET', `/v1/grants${query}`)).json();
    for (const { id, status, revokedReason } of grants) states.set(id, revokedReason ?? status);
    query = nextCursor && `?limit=500&cursor=${nextCursor}`;
  }
  return states;
}

async function used({ db }: Service, { developerId }: Developer): Promise<number> {
  const { rows } = await sql<{ used: string }>`select used from quota_counters
    where developer_id = ${developerId} and resource = 'active_grants'`.execute(db);
  return Number(rows[0]?.used);
}

describe('revoking a grant', () => {
  test('ends it, and records the reason, the actor and the grant', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId, agentId, grantToken } = await grantTo(acme);

    const answer = await revoke(acme, grantId, '?reason=Left%20the%20company');

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    const verdict = await acme('POST', '/v1/tokens/verify', { token: grantToken });
    expect(verdict.json()).toEqual({ valid: false, reason: 'revoked' });
    expect(await read(acme, grantId)).toMatchObject({
      status: 'revoked',
      revokedReason: 'developer',
      revokedAt: '2026-01-01T00:00:00.000Z',
    });
    const [entry] = await entriesOf(acme, 'grant.revoked');
    expect(entry).toMatchObject({ grantId, agentId, principalId: 'user_42', status: 'success' });
    expect(entry?.metadata).toEqual({
      rootGrantId: grantId,
      reason: 'developer',
      cascade: false,
      revokedBy: 'developer',
      note: 'Left the company',
      actor: expect.stringMatching(/^developer:key_/),
    });
    expect(await used(service, acme)).toBe(0);
  });

  test('of another agent is refused to a bound key as if the grant were unknown', async () => {
    const { acme } = await joinSandbox();
    const [own, other] = [await grantTo(acme), await grantTo(acme)];
    const bound = await acme.asRuntime(own.agentId);

    const refused = await bound('DELETE', `/v1/grants/${other.grantId}`);

    expect(refused.statusCode).toBe(
      (await bound('DELETE', '/v1/grants/grnt_00000000000000000000000000')).statusCode,
    );
    expect((await read(acme, other.grantId)).status).toBe('active');
  });

  test('tells subscribers the same, without the note meant for the audit log', async () => {
    const { acme, db } = await joinSandbox();
    const { grantId, agentId } = await grantTo(acme);

    await revoke(acme, grantId, '?reason=Private');

    const event = await db
      .selectFrom('outboxEvents')
      .select('envelope')
      .where('developerId', '=', acme.developerId)
      .where('type', '=', 'grant.revoked')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(event.envelope).data).toEqual({
      grantId,
      agentId,
      principalId: 'user_42',
      rootGrantId: grantId,
      reason: 'developer',
      cascade: false,
      revokedBy: 'developer',
    });
  });

  test('changes nothing when repeated: time and reason stay, and nothing more is recorded', async () => {
    const { acme, advance } = await startSandbox();
    const { grantId } = await grantTo(acme);
    await revoke(acme, grantId);
    const [before, actions] = [await read(acme, grantId), await actionsOf(acme)];

    advance(60);
    const again = await revoke(acme, grantId);

    expect(again.statusCode).toBe(204);
    expect(await read(acme, grantId)).toEqual(before);
    expect(await actionsOf(acme)).toEqual(actions);
  });

  test.each([
    ['a reason over 200 characters', `?reason=${'x'.repeat(201)}`, 'reason too_long'],
    ['a reason with a NUL', '?reason=%00', 'reason format'],
  ])('refuses %s, and the grant stays active', async (_, query, problem) => {
    const { acme } = await joinSandbox();
    const { grantId } = await grantTo(acme);

    const refused = await revoke(acme, grantId, query);

    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    const [field] = refused.json().details.fields;
    expect(`${field.path} ${field.problem}`).toBe(problem);
    expect(await read(acme, grantId)).toMatchObject({ status: 'active' });
  });

  test('ends one grant and no other of the same agent and principal', async () => {
    const { acme } = await joinSandbox();
    const [one, other] = [await grantTo(acme), await grantTo(acme)];

    await revoke(acme, one.grantId);

    expect(await statesOf(acme)).toEqual(
      new Map([
        [other.grantId, 'active'],
        [one.grantId, 'developer'],
      ]),
    );
  });
});

describe('a delegated grant', () => {
  test('R6 is revoked with its parent, five deep, and each revocation names its cause', async () => {
    const { acme, service, db } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    const agents = [1, 2, 3, 4, 5].map(async (each) => (await registerAgent(acme, `Helper ${each}`)).agentId);
    const chain = await insertChain(service, grantId, await Promise.all(agents));
    const other = await grantTo(acme);
    const [cousin] = await insertChain(service, other.grantId, [other.agentId]);

    await revoke(acme, grantId);

    const fallen = chain.map((each) => [each.grantId, 'parent'] as const);
    expect(await statesOf(acme)).toEqual(
      new Map([[grantId, 'developer'], ...fallen, [other.grantId, 'active'], [cousin?.grantId, 'active']]),
    );
    const entries = await entriesOf(acme, 'grant.revoked');
    const common = { rootGrantId: grantId, cascade: true, revokedBy: 'developer' };
    expect(entries.map((entry) => [entry.grantId, entry.metadata])).toEqual([
      [grantId, expect.objectContaining({ ...common, reason: 'developer' })],
      ...chain.map((each) => [
        each.grantId,
        expect.objectContaining({ ...common, reason: 'parent', causedBy: grantId }),
      ]),
    ]);
    expect(entries[0]?.metadata).not.toHaveProperty('causedBy');
    const times = await db
      .selectFrom('grants')
      .select('revokedAt')
      .distinct()
      .where('developerId', '=', acme.developerId)
      .where('revokedAt', 'is not', null)
      .execute();
    expect(times).toHaveLength(1);
    for (const each of chain) {
      const { tokens } = (await acme('GET', `/v1/grants/${each.grantId}/tokens`)).json();
      expect(tokens).toMatchObject([{ tokenId: each.tokenId, status: 'revoked' }]);
    }
  });

  test('is revoked alone when the call names it, and the grants above it stay active', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId, agentId } = await grantTo(acme);
    const [first, second, third] = await insertChain(service, grantId, [agentId, agentId, agentId]);

    await revoke(acme, String(second?.grantId));

    expect(await statesOf(acme)).toEqual(
      new Map([
        [third?.grantId, 'parent'],
        [second?.grantId, 'developer'],
        [first?.grantId, 'active'],
        [grantId, 'active'],
      ]),
    );
    const [, last] = await entriesOf(acme, 'grant.revoked');
    expect(last?.metadata).toMatchObject({ rootGrantId: grantId, causedBy: second?.grantId });
  });

  test('is revoked with its parent, five hundred at once, each by its own act', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    await insertBranches(service, { parentId: grantId, count: 500 });

    const answer = await revoke(acme, grantId);

    expect(answer.statusCode).toBe(204);
    const states = [...(await statesOf(acme)).values()];
    expect(states.filter((state) => state === 'parent')).toHaveLength(500);
    expect(states).not.toContain('active');
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({
      valid: true,
      checkedEntries: 507,
    });
  });

  test('is revoked although a grant between has ended already', async () => {
    const { acme, service, clock } = await joinSandbox();
    const { grantId, agentId } = await grantTo(acme);
    const belowRevoked = await insertChain(service, grantId, [agentId, agentId]);
    const belowExpired = await insertChain(service, grantId, [agentId, agentId]);
    const [revoked, expired] = [String(belowRevoked[0]?.grantId), String(belowExpired[0]?.grantId)];
    await setGrant(service, revoked, { status: 'revoked' });
    await setGrant(service, expired, { expiresAt: clock() });

    await revoke(acme, grantId);

    const told = (await entriesOf(acme, 'grant.revoked')).map((entry) => entry.grantId);
    expect(told).toEqual(
      expect.arrayContaining([grantId, belowRevoked[1]?.grantId, expired, belowExpired[1]?.grantId]),
    );
    expect(told).not.toContain(revoked);
    expect(await read(acme, expired)).toMatchObject({ status: 'revoked', revokedReason: 'parent' });
  });

  test('is revoked where the tree grows between the read and the write', async () => {
    const grown: { grantId: string }[] = [];
    let readings = 0;
    const { acme, service } = await startSandbox({
      dbAs: (db) =>
        db.withPlugin(
          afterStatements('find_active_tree', async () => {
            readings += 1;
            if (readings === 1) grown.push(...(await insertBranches(service, { parentId: grantId })));
          }),
        ),
    });
    const { grantId } = await grantTo(acme);

    const answer = await revoke(acme, grantId);

    expect(answer.statusCode).toBe(204);
    expect(readings).toBe(2);
    expect([...(await statesOf(acme)).values()].sort()).toEqual(['developer', 'parent']);
    const told = (await entriesOf(acme, 'grant.revoked')).map((entry) => entry.grantId);
    expect(told.sort()).toEqual([grantId, ...grown.map((each) => each.grantId)].sort());
  });

  test('is revoked while other calls delegate without a pause: the tree stops growing', async () => {
    const { acme } = await startSandbox();
    const { grantId, agentId, grantToken } = await grantTo(acme);
    const part = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['calendar:read'] };
    let isRevoked = false;
    const outcomes: string[] = [];
    const grow = async () => {
      while (!isRevoked) outcomes.push(refusalOf(await acme('POST', '/v1/grants/delegate', part)));
    };
    const growing = [grow(), grow(), grow()];
    while (outcomes.length < 5) await setImmediate();

    const answer = await revoke(acme, grantId);
    isRevoked = true;
    await Promise.all(growing);

    expect(answer.statusCode).toBe(204);
    const states = [...(await statesOf(acme)).values()];
    expect(states).not.toContain('active');
    expect(states).toHaveLength(1 + outcomes.filter((outcome) => outcome === '201').length);
    const refused = outcomes.filter((outcome) => outcome !== '201');
    expect(new Set(refused)).toEqual(new Set(['400 INVALID_GRANT parent_revoked']));
  });

  test('is revoked, thousands of them ten deep, before the call answers, for every instance', {
    timeout: 120_000,
  }, async () => {
    const { acme, service } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: 'unlimited' } });
    const elsewhere = (await startApp()).calling(acme.apiKey);
    const { grantId, agentId, refreshToken, grantToken } = await grantTo(acme);
    await acme('PATCH', '/v1/me', { maxDelegationDepth: 10 });
    const held = [{ grantToken, refreshToken, agentId }];
    for (let parentId = grantId, depth = 1; depth <= 10; depth += 1) {
      const parentGrantToken = held.at(-1)?.grantToken;
      const { agentId: subAgentId } = await registerAgent(acme); // an agent of the chain would get no refresh token
      const part = { parentGrantToken, subAgentId, scopes: ['calendar:read'] };
      const child = (await acme('POST', '/v1/grants/delegate', part)).json();
      held.push(child);
      await insertBranches(service, { parentId, count: SIBLINGS });
      parentId = child.grantId;
    }
    const counted = () =>
      service.db
        .selectFrom('grants')
        .select(({ fn }) => ['status', fn.countAll<string>().as('count')])
        .where('rootGrantId', '=', grantId)
        .groupBy('status')
        .execute();
    expect(await counted()).toEqual([{ status: 'active', count: String(1 + BELOW) }]);

    await sql`analyze grants`.execute(service.db); // as Postgres does by itself within a minute

    const answer = await revoke(acme, grantId);

    expect(answer.statusCode).toBe(204);
    const dead = { valid: false, reason: 'revoked' };
    for (const { grantToken: token, refreshToken: spare, agentId: holder } of held) {
      for (const ask of [elsewhere, acme]) {
        expect((await ask('POST', '/v1/tokens/verify', { token })).json()).toEqual(dead);
      }
      const refreshed = await elsewhere('POST', '/v1/token/refresh', {
        refreshToken: spare,
        agentId: holder,
      });
      expect(refusalOf(refreshed)).toBe('400 INVALID_GRANT grant_revoked');
    }
    expect(await counted()).toEqual([{ status: 'revoked', count: String(1 + BELOW) }]);
    const reasons = await service.db
      .selectFrom('grants')
      .select(({ fn }) => ['revokedReason', fn.countAll<string>().as('count')])
      .where('rootGrantId', '=', grantId)
      .groupBy('revokedReason')
      .orderBy('count')
      .execute();
    expect(reasons).toEqual([
      { revokedReason: 'developer', count: '1' },
      { revokedReason: 'parent', count: String(BELOW) },
    ]);
    const told = await service.db
      .selectFrom('outboxEvents')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .where('developerId', '=', acme.developerId)
      .where('type', '=', 'grant.revoked')
      .executeTakeFirstOrThrow();
    expect(told.count).toBe(String(1 + BELOW));
    expect((await acme('GET', '/v1/audit/verify?toSeq=1000')).json()).toMatchObject({ valid: true });
    expect(await used(service, acme)).toBe(0);
  });
});

describe('revoking an agent', () => {
  test('ends its grants and everything delegated from them, and names the nearest cause of each', async () => {
    const { acme, service } = await joinSandbox();
    const { agentId: helper } = await registerAgent(acme, 'Helper');
    const { grantId, agentId } = await grantTo(acme);
    const alone = await authorizeAgain(acme, agentId);
    // The agent delegates to a helper, the helper delegates back, and the agent delegates again.
    const [first, back, last] = await insertChain(service, grantId, [helper, agentId, helper]);
    const other = await grantTo(acme);

    await acme('DELETE', `/v1/agents/${agentId}`);

    expect(await statesOf(acme)).toEqual(
      new Map([
        [other.grantId, 'active'],
        [grantId, 'agent_revoked'],
        [alone, 'agent_revoked'],
        [first?.grantId, 'parent'],
        [back?.grantId, 'agent_revoked'],
        [last?.grantId, 'parent'],
      ]),
    );
    const entries = await entriesOf(acme, 'grant.revoked');
    const told = new Map(
      entries.map((entry) => [entry.grantId, [entry.metadata.cascade, entry.metadata.causedBy]]),
    );
    expect(told).toEqual(
      new Map([
        [grantId, [true, undefined]],
        [alone, [false, undefined]],
        [first?.grantId, [true, grantId]],
        [back?.grantId, [true, undefined]],
        [last?.grantId, [true, back?.grantId]],
      ]),
    );
    const [revoked] = await entriesOf(acme, 'agent.revoked');
    expect(revoked?.metadata).toMatchObject({ revokedGrants: 5 });
    expect(await used(service, acme)).toBe(1);
  });

  test('gives back the places of the grants that had not expired', async () => {
    const { acme, service, clock } = await joinSandbox();
    const { grantId, agentId } = await grantTo(acme);
    const expired = await authorizeAgain(acme, agentId);
    await grantTo(acme);
    await setGrant(service, expired, { expiresAt: clock() });
    const before = await used(service, acme);

    await acme('DELETE', `/v1/agents/${agentId}`);

    expect([before, await used(service, acme)]).toEqual([3, 2]); // the count to the limit leaves expired grants out
    expect(await read(acme, grantId)).toMatchObject({ status: 'revoked' });
    expect(await read(acme, expired)).toMatchObject({ status: 'revoked' });
  });
});

async function authorizeAgain(developer: Developer, agentId: string): Promise<string> {
  const asked = { agentId, principalId: 'user_42', scopes: ['email:send'] };
  const { code } = (await developer('POST', '/v1/authorize', asked)).json();
  return (await developer('POST', '/v1/token', { code, agentId })).json().grantId;
}
