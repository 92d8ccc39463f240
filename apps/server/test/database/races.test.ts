import { setImmediate } from 'node:timers/promises';
import type { LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Executor } from '../../src/platform/db/db.ts';
import { afterStatements } from '../app/after-statements.ts';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  openSession,
  pkce,
  refusalOf,
  registerAgent,
  startSandbox,
} from '../app/flow.ts';
import type { Developer } from '../app/start-app.ts';

const AT_ONCE = 50;
const ROUNDS = process.env.TEST_LONG ? 200 : 10; // which meet in both orders; `inTurns` sees to it

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
    const { acme } = await startSandbox();
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
    const { acme } = await startSandbox();
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
    const { acme } = await startSandbox();
    const { grantId } = await grantTo(acme);

    const answers = await atOnce(() => acme('DELETE', `/v1/grants/${grantId}`));

    expect(count(answers.map(({ statusCode }) => String(statusCode)))).toEqual({ 204: AT_ONCE });
    expect(await entriesOf(acme, 'grant.revoked')).toHaveLength(1);
  });

  test('revoke one token: all succeed, and the log has one entry', async () => {
    const { acme } = await startSandbox();
    const { grantToken } = await grantTo(acme);

    const answers = await atOnce(() => acme('POST', '/v1/tokens/revoke', { token: grantToken }));

    expect(count(answers.map(({ statusCode }) => String(statusCode)))).toEqual({ 204: AT_ONCE });
    expect(await entriesOf(acme, 'token.revoked')).toHaveLength(1);
  });

  test('exchange codes when the plan has room for few, and no more get a grant', async () => {
    const { acme } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: '7' } });
    const { agentId } = await registerAgent(acme);
    const codes = await atOnce(async () => (await authorize(acme, agentId)).code);

    const answers = await atOnce((each) => acme('POST', '/v1/token', { code: codes[each], agentId }));

    expect(count(answers.map(refusalOf))).toEqual({ 201: 7, '402 PLAN_LIMIT_EXCEEDED': AT_ONCE - 7 });
    expect(await activeGrantsOf(acme)).toHaveLength(7);
  });

  test('delegate when the plan has room for few, and no more get a grant', async () => {
    const { acme } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: '7' } });
    const { agentId, grantToken } = await grantTo(acme);

    const answers = await atOnce(() => delegate(acme, grantToken, agentId));

    expect(count(answers.map(refusalOf))).toEqual({ 201: 6, '402 PLAN_LIMIT_EXCEEDED': AT_ONCE - 6 });
    expect(await activeGrantsOf(acme)).toHaveLength(7);
  });

  test('delegate from and to each other’s agents, and all get a grant', async () => {
    const { acme } = await startSandbox();
    const [one, other] = [await grantTo(acme), await grantTo(acme)];

    const answers = await atOnce((each) =>
      each % 2
        ? delegate(acme, one.grantToken, other.agentId)
        : delegate(acme, other.grantToken, one.agentId),
    );

    expect(count(answers.map(refusalOf))).toEqual({ 201: AT_ONCE });
  });

  test('do everything to a grant: every request ends, and the chain is whole', async () => {
    const { acme } = await startSandbox();

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
    const { acme } = await startSandbox();
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

  test('R4 no refresh that raced it leaves a token behind', async () => {
    const { acme } = await startSandbox();
    const outcomes: string[] = [];

    for (let round = 0; round < ROUNDS; round += 1) {
      const { agentId, refreshToken, grantToken, grantId } = await grantTo(acme);
      const [refreshed, revoked] = await Promise.all(
        inTurns(round, [
          () => acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
          () => acme('DELETE', `/v1/grants/${grantId}`),
        ]),
      );

      expect(revoked?.statusCode).toBe(204);
      const issued = refreshed?.statusCode === 201 ? [refreshed.json()] : [];
      outcomes.push(issued.length ? 'refreshed' : 'refused');
      for (const each of [{ grantToken }, ...issued]) {
        expect(await verdictOf(acme, each.grantToken)).toEqual({ valid: false, reason: 'revoked' });
      }
      for (const each of [{ refreshToken }, ...issued]) {
        const again = await acme('POST', '/v1/token/refresh', { refreshToken: each.refreshToken, agentId });
        expect(refusalOf(again)).toBe('400 INVALID_GRANT grant_revoked');
      }
    }

    expect(Object.keys(count(outcomes)).sort()).toEqual(['refreshed', 'refused']); // both orders were met
  });

  test('R4 no delegation that raced it leaves a descendant behind, however deep', async () => {
    const { acme } = await startSandbox();
    const outcomes: string[] = [];

    for (let round = 0; round < ROUNDS; round += 1) {
      const { agentId, grantToken, grantId } = await grantTo(acme);
      const first = (await delegate(acme, grantToken, agentId)).json();
      const [delegated, refreshed, revoked] = await Promise.all(
        inTurns(round, [
          () => delegate(acme, first.grantToken, agentId),
          () => acme('POST', '/v1/token/refresh', { refreshToken: first.refreshToken, agentId }),
          () => acme('DELETE', `/v1/grants/${grantId}`),
        ]),
      );

      expect(revoked?.statusCode).toBe(204);
      outcomes.push(delegated ? refusalOf(delegated) : '');
      const issued = [delegated, refreshed].filter((answer) => answer?.statusCode === 201);
      for (const each of [{ grantToken }, first, ...issued.map((answer) => answer?.json())]) {
        expect(await verdictOf(acme, each.grantToken)).toEqual({ valid: false, reason: 'revoked' });
      }
      for (const answer of issued) {
        const { refreshToken } = answer?.json() ?? {};
        const again = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
        expect(refusalOf(again)).toBe('400 INVALID_GRANT grant_revoked');
      }
    }

    expect(await activeGrantsOf(acme)).toEqual([]);
    expect(Object.keys(count(outcomes)).sort()).toEqual(['201', '400 INVALID_GRANT parent_revoked']); // both orders
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test('R4 no delegation that raced a principal’s end of all grants leaves a grant behind', async () => {
    const { acme, service } = await startSandbox();
    const outcomes: string[] = [];

    for (let round = 0; round < ROUNDS; round += 1) {
      const { agentId, grantToken } = await grantTo(acme);
      const person = service.calling((await openSession(acme)).json().sessionToken);
      const [delegated, ended] = await Promise.all(
        inTurns(round, [
          () => delegate(acme, grantToken, agentId),
          () => person('DELETE', '/v1/principal/grants'),
        ]),
      );

      expect(ended?.statusCode).toBe(200);
      outcomes.push(delegated ? refusalOf(delegated) : '');
      if (delegated?.statusCode !== 201) continue;
      const verdict = await verdictOf(acme, delegated.json().grantToken);
      expect(verdict).toEqual({ valid: false, reason: 'revoked' });
    }

    expect(await activeGrantsOf(acme)).toEqual([]);
    expect(Object.keys(count(outcomes)).sort()).toEqual(['201', '400 INVALID_GRANT parent_revoked']); // both orders
  });

  test.each(['everything', 'the grant of this agent'])(
    'R11 no exchange that raced a principal’s end of %s leaves a grant behind',
    async (what) => {
      const { acme, service } = await startSandbox();
      const outcomes: string[] = [];

      for (let round = 0; round < ROUNDS; round += 1) {
        const { agentId, grantId } = await grantTo(acme);
        const { code } = await authorize(acme, agentId);
        const person = service.calling((await openSession(acme)).json().sessionToken);
        const path = what === 'everything' ? '/v1/principal/grants' : `/v1/principal/grants/${grantId}`;
        const [redeemed, ended] = await Promise.all(
          inTurns(round, [() => acme('POST', '/v1/token', { code, agentId }), () => person('DELETE', path)]),
        );

        expect([200, 204]).toContain(ended?.statusCode);
        outcomes.push(redeemed?.statusCode === 201 ? 'redeemed' : 'refused');
        if (redeemed?.statusCode !== 201 || what !== 'everything') continue;
        const verdict = await verdictOf(acme, redeemed.json().grantToken);
        expect(verdict).toEqual({ valid: false, reason: 'revoked' });
      }

      if (what === 'everything') expect(await activeGrantsOf(acme)).toEqual([]);
      expect(Object.keys(count(outcomes)).sort()).toEqual(['redeemed', 'refused']); // both orders
    },
  );

  test.each(['the agent that delegates', 'the agent that is delegated to'])(
    'O16 no delegation that raced the end of %s leaves a grant behind',
    async (whose) => {
      const { acme } = await startSandbox();
      const outcomes: string[] = [];

      for (let round = 0; round < ROUNDS; round += 1) {
        const { agentId, grantToken } = await grantTo(acme);
        const helper = await registerAgent(acme, 'Helper');
        const ended = whose === 'the agent that delegates' ? agentId : helper.agentId;
        const [delegated, revoked] = await Promise.all(
          inTurns(round, [
            () => delegate(acme, grantToken, helper.agentId),
            () => acme('DELETE', `/v1/agents/${ended}`),
          ]),
        );

        expect(revoked?.statusCode).toBe(204);
        outcomes.push(delegated?.statusCode === 201 ? 'delegated' : 'refused');
        if (delegated?.statusCode !== 201) continue;
        expect(await verdictOf(acme, delegated.json().grantToken)).toEqual({
          valid: false,
          reason: 'revoked',
        });
      }

      expect(Object.keys(count(outcomes)).sort()).toEqual(['delegated', 'refused']); // both orders were met
      expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
    },
  );

  test('O16 no exchange that raced the end of its agent leaves a grant behind', async () => {
    const { acme } = await startSandbox();
    const outcomes: string[] = [];

    for (let round = 0; round < ROUNDS; round += 1) {
      const { agentId } = await registerAgent(acme);
      const { code } = await authorize(acme, agentId);
      const [exchanged, revoked] = await Promise.all(
        inTurns(round, [
          () => acme('POST', '/v1/token', { code, agentId }),
          () => acme('DELETE', `/v1/agents/${agentId}`),
        ]),
      );

      expect(revoked?.statusCode).toBe(204);
      outcomes.push(exchanged ? refusalOf(exchanged) : '');
      if (exchanged?.statusCode !== 201) continue;
      expect(await verdictOf(acme, exchanged.json().grantToken)).toEqual({ valid: false, reason: 'revoked' });
    }

    expect(await activeGrantsOf(acme)).toEqual([]);
    expect(count(outcomes)[201]).toBeGreaterThan(0); // both orders were met
    expect(Object.keys(count(outcomes)).length).toBeGreaterThan(1);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
    expect((await actionsOf(acme)).length).toBeGreaterThan(0);
  });
});

describe('a request in the middle of an agent’s revocation', () => {
  /** Revokes an agent, and begins `meanwhile` when its grants are revoked and nothing is committed. */
  async function revokedDuring(
    meanwhile: (
      acme: Developer,
      agent: Awaited<ReturnType<typeof prepare>>,
    ) => Promise<LightMyRequestResponse>,
  ) {
    let begun: Promise<LightMyRequestResponse> | undefined;
    const { acme, db } = await startSandbox({
      dbAs: (real) =>
        real.withPlugin(
          afterStatements('revoke_tree', async () => {
            begun = meanwhile(acme, agent);
            await untilWaiting(real, begun);
          }),
        ),
    });
    const agent = await prepare(acme);
    expect((await acme('DELETE', `/v1/agents/${agent.agentId}`)).statusCode).toBe(204);
    return { acme, db, answer: begun && refusalOf(await begun) };
  }

  async function prepare(acme: Developer) {
    const grant = await grantTo(acme);
    const { code } = await authorize(acme, grant.agentId);
    return { ...grant, code: String(code) };
  }

  test('O16 with a code waits for it, and gets no grant', async () => {
    const { acme, answer } = await revokedDuring((developer, { agentId, code }) =>
      developer('POST', '/v1/token', { code, agentId }),
    );

    expect(answer).toBe('400 INVALID_GRANT agent_inactive');
    expect(await activeGrantsOf(acme)).toEqual([]);
  });

  test('O16 with a token to delegate from waits for it, and gets no grant', async () => {
    const { acme, answer } = await revokedDuring((developer, { agentId, grantToken }) =>
      delegate(developer, grantToken, agentId),
    );

    expect(answer).toBe('400 INVALID_GRANT agent_inactive');
    expect(await activeGrantsOf(acme)).toEqual([]);
  });

  test('R4 with a refresh token waits for it, and gets no token', async () => {
    const { answer } = await revokedDuring((developer, { agentId, refreshToken }) =>
      developer('POST', '/v1/token/refresh', { refreshToken, agentId }),
    );

    expect(answer).toBe('400 INVALID_GRANT agent_inactive');
  });
});

/** Waits until `work` is done, or any statement in the database waits for a lock. */
async function untilWaiting(db: Executor, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  work.finally(() => {
    isDone = true;
  });
  for (let isWaiting = false; !isWaiting && !isDone; ) {
    const waiting = sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    isWaiting = (await waiting.execute(db)).rows.length > 0;
  }
}

/**
 * Starts all, in order in one round and in reverse in the next. In each fifth round they run one after the
 * other, because the same one may always be the faster.
 * @returns the results in the order given
 */
function inTurns<T>(round: number, works: readonly (() => Promise<T>)[]): Promise<T>[] {
  const isForwards = round % 2 === 0;
  let before: Promise<unknown> = Promise.resolve();
  const started = (isForwards ? works : works.toReversed()).map((work) => {
    const done = round % 5 === 0 ? before.then(work) : work();
    before = done;
    return done;
  });
  return isForwards ? started : started.toReversed();
}
