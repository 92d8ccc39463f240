import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { newDatabase } from './start-app.ts';
import { freePort, startServer } from './start-server.ts';

async function goodSettings() {
  const port = await freePort();
  const settings = {
    DATABASE_URL: await newDatabase(),
    REDIS_URL: inject('redisUrl'),
    AUTO_GENERATE_KEYS: 'true',
    HOST: '127.0.0.1',
    PORT: String(port),
  };
  return { settings, url: `http://127.0.0.1:${port}` };
}

describe('a server that is configured right', () => {
  test('says that it is ready, answers, and ends in order', async () => {
    const { settings, url } = await goodSettings();
    const server = startServer(settings);

    const ready = await server.ready();
    const health = await fetch(`${url}/health`);
    server.child.kill('SIGTERM');

    expect(ready).toMatchObject({ level: 'info', port: Number(settings.PORT), issuer: expect.any(String) });
    expect(ready.signingAlg).toBe('RS256');
    expect(await health.json()).toEqual({ status: 'ok' });
    expect((await server.exited).code).toBe(0);
  });

  test('answers what it has begun before it ends', async () => {
    const { settings, url } = await goodSettings();
    const server = startServer(settings);
    await server.ready();

    const answers = Promise.all(Array.from({ length: 20 }, () => signUp(url)));
    await signUp(url); // so that the twenty have been sent when the signal is
    server.child.kill('SIGINT');

    expect((await answers).map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect((await server.exited).code).toBe(0);
  });

  test('finds what it knew when it is started again', async () => {
    const { settings, url } = await goodSettings();
    const first = startServer(settings);
    await first.ready();
    const { apiKey, developerId } = Object(await (await signUp(url)).json());
    first.child.kill('SIGKILL');
    await first.exited;

    await startServer(settings).ready();
    const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } });

    expect(await me.json()).toMatchObject({ developerId });
  });

  test('starts without Redis, and says in /health that it is away', async () => {
    const { settings, url } = await goodSettings();
    const server = startServer({ ...settings, REDIS_URL: 'redis://127.0.0.1:1' });

    await server.ready();
    const health = await fetch(`${url}/health`);

    expect(health.status).toBe(503);
    expect(await health.json()).toEqual({ status: 'degraded', failing: ['redis'] });
    expect(server.lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toContain(
      'redis is away: requests are counted by this process alone',
    );
  });

  test('seeds its two developers once, and serves them', async () => {
    const { settings, url } = await goodSettings();
    const seeds = { SEED_API_KEY: 'live-key-for-tests', SEED_SANDBOX_KEY: 'sandbox-key-for-tests' };
    const first = startServer({ ...settings, ...seeds });
    await first.ready();
    first.child.kill('SIGTERM');
    await first.exited;
    await startServer({ ...settings, ...seeds }).ready();

    const modes = await Promise.all(
      Object.values(seeds).map(async (key) => {
        const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
        return Object(await me.json()).mode;
      }),
    );

    expect(modes).toEqual(['live', 'sandbox']);
  });
});

describe('a server that cannot start ends with code 1 and says which step failed', () => {
  test('J12, P6: with every problem of its configuration at once, and no value', async () => {
    const server = startServer({ DATABASE_URL: 'secret', PORT: '80000' });

    const { code, lines } = await server.exited;

    expect(code).toBe(1);
    expect(lines).toContainEqual({
      level: 'fatal',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      msg: 'DATABASE_URL must be a PostgreSQL connection string',
      setting: 'DATABASE_URL',
      code: 'CONFIG_INVALID',
    });
    const settings = lines.map(({ setting }) => setting);
    expect(settings).toEqual(expect.arrayContaining(['PORT', 'REDIS_URL', 'RSA_PRIVATE_KEY']));
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('without a database', async () => {
    const { settings } = await goodSettings();
    const server = startServer({ ...settings, DATABASE_URL: 'postgres://nobody:x@127.0.0.1:1/none' });

    const { code, lines } = await server.exited;

    expect(code).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: 'fatal', step: 'database' });
  });

  test('when somebody else listens on its port', async () => {
    const { settings } = await goodSettings();
    const other = createServer().listen(Number(settings.PORT), '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());

    const { code, lines } = await startServer(settings).exited;

    expect(code).toBe(1);
    const msg = `cannot listen on 127.0.0.1:${settings.PORT}: EADDRINUSE`;
    expect(lines.at(-1)).toMatchObject({ level: 'fatal', step: 'listener', msg });
  });
});

function signUp(url: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/v1/signup`, { method: 'POST', headers, body: JSON.stringify({ name: 'Acme' }) });
}
