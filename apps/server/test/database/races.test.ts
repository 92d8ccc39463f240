import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { authorize, entriesOf, grantTo, pkce, refusalOf, registerAgent, startSandbox } from '../app/flow.ts';
import { type Developer, openConnections, type TestOptions } from '../app/start-app.ts';

const AT_ONCE = 50;
const ROUNDS = process.env.TEST_LONG ? 200 : 10;

/** A sandbox whose connections are all open, so that requests at once are at once. */
async function startWarm(options: TestOptions = {}) {
  const started = await startSandbox(options);
  await openConnections(started.db);
  return started;
}

const atOnce = <T>(work: (each: number) => Promise<T>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, each) => work(each)));

const verdictOf = async (developer: Developer, token: string) =>
  (await developer('POST', '/v1/tokens/verify', { token })).json();

async function activeGrantsOf(developer: Developer): Promise<unknown[]> {
  return (await developer('GET', '/v1/grants?status=active')).json().grants;
}

/** Delegates a part of the grant that every test of this file asks for. */
const delegate = (developer: Developer, parentGrantToken: string, subAgentId: string) =>
  developer('POST', '/v1/grants/delegate', { parentGrantToken, subAgentId, scopes: ['calendar:read'] });

/** Counts the answers of each kind. */
function count(outcomes: readonly string[]): Record<string, number> {
  const groups = Object.entries(Object.groupBy(outcomes, (outcome) => outcome));
  return Object.fromEntries(groups.map(([outcome, same]) => [outcome, same?.length ?? 0]));
}

describe('many requests at once', () => {
  test('O2 exchange one code, and a single request gets a grant', async () => {
    const { acme } = await startWarm();
    const { agentId } = await registerAgent(acme);
    const { codeVerifier, asked } = pkce();
    const { code } = await authorize(acme, agentId, asked);

    const answers = await atOnce(() => acme('POST', '/v1/token', { code, agentId, codeVerifier }));

    expect(count(answers.map(refusalOf))).toEqual({
      201: 1,
      '400 INVALID_GRANT code_used': AT_ONCE - 1,
    });
    expect(await activeGrantsOf(acme)).toHaveLength(1);
    expect(await entriesOf(acme, 'grant.created')).toHaveLength(1);
    const [winner] = answers.filter(({ statusCode }) => statusCode === 201);
    expect(await verdictOf(acme, winner?.json().grantToken)).toMatchObject({ valid: true });
  });

  test('R2 spend one refresh token, and a single request gets its successor', async () => {
    const { acme } = await startWarm();
    const { agentId, refreshToken, grantId } = await grantTo(acme);

    const answers = await atOnce(() => acme('POST', '/v1/token/refresh', { refreshToken, agentId }));

    expect(count(answers.map(refusalOf))).toEqual({
      201: 1,
      '400 INVALID_GRANT refresh_reused': AT_ONCE - 1,
    });
    const { tokens } = (await acme('GET', `/v1/grants/${grantId}/tokens`)).json();
    expect(tokens).toHaveLength(2);
    const [winner] = answers.filter(({ statusCode }) => statusCode === 201);
    const next = { refreshToken: winner?.json().refreshToken, agentId };
    expect((await acme('POST', '/v1/token/refresh', next)).statusCode).toBe(201);
  });

  test('revoke one grant: all succeed, and the log has one entry', async () => {
    const { acme } = await startWarm();
    const { grantId } = await grantTo(acme);

    const answers = await atOnce(() => acme('DELETE', `/v1/grants/${grantId}`));

    expect(count(answers.map(({ statusCode }) => String(statusCode)))).toEqual({ 204: AT_ONCE });
    expect(await entriesOf(acme, 'grant.revoked')).toHaveLength(1);
  });

  test('revoke one token: all succeed, and the log has one entry', async () => {
    const { acme } = await startWarm();
    const { grantToken } = await grantTo(acme);

    const answers = await atOnce(() => acme('POST', '/v1/tokens/revoke', { token: grantToken }));

    expect(count(answers.map(({ statusCode }) => String(statusCode)))).toEqual({ 204: AT_ONCE });
    expect(await entriesOf(acme, 'token.revoked')).toHaveLength(1);
  });

  test('exchange codes when the plan has room for few, and no more get a grant', async () => {
    const { acme } = await startWarm({ env: { PLAN_FREE_ACTIVE_GRANTS: '7' } });
    const { agentId } = await registerAgent(acme);
    const codes = await atOnce(async () => (await authorize(acme, agentId)).code);

    const answers = await atOnce((each) => acme('POST', '/v1/token', { code: codes[each], agentId }));

    expect(count(answers.map(refusalOf))).toEqual({ 201: 7, '402 PLAN_LIMIT_EXCEEDED': AT_ONCE - 7 });
    expect(await activeGrantsOf(acme)).toHaveLength(7);
  });

  test('delegate when the plan has room for few, and no more get a grant', async () => {
    const { acme } = await startWarm({ env: { PLAN_FREE_ACTIVE_GRANTS: '7' } });
    const { agentId, grantToken } = await grantTo(acme);

    const answers = await atOnce(() => delegate(acme, grantToken, agentId));

    expect(count(answers.map(refusalOf))).toEqual({ 201: 6, '402 PLAN_LIMIT_EXCEEDED': AT_ONCE - 6 });
    expect(await activeGrantsOf(acme)).toHaveLength(7);
  });

  test('delegate from and to each other’s agents, and all get a grant', async () => {
    const { acme } = await startWarm();
    const [one, other] = [await grantTo(acme), await grantTo(acme)];

    const answers = await atOnce((each) =>
      each % 2
        ? delegate(acme, one.grantToken, other.agentId)
        : delegate(acme, other.grantToken, one.agentId),
    );

    expect(count(answers.map(refusalOf))).toEqual({ 201: AT_ONCE });
  });

  test('do everything to a grant: every request ends, and the chain is whole', async () => {
    const { acme } = await startWarm();

    await atOnce(async (each) => {
      const { agentId, grantToken, refreshToken, grantId } = await grantTo(acme);
      await Promise.all([
        acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
        acme('POST', '/v1/tokens/verify', { token: grantToken }),
        acme('POST', '/v1/tokens/revoke', { token: grantToken }),
        delegate(acme, grantToken, agentId),
        each % 2 ? acme('DELETE', `/v1/agents/${agentId}`) : acme('DELETE', `/v1/grants/${grantId}`),
      ]);
    });

    expect(await activeGrantsOf(acme)).toEqual([]);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });
});

describe('after a revocation, round after round', { timeout: 300_000 }, () => {
  test('a verification that begins after its answer never says valid', async () => {
    const { acme } = await startWarm();
    const seen = { before: 0, after: 0 };

    for (let round = 0; round < ROUNDS; round += 1) {
      const { grantToken, grantId } = await grantTo(acme);
      let isRevoked = false;
      const ask = async () => {
        for (let isLast = false; !isLast; ) {
          isLast = isRevoked;
          const { valid } = await verdictOf(acme, grantToken);
          if (valid && isLast) throw new Error('A token was valid after its grant was revoked.');
          seen[valid ? 'before' : 'after'] += 1;
        }
      };
      const asking = [ask(), ask(), ask()];
      await setImmediate(); // at least one request is under way
      expect((await acme('DELETE', `/v1/grants/${grantId}`)).statusCode).toBe(204);
      isRevoked = true;
      await Promise.all(asking);
    }

    expect(seen.before).toBeGreaterThan(ROUNDS / 2); // they met
    expect(seen.after).toBeGreaterThanOrEqual(3 * ROUNDS);
  });
});
