import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../../../scripts/machine/folders.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { noMeter } from '../../src/platform/telemetry/meter.ts';
import { authorize, grantTo, pagesOf } from '../app/flow.ts';
import { startListening } from '../app/listening.ts';
import type { Developer } from '../app/start-app.ts';
import { emit, follow } from '../app/streams.ts';
import { ownPostgres, ownRedis } from '../servers/own-servers.ts';

type Postgres = Awaited<ReturnType<typeof ownPostgres>>;
type Redis = Awaited<ReturnType<typeof ownRedis>>;

let postgres: Postgres;
let redis: Redis;
let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([ownPostgres(), ownRedis()]);
  await migrate({ connectionString: postgres.url });
  service = await startListening({
    isShared: true,
    databaseUrl: postgres.url,
    ...(redis ? { env: { REDIS_URL: redis.url } } : { store: 'memory' }),
    // Like production, with less patience.
    dbAs: () =>
      openDatabase({ connectionString: postgres.url }, 8, noMeter, { connect: 1_500, silence: 700 }),
  });
});
afterAll(async () => {
  await service?.stop();
  await postgres?.remove();
  await redis?.remove();
});

const WORKERS = 8;

/** Writes without a pause, and remembers every acknowledged write. */
async function underLoad(developer: Developer, during: (token: string) => Promise<void>) {
  const { agentId, did: agentDid, grantId, grantToken } = await grantTo(developer);
  const entry = { agentId, agentDid, grantId, principalId: 'user_42', action: 'flight.booked' };
  const [entries, grants, revoked]: [string[], string[], string[]] = [[], [], []];
  const refusals = new Set<string>();
  let isOver = false;
  const accepted = ({ statusCode, body }: { statusCode: number; body: string }) => {
    if (statusCode < 300) return true;
    const { code, details } = JSON.parse(body);
    refusals.add([statusCode, code, details?.dependency ?? details?.reason].filter(Boolean).join(' '));
    return false;
  };
  const work = async () => {
    while (!isOver) {
      const appended = await developer('POST', '/v1/audit/log', entry);
      if (accepted(appended)) entries.push(appended.json().entryId);
      const asked = await developer('POST', '/v1/authorize', {
        agentId,
        principalId: 'user_42',
        scopes: ['a'],
      });
      if (!accepted(asked)) continue;
      const issued = await developer('POST', '/v1/token', { agentId, code: asked.json().code });
      if (!accepted(issued)) continue;
      grants.push(issued.json().grantId);
      if (grants.length % 2) continue;
      const ended = await developer('DELETE', `/v1/grants/${issued.json().grantId}`);
      if (accepted(ended)) revoked.push(issued.json().grantToken);
    }
  };
  const working = Promise.all(Array.from({ length: WORKERS }, work));
  try {
    await enough(entries);
    await during(grantToken);
    await enough(entries);
  } finally {
    isOver = true;
    await working;
  }
  return { entries, grants, revoked, refusals };
}

/** Waits until more writes are acknowledged, so the service is at work. */
async function enough(written: readonly unknown[]): Promise<void> {
  const aim = written.length + WORKERS;
  if (!(await waitUntil(() => written.length >= aim, { seconds: 20 })))
    throw new Error('No more writes are acknowledged.');
}

