import { describe, expect, inject, test } from 'vitest';
import { grantTo, startSandbox } from '../app/flow.ts';
import { startListening } from '../app/listening.ts';
import { newDatabase } from '../app/start-app.ts';
import { redisUrl } from '../servers/redis-url.ts';
import { ask, startRoundRobin } from '../servers/round-robin.ts';
import { startHere } from '../servers/start-here.ts';
import { freePort, startServer } from '../servers/start-server.ts';

const portOf = (url: string) => Number(new URL(url).port);

describe('three instances behind one proxy, on one database and one Redis', () => {
  test.runIf(process.platform === 'linux')(
    'I10 count together, by the address that the proxy saw',
    async () => {
      const env = { TRUST_PROXY: '1', RATE_LIMIT_SIGNUP: '6' };
      const services = [
        await startListening({ env }),
        await startListening({ env }),
        await startListening({ env }),
      ];
      const { port, took } = await startRoundRobin(services.map(({ url }) => portOf(url)));
      const own = () => `127.${Math.ceil(Math.random() * 250)}.${Math.ceil(Math.random() * 250)}.7`;
      const [one, other] = [own(), own()];
      const signUp = (localAddress: string, index: number) =>
        ask({
          ...{ port, method: 'POST', path: '/v1/signup', body: { name: 'Acme' }, localAddress },
          headers: { 'x-forwarded-for': `192.0.2.${index}` }, // an address that the client made up
        });

      const statuses = [];
      for (let index = 0; index < 9; index += 1) statuses.push((await signUp(one, index)).status);

      expect(statuses).toEqual([...Array(6).fill(201), ...Array(3).fill(429)]);
      expect([...took.values()]).toEqual([3, 3, 3]);
      expect((await signUp(other, 0)).status).toBe(201);
    },
  );

  test('refuse a revoked token at once, each of them', async () => {
    const { acme, settings } = await startSandbox();
    const env = { PUBLIC_BASE_URL: settings.http.publicBaseUrl }; // one service, by one name
    const services = [
      await startListening({ env }),
      await startListening({ env }),
      await startListening({ env }),
    ];
    const { port, took } = await startRoundRobin(services.map(({ url }) => portOf(url)));
    const { grantId, grantToken: token } = await grantTo(acme);
    const headers = { authorization: `Bearer ${acme.apiKey}` };
    const verify = () => ask({ port, method: 'POST', path: '/v1/tokens/verify', body: { token }, headers });
    const thrice = async () =>
      [await verify(), await verify(), await verify()].map(({ body }) => JSON.parse(body).valid);

    expect(await thrice()).toEqual([true, true, true]);
    expect((await ask({ port, method: 'DELETE', path: `/v1/grants/${grantId}`, headers })).status).toBe(204);
    expect(await thrice()).toEqual([false, false, false]);
    expect(Math.min(...took.values())).toBeGreaterThan(1);
  });
});

test('an instance that is killed under load loses only the requests that it was answering', async () => {
  const settings = {
    NODE_ENV: 'test',
    DATABASE_URL: await newDatabase(),
    REDIS_URL: redisUrl(),
    RSA_PRIVATE_KEY: inject('rsaKey'),
    HOST: '127.0.0.1',
    TRUST_PROXY: '1',
    RATE_LIMIT_SIGNUP: '100000',
    RATE_LIMIT_SIGNUP_HOURLY: '100000',
  };
  const ports = [await freePort(), await freePort()];
  const victim = startServer({ ...settings, PORT: String(ports[0]) });
  await Promise.all([victim.ready(), startHere({ ...settings, PORT: String(ports[1]) }).ready()]);
  const { port, took } = await startRoundRobin(ports);
  const signUp = () => ask({ port, method: 'POST', path: '/v1/signup', body: { name: 'Acme' } });

  const underWay = Array.from({ length: 40 }, signUp);
  await Promise.race(underWay); // so that both are at work
  victim.child.kill('SIGKILL');
  const during = await Promise.all(underWay);
  await victim.exited;
  const after = await Promise.all(Array.from({ length: 40 }, signUp));

  const lost = during.filter(({ status }) => status !== 201);
  expect(lost.map(({ status, body }) => [status, body])).toEqual(lost.map(() => [502, String(ports[0])]));
  expect(lost.length).toBeLessThanOrEqual(20);
  expect(after.map(({ status }) => status)).toEqual(Array(40).fill(201));
  expect(took.get(ports[1] ?? 0)).toBeGreaterThanOrEqual(60);
});
