import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { registerAgent } from '../../../../test/app/flow.ts';
import { statementsOf } from '../../../../test/app/round-trips.ts';
import { type Service, startApp, type TestOptions } from '../../../../test/app/start-app.ts';
import { changePublisher } from '../../../platform/http/callers/known-callers.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';

/** A store that counts its trips to charge, and that can be away, lose its writes, or go by leases. */
function watched() {
  const seen = { spends: 0, isAway: false, losesWrites: false, leases: false };
  const storeAs = (store: EphemeralStore): EphemeralStore => ({
    ...store,
    chargeLeased: (bills) => (seen.leases ? store.chargeLeased(bills) : undefined),
    charge: (bills) => {
      seen.spends += 1;
      return seen.isAway ? Promise.reject(new Error('It is away.')) : store.charge(bills);
    },
    replaceVersion: (version) =>
      seen.losesWrites ? Promise.reject(new Error('It is away.')) : store.replaceVersion(version),
  });
  return { seen, storeAs };
}

async function startWatched(options: TestOptions = {}) {
  const { seen, storeAs } = watched();
  const service = await startApp({ ...options, storeAs });
  /** The cost of one request: trips to Redis, and statements to Postgres that look the key up. */
  const tripsOf = async (work: () => Promise<unknown>) => {
    seen.spends = 0;
    const statements = await statementsOf(work);
    return [seen.spends, statements.filter((each) => each === 'use_key').length];
  };
  return { ...service, seen, tripsOf };
}

/** Changes the plan as the operator does it. */
async function changePlan({ db, store }: Service, developerId: string, plan: 'free' | 'pro') {
  await db.updateTable('developers').set({ plan }).where('id', '=', developerId).execute();
  await changePublisher(store, () => {})({ developerId });
}

/** The second use is the first that can be remembered. */
async function makeKnown(call: (method: 'GET', url: string) => Promise<unknown>) {
  for (let use = 0; use < 2; use += 1) await call('GET', '/v1/me');
}

const statusOf = async (answer: Promise<{ statusCode: number }>) => (await answer).statusCode;