async function expectAllKept(developer: Developer, written: Awaited<ReturnType<typeof underLoad>>) {
  const { entries, grants, revoked } = written;
  const ids = (pages: readonly { readonly id: string }[][]) => pages.flat().map(({ id }) => id);
  expect(ids(await pagesOf(developer, '/v1/audit/entries?limit=500', 'entries'))).toEqual(
    expect.arrayContaining(entries),
  );
  expect(ids(await pagesOf(developer, '/v1/grants?limit=500', 'grants'))).toEqual(
    expect.arrayContaining(grants),
  );
  const verdicts = revoked.map(async (token) =>
    (await developer('POST', '/v1/tokens/verify', { token })).json(),
  );
  for (const verdict of await Promise.all(verdicts))
    expect(verdict).toEqual({ valid: false, reason: 'revoked' });
  expect(revoked.length).toBeGreaterThan(0);
  expect((await developer('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true, problem: null });
}

function redisHere(): NonNullable<Redis> {
  if (!redis) throw new Error('The test has no Redis of its own.');
  return redis;
}

const healthOf = async () => (await service.app.inject('/health')).json();
const isHealthy = async () => (await healthOf()).status === 'ok';
const developerHere = () => service.asDeveloper({ mode: 'sandbox' });

describe('Postgres', () => {
  const away = '503 SERVICE_UNAVAILABLE db';

  /** Every request sees the outage. */
  async function expectAway(developer: Developer, token: string): Promise<void> {
    const asked = await Promise.all([
      developer('GET', '/v1/me'),
      developer('GET', '/v1/grants'),
      developer('POST', '/v1/agents', { name: 'a' }),
      developer('POST', '/v1/tokens/verify', { token }),
    ]);
    for (const answer of asked) {
      expect([answer.statusCode, answer.json().code, answer.json().details]).toEqual([
        503,
        'SERVICE_UNAVAILABLE',
        { dependency: 'db' },
      ]);
    }
    expect(await healthOf()).toEqual({ status: 'degraded', failing: ['db'] });
    expect((await service.app.inject('/livez')).statusCode).toBe(200);
  }

  test('is away after a crash under load until it is back, and loses no acknowledged write', async () => {
    const acme = await developerHere();

    const written = await underLoad(acme, async (token) => {
      await postgres.crash();
      await expectAway(acme, token);
      await postgres.start();
      expect(await waitUntil(isHealthy, { seconds: 10 })).toBe(true);
    });

    expect([...written.refusals]).toEqual([away]);
    await expectAllKept(acme, written);
  });

  test.runIf(process.platform === 'linux')(
    'is away in a hang under load, for every request that waits for it',
    async () => {
      const acme = await developerHere();

      const written = await underLoad(acme, async (token) => {
        postgres.hang();
        try {
          await expectAway(acme, token);
        } finally {
          postgres.goOn();
        }
        expect(await waitUntil(isHealthy, { seconds: 10 })).toBe(true);
      });

      expect([...written.refusals]).toEqual([away]);
      await expectAllKept(acme, written);
    },
  );

  test('leaves live streams open after a crash, and they go on without a gap', async () => {
    const acme = await developerHere();
    const { grantToken } = await grantTo(acme);
    const stream = await follow({ url: service.url, apiKey: acme.apiKey });
    const [first] = await emit(service, acme, ['agent.created']);
    await stream.first(1);

    await postgres.crash();
    await expectAway(acme, grantToken);
    await postgres.start();
    expect(await waitUntil(isHealthy, { seconds: 10 })).toBe(true);
    const later = await emit(service, acme, ['agent.updated', 'agent.updated']);

    expect(await stream.first(3)).toEqual([first, ...later]);
  });
});

describe('I12: Redis', () => {
  const away = '503 SERVICE_UNAVAILABLE redis';
  const remaining = (answer: { headers: Record<string, unknown> }) =>
    Number(answer.headers['x-ratelimit-remaining']);
  const dependencyOf = (answer: { json: () => { details?: { dependency?: string } } }) =>
    answer.json().details?.dependency;

  /** Requests that need only Postgres go on, and are counted. Authorization requests do not. */
  async function expectAway(developer: Developer): Promise<void> {
    const { agentId } = (await developer('POST', '/v1/agents', { name: 'a' })).json();
    const first = await developer('GET', '/v1/me');
    const second = await developer('GET', '/v1/me');
    const asked = await developer('POST', '/v1/authorize', {
      agentId,
      principalId: 'user_42',
      scopes: ['a'],
    });

    expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
    expect(remaining(second)).toBeLessThan(remaining(first));
    expect([asked.statusCode, dependencyOf(asked)]).toEqual([503, 'redis']);
    expect(await healthOf()).toEqual({ status: 'degraded', failing: ['redis'] });
    expect((await service.app.inject('/livez')).statusCode).toBe(200);
  }

  test.each<[string, (own: NonNullable<Redis>) => unknown, (own: NonNullable<Redis>) => unknown]>([
    ['stop', (own) => own.stop(), (own) => own.start()],
    ['hang', (own) => own.hang(), (own) => own.goOn()],
  ])('loses in a %s under load only open requests and codes', async (_, goAway, comeBack) => {
    const own = redisHere();
    const acme = await developerHere();
    const ended = await grantTo(acme);
    const pending = await authorize(acme, ended.agentId, { autoApprove: false });

    const written = await underLoad(acme, async () => {
      await goAway(own);
      try {
        await waitUntil(async () => !(await isHealthy()), { seconds: 10 });
        await expectAway(acme);
        expect(dependencyOf(await acme('POST', `/v1/authorize/${pending.id}/approve`))).toBe('redis');
        expect((await acme('DELETE', `/v1/grants/${ended.grantId}`)).statusCode).toBe(204);
        const verdict = await acme('POST', '/v1/tokens/verify', { token: ended.grantToken });
        expect(verdict.json(), 'R5').toEqual({ valid: false, reason: 'revoked' });
      } finally {
        await comeBack(own);
      }
      expect(await waitUntil(isHealthy, { seconds: 10 })).toBe(true);
    });

    for (const refusal of written.refusals)
      expect([away, '400 INVALID_GRANT code_unknown']).toContain(refusal);
    expect(written.refusals).toContain(away);
    await expectAllKept(acme, written);
  });

  test.each<[string, (own: NonNullable<Redis>) => unknown, (own: NonNullable<Redis>) => unknown]>([
    ['it is full', (own) => own.set('maxmemory', '1'), (own) => own.set('maxmemory', '0')],
    ['it is a replica', (own) => own.follow('127.0.0.1 1'), (own) => own.follow('NO ONE')],
  ])('counts as away while it takes no writes because %s', async (_, refuseWrites, takeWrites) => {
    const own = redisHere();
    const acme = await developerHere();

    await refuseWrites(own);
    try {
      await expectAway(acme);
    } finally {
      await takeWrites(own);
    }

    expect(await isHealthy()).toBe(true);
  });

  test('loses unexchanged codes when it is emptied under load, and no acknowledged write', async () => {
    const own = redisHere();
    const acme = await developerHere();

    const written = await underLoad(acme, async () => {
      await own.empty();
    });

    for (const refusal of written.refusals) expect(refusal).toMatch(/^400 INVALID_GRANT/);
    await expectAllKept(acme, written);
  });
});
