import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../../../../scripts/machine/folders.ts';
import { authorize, registerAgent } from '../app/flow.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';
import { startRedisCluster } from '../servers/redis-cluster.ts';

type Cluster = Awaited<ReturnType<typeof startRedisCluster>>;

let cluster: Cluster;
let one: Service;
let two: Service;
beforeAll(async () => {
  cluster = await startRedisCluster();
  const env = { REDIS_URL: cluster.url, RATE_LIMIT_PLAN_FREE: '30', RATE_LIMIT_SIGNUP: '1000' };
  one = await startApp({ isShared: true, realLimits: true, env });
  two = await startApp({ isShared: true, realLimits: true, env });
});
afterAll(async () => {
  await one?.stop();
  await two?.stop();
  await cluster?.remove();
});

const nodeOf = ({ developerId }: Developer) => cluster.placeOf(`bh:{developer:${developerId}}:version`);

/** A sandbox account whose counters are on that node. */
async function developerOn(place: number): Promise<Developer> {
  for (;;) {
    const developer = await one.asDeveloper({ mode: 'sandbox' });
    if (nodeOf(developer) === place) return developer;
  }
}

const healthOf = async ({ app }: Service) => (await app.inject('/health')).json();
const isHealthy = async (service: Service) => (await healthOf(service)).status === 'ok';
const remaining = (answer: { headers: object }) => Number(Object(answer.headers)['x-ratelimit-remaining']);

test('instances on a Redis Cluster share limits, codes and changes of keys', async () => {
  for (let place = 0; place < cluster.masters.length; place += 1) {
    const acme = await developerOn(place);
    const there = two.calling(acme.apiKey);
    const { agentId } = await registerAgent(acme);
    const { code } = await authorize(acme, agentId);

    expect((await there('POST', '/v1/token', { agentId, code })).statusCode).toBe(201);
    const [here, elsewhere] = [await acme('GET', '/v1/me'), await there('GET', '/v1/me')];
    expect(remaining(elsewhere)).toBe(remaining(here) - 1);

    await there('GET', '/v1/me');
    await acme('POST', '/v1/keys/rotate');
    expect((await there('GET', '/v1/me')).statusCode).toBe(401);
  }
  expect(await healthOf(one)).toEqual({ status: 'ok' });
});

test('I12: a node that hangs takes only its own keys along', async () => {
  const [hit, spared] = [await developerOn(1), await developerOn(2)];
  expect(cluster.placeOf('bh:{address:127.0.0.1}')).not.toBe(1); // or no request would be spared
  const there = two.calling(spared.apiKey);
  for (const developer of [hit, spared, there]) await developer('GET', '/v1/me');

  cluster.hang(1);
  try {
    expect(await waitUntil(async () => !(await isHealthy(one)), { seconds: 10 })).toBe(true);

    expect(await healthOf(one)).toEqual({ status: 'degraded', failing: ['redis'] });
    const [first, second] = [await hit('GET', '/v1/me'), await hit('GET', '/v1/me')];
    expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
    expect(remaining(second)).toBe(remaining(first) - 1); // this process counts
    const [here, elsewhere] = [await spared('GET', '/v1/me'), await there('GET', '/v1/me')];
    expect(remaining(elsewhere)).toBe(remaining(here) - 1); // Redis counts
  } finally {
    cluster.goOn(1);
  }
  expect(await waitUntil(() => isHealthy(one), { seconds: 20 })).toBe(true);
});

test('a replica takes the place of a node that is gone, and the service finds it', async () => {
  const acme = await developerOn(0);
  const { agentId } = await registerAgent(acme);
  await acme('GET', '/v1/me');

  cluster.kill(0);
  expect(await waitUntil(async () => !(await isHealthy(one)), { seconds: 10 })).toBe(true);
  for (const service of [one, two])
    expect(await waitUntil(() => isHealthy(service), { seconds: 20 })).toBe(true);

  const before = remaining(await acme('GET', '/v1/me'));
  expect(remaining(await two.calling(acme.apiKey)('GET', '/v1/me'))).toBe(before - 1);
  expect(
    (await acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['a'] })).statusCode,
  ).toBe(201);
});