describe('a key', () => {
  test('costs one trip to Redis when it is known, and otherwise two and one to Postgres', async () => {
    const service = await startWatched();
    const acme = await service.asDeveloper();
    const look = () => acme('GET', '/v1/agents');

    expect(await service.tripsOf(look)).toEqual([2, 1]); // and now it is known whose key it is
    expect(await service.tripsOf(look)).toEqual([2, 1]);
    expect(await service.tripsOf(look)).toEqual([1, 0]);
    await changePlan(service, acme.developerId, 'pro');
    expect(await service.tripsOf(look)).toEqual([2, 1]);
    expect(await service.tripsOf(look)).toEqual([1, 0]);
    expect(await service.tripsOf(() => acme('POST', '/v1/authorize', {}))).toEqual([1, 0]);
  });

  test('T1 is looked up each time when it does not exist', async () => {
    const { calling, tripsOf } = await startWatched();
    const ask = () => calling(`bh_live_${'A'.repeat(43)}`)('GET', '/v1/agents');

    expect([await tripsOf(ask), await tripsOf(ask)]).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test('T10 of role `runtime` is refused without a look-up, and not charged', async () => {
    const { seen, asDeveloper, tripsOf } = await startWatched({ env: { RATE_LIMIT_PLAN_FREE: '50' } });
    seen.leases = true; // so that the headers count what is not used yet as left
    const runtime = await (await asDeveloper()).asRuntime();
    await makeKnown(runtime);
    const before = (await runtime('GET', '/v1/agents')).headers['x-ratelimit-remaining'];

    const [, lookUps] = await tripsOf(async () =>
      expect(await statusOf(runtime('GET', '/v1/keys'))).toBe(403),
    );
    expect(lookUps).toBe(0);

    const after = (await runtime('GET', '/v1/agents')).headers['x-ratelimit-remaining'];
    expect(Number(after)).toBe(Number(before) - 1);
  });

  test('T11 that is bound stays bound when it is known, and its refusal costs no look-up', async () => {
    const { asDeveloper, tripsOf } = await startWatched();
    const acme = await asDeveloper();
    const [own, other] = [await registerAgent(acme), await registerAgent(acme)];
    const bound = await acme.asRuntime(own.agentId);
    await makeKnown(bound);
    const statuses: number[] = [];
    const ask = async (path: string) => void statuses.push(await statusOf(bound('GET', path)));

    for (const path of ['/v1/audit/head', `/v1/agents/${own.agentId}`, `/v1/agents/${other.agentId}`]) {
      expect(await tripsOf(() => ask(path))).toEqual([1, 0]);
    }
    expect(statuses).toEqual([403, 200, 404]);
  });
});

describe('T7 two instances that know a key', () => {
  async function startTwo() {
    const one = await startApp();
    const two = await startWatched();
    const acme = await one.asDeveloper();
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'other' })).json();
    const keys = { acme: two.calling(acme.apiKey), other: two.calling(apiKey) };
    for (const call of [acme, keys.acme, keys.other]) await makeKnown(call);
    return { one, two, acme, keyId: String(keyId), keys };
  }

  test('refuse it at the very next request once one of them has revoked it', async () => {
    const { two, acme, keyId, keys } = await startTwo();
    expect(await two.tripsOf(() => keys.other('GET', '/v1/me'))).toEqual([1, 0]);

    await acme('DELETE', `/v1/keys/${keyId}`);

    expect(await statusOf(keys.other('GET', '/v1/me'))).toBe(401);
    expect(await statusOf(keys.acme('GET', '/v1/me'))).toBe(200);
  });

  test('refuse it at the very next request once one of them has rotated it', async () => {
    const { two, acme, keys } = await startTwo();
    expect(await two.tripsOf(() => keys.acme('GET', '/v1/me'))).toEqual([1, 0]);

    const { apiKey } = (await acme('POST', '/v1/keys/rotate')).json();

    expect(await statusOf(keys.acme('GET', '/v1/me'))).toBe(401);
    expect(await statusOf(two.calling(apiKey)('GET', '/v1/me'))).toBe(200);
  });

  test.each([
    ['revoked', 'DELETE'],
    ['rotated', 'POST'],
  ] as const)('refuse it once it is %s in the midst of requests that need no trip', async (_, method) => {
    const { two, acme, keyId, keys } = await startTwo();
    two.seen.leases = true;
    const known = method === 'POST' ? keys.acme : keys.other;
    const asked = { requests: 0, isSlow: false, isAnswered: false, late: 0 };
    const askOn = async () => {
      for (let tries = 0; tries < 5; ) {
        const { isAnswered } = asked;
        const status = await statusOf(known('GET', '/v1/me'));
        asked.requests += 1;
        if (isAnswered) tries += 1;
        if (isAnswered && status !== 401) asked.late += 1;
        if (asked.isSlow) await delay(10);
      }
    };
    two.seen.spends = 0;
    const crowd = Promise.all([askOn(), askOn(), askOn()]);
    await vi.waitUntil(() => asked.requests > 200, { timeout: 20_000 });
    expect(two.seen.spends).toBeLessThan(asked.requests);
    asked.isSlow = true; // now what is leased lasts until its time is over

    const path = method === 'POST' ? '/v1/keys/rotate' : `/v1/keys/${keyId}`;
    expect((await acme(method, path)).statusCode).toBeLessThan(300);
    asked.isAnswered = true;

    await crowd;
    expect(asked.late).toBe(0);
  });

  test('count by a new plan from the next request on', async () => {
    const { one, two, acme, keys } = await startTwo();
    const limits = { RATE_LIMIT_PLAN_FREE: '100000', RATE_LIMIT_PLAN_PRO: '777' };
    const three = await startApp({ env: limits });
    const there = three.calling(acme.apiKey);
    await makeKnown(there);

    await changePlan(one, acme.developerId, 'pro');

    expect((await there('GET', '/v1/me')).headers['x-ratelimit-limit']).toBe('777');
    expect((await keys.acme('GET', '/v1/me')).json().plan).toBe('pro');
    expect(two.seen.spends).toBeGreaterThan(0);
  });

  test('do not trust a key that they read during a change', async () => {
    const { two, acme, keyId, keys } = await startTwo();

    for (let round = 0; round < 5; round += 1) {
      await changePlan(two, acme.developerId, round % 2 ? 'free' : 'pro');
      const during = Array.from({ length: 4 }, () => keys.other('GET', '/v1/me'));
      if (round === 4) await acme('DELETE', `/v1/keys/${keyId}`);
      await Promise.all(during);
    }

    expect(await statusOf(keys.other('GET', '/v1/me'))).toBe(401);
  });
});

describe('the cached caller of a key', () => {
  test('is read again when Redis has lost its data', async () => {
    const { store, asDeveloper, tripsOf } = await startWatched();
    const acme = await asDeveloper();
    const look = () => acme('GET', '/v1/agents');
    await makeKnown(acme);
    expect(await tripsOf(look)).toEqual([1, 0]);

    await store.remove(`bh:{developer:${acme.developerId}}:version`);

    expect(await tripsOf(look)).toEqual([2, 1]);
    expect(await tripsOf(look)).toEqual([1, 0]);
  });

  test('is not used while Redis is away, nor afterwards', async () => {
    const { seen, asDeveloper, tripsOf } = await startWatched();
    const acme = await asDeveloper();
    const look = () => acme('GET', '/v1/agents');
    await makeKnown(acme);

    seen.isAway = true;
    expect(await tripsOf(look)).toEqual([2, 1]);
    expect(await tripsOf(look)).toEqual([2, 1]);
    seen.isAway = false;

    expect(await tripsOf(look)).toEqual([2, 1]);
    expect(await tripsOf(look)).toEqual([1, 0]);
  });

  test('T7 is used for less than ten seconds when a change never reaches Redis', async () => {
    const there = await startApp();
    const { seen, asDeveloper, advance } = await startWatched();
    const acme = await asDeveloper();
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'other' })).json();
    const other = there.calling(apiKey);
    await makeKnown(other);

    seen.losesWrites = true;
    expect(await statusOf(acme('DELETE', `/v1/keys/${keyId}`))).toBe(204);

    there.advance(9);
    expect(await statusOf(other('GET', '/v1/me'))).toBe(200);
    there.advance(1);
    expect(await statusOf(other('GET', '/v1/me'))).toBe(401);
    advance(0);
  });

  /** A service that runs `act` after it has read a key from the database, and before it caches the caller. */
  async function startInterrupted() {
    const { seen, storeAs } = watched();
    const interruption = { act: async () => {} };
    const service = await startApp({
      storeAs: (store) => {
        const counted = storeAs(store);
        return {
          ...counted,
          // The second trip comes after the database read, and charges only the developer.
          charge: async (bills) => {
            if (bills.every(({ name }) => name === 'developer')) await interruption.act();
            return counted.charge(bills);
          },
        };
      },
    });
    return { service, seen, interruption };
  }

  test('T7 is not kept when anything of the developer changed while it was read', async () => {
    const { service, seen, interruption } = await startInterrupted();
    const acme = await service.asDeveloper();
    await acme('GET', '/v1/me');
    interruption.act = () => changePlan(service, acme.developerId, 'pro');
    await acme('GET', '/v1/me');
    interruption.act = async () => {};

    seen.spends = 0;
    await acme('GET', '/v1/me');
    expect(seen.spends).toBe(2);
    await acme('GET', '/v1/me');
    expect(seen.spends).toBe(3);
  });

  test('T7 is not kept when this process changed the key meanwhile, even if Redis missed the change', async () => {
    const { service, seen, interruption } = await startInterrupted();
    const acme = await service.asDeveloper();
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'other' })).json();
    const other = service.calling(apiKey);
    await other('GET', '/v1/me');
    interruption.act = async () => {
      interruption.act = async () => {};
      seen.losesWrites = true;
      expect(await statusOf(acme('DELETE', `/v1/keys/${keyId}`))).toBe(204);
    };

    expect(await statusOf(other('GET', '/v1/me'))).toBe(200); // this request read the key before the change

    expect(await statusOf(other('GET', '/v1/me'))).toBe(401);
  });
});
