import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, Server } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { problemsOf } from '../../src/config/test/environment.ts';
import vectors from '../../src/features/service/keys/keys.vectors.json' with { type: 'json' };
import { execute } from '../servers/postgres.ts';
import { startHere } from '../servers/start-here.ts';
import { goodSettings, startServer } from '../servers/start-server.ts';

vi.setConfig({ testTimeout: 120_000 }); // a process takes seconds to start on a busy machine

describe('a server with good settings', () => {
  test('says that it is ready, answers and ends in order', async () => {
    const { settings, url } = await goodSettings();
    const server = startServer({ ...settings, ...watched });

    const ready = await server.ready();
    const health = await fetch(`${url}/health`);
    server.child.kill('SIGTERM');

    expect(ready).toEqual({
      level: 'info',
      time: expect.any(String),
      msg: 'ready',
      port: Number(settings.PORT),
      issuer: `http://localhost:${settings.PORT}`,
      signingAlg: 'RS256',
      signingKid: expect.stringMatching(/^service-\d{4}-\d{2}$/),
      keyStore: 'env',
      version: '0.6.0',
    });
    expect(server.lines.map(({ msg }) => msg)).toContain('listening'); // so the watch sees a socket
    expect(await health.json()).toEqual({ status: 'ok' });
    expect((await server.exited).code).toBe(0);
  });

  test('runs the jobs of every feature, and shows each refusal that wakes operators from the beginning', async () => {
    const { settings, url } = await goodSettings();
    await startHere(settings).ready();
    const metrics = async () => await (await fetch(`${url}/metrics`)).text();
    const jobs = async () =>
      [...(await metrics()).matchAll(/^worker_last_success_timestamp_seconds\{worker="(.*)"\}/gm)].map(
        ([, name]) => name,
      );

    await vi.waitFor(async () => expect(await jobs()).toHaveLength(38), 20_000);

    expect((await jobs()).sort()).toEqual([
      'anomaly detection',
      'audit checkpoints',
      'care of changes',
      'care of decisions',
      'care of signal streams',
      'checks of audit chains',
      'checks of domains',
      'connection rotation',
      'end of disconnections',
      'end of graces',
      'erasure of accounts',
      'erasure of audit entries',
      'expiry of answers',
      'expiry of clients',
      'expiry of connect sessions',
      'expiry of grants',
      'expiry of requests',
      'flush of activity',
      'flush of failed requests',
      'flush of usage',
      'forgetting of calls',
      'forgetting of proxy calls',
      'messages about anomalies',
      'notices of decisions',
      'polling of signals',
      'provider rotation',
      'pruning of caps',
      'retention of activity',
      'retention of events',
      'retention of failed requests',
      'retention of usage',
      'transparency logs',
      'transparency logs behind',
      'transparency witnesses',
      'vault rotation',
      'verification of streams',
      'webhook delivery',
      'webhook history',
    ]);
    expect((await metrics()).split('\n')).toEqual(
      expect.arrayContaining([
        'blocked_attempts_total{action="token.reuse_detected"} 0',
        'blocked_attempts_total{action="consent.verification_failed"} 0',
        'acts_total{type="token.reuse_detected"} 0',
      ]),
    );
  });

  test('gives back the memory that only its start needed, as soon as it has had a quiet second', async () => {
    const { settings, url } = await goodSettings();
    await startServer(settings).ready();
    const heap = async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(/^nodejs_heap_size_total_bytes (\d+)$/m.exec(text)?.[1]);
    };
    const before = await heap();

    await vi.waitFor(async () => expect(await heap()).toBeLessThan(before * 0.9), {
      timeout: 20_000, // V8 by itself takes twice as long
      interval: 2500, // a question is work too
    });
  });

  test('keeps mail for its developer where no server for mail is set', async () => {
    const { settings, url } = await goodSettings();
    await startHere(settings).ready();

    expect((await fetch(`${url}/development/mail`)).status).toBe(200);
  });

  test('finds its data when it is started again', async () => {
    const { settings, url } = await goodSettings();
    const first = startHere(settings);
    await first.ready();
    const { apiKey, developerId } = Object(await (await signUp(url)).json());
    first.signal();
    await first.exited;

    const listen = watchListening();
    await startHere(settings).ready();
    const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } });

    expect(await me.json()).toMatchObject({ developerId });
    expect(listen).toHaveBeenCalled(); // so the watch sees a socket
  });

  test('starts without Redis, and says in /health that Redis is away', async () => {
    const { settings, url } = await goodSettings();
    const server = startHere({ ...settings, REDIS_URL: 'redis://127.0.0.1:1' });

    await server.ready();
    const health = await fetch(`${url}/health`);

    expect(health.status).toBe(503);
    expect(await health.json()).toEqual({ status: 'degraded', failing: ['redis'] });
    expect(server.lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toContain(
      'redis is away',
    );
  });

  test('seeds its two developers once, and serves them', async () => {
    const { settings, url } = await goodSettings();
    const seeds = { SEED_API_KEY: 'live-key-for-tests', SEED_SANDBOX_KEY: 'sandbox-key-for-tests' };
    const seeding = { ...settings, ...seeds, DEFAULT_PLAN: 'pro' };
    const first = startHere(seeding);
    await first.ready();
    first.signal();
    await first.exited;
    await startHere(seeding).ready();

    const developers = await Promise.all(
      Object.values(seeds).map(async (key) => {
        const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
        const { mode, plan } = Object(await me.json());
        return { mode, plan };
      }),
    );

    expect(developers).toEqual([
      { mode: 'live', plan: 'pro' },
      { mode: 'sandbox', plan: 'pro' },
    ]);
  });
});

describe('a server that cannot start ends with code 1, says which step failed, and never listens', () => {
  test('J12, P6, P9: with every problem of its configuration at once, and no value', async () => {
    const env = {
      // Without NODE_ENV, it is production.
      DATABASE_URL: 'postgres://user:secret@db.example/behest',
      REDIS_URL: 'memory:',
      RSA_PRIVATE_KEY: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey),
      EC_PRIVATE_KEY: pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
      ED25519_PRIVATE_KEY: vectors.ed25519.privateKey,
      AUTO_GENERATE_KEYS: 'true',
      JWT_VERIFICATION_PUBLIC_KEYS: '[{"kty":"RSA","d":"secret"},{"kty":"oct","k":"secret"},7]',
      SIGNING_KEY_STORE: 'postgres',
      SEED_API_KEY: 'secret-of-sixteen-letters',
      TRUST_PROXY: '*',
      PORT: '80000',
      RATE_LIMIT_NONSENSE: '1',
    };
    const { code, lines } = await startServer({ ...env, ...watched }).exited;

    expect(code).toBe(1);
    expect(lines.map(({ msg }) => msg)).not.toContain('listening');
    expect(lines.map(({ setting, msg }) => ({ setting, message: msg }))).toEqual(
      problemsOf({ ...env, NODE_ENV: 'production' }),
    );
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    for (const line of lines) {
      expect(line).toEqual({
        level: 'fatal',
        time,
        msg: expect.any(String),
        setting: expect.any(String),
        code: 'CONFIG_INVALID',
      });
    }
    expect(lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'DATABASE_URL must use sslmode=require or stricter in production',
        'RSA_PRIVATE_KEY must be at least 2048 bits, found 1024',
        'EC_PRIVATE_KEY must be a P-256 key, found P-384',
        'test key from the documentation',
        'JWT_VERIFICATION_PUBLIC_KEYS[0]: contains private member "d"',
        'SIGNING_KEY_STORE=postgres requires VAULT_ENCRYPTION_KEY',
      ]),
    );
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('when its database cannot be reached, or refuses it', async () => {
    const { settings } = await goodSettings();
    const stranger = new URL(settings.DATABASE_URL);
    stranger.username = 'stranger';
    stranger.password = 'hidden-words';

    const failures = await Promise.all([
      failing({ ...settings, DATABASE_URL: 'postgres://nobody:hidden-words@127.0.0.1:1/none' }),
      failing({ ...settings, DATABASE_URL: stranger.href }),
    ]);

    for (const { code, lines } of failures) {
      expect(code).toBe(1);
      expect(lines.at(-1)).toMatchObject({ level: 'fatal', step: 'database' });
      expect(JSON.stringify(lines)).not.toContain('hidden-words');
    }
    expect(failures.map(({ lines }) => lines.at(-1)?.msg)).toEqual([
      'connect ECONNREFUSED 127.0.0.1:1',
      expect.stringContaining('stranger'),
    ]);
  });

  test.each([
    [
      'its database server is too old',
      // The tests have no server that old, so a function in its place answers for it.
      `create schema old;
       create function old.current_setting(text) returns text language sql as $$ select '140009' $$;
       do $$ begin
         execute format('alter database %I set search_path = old, pg_catalog, public', current_database());
       end $$`,
      { step: 'database', msg: 'PostgreSQL 15 or later is needed, and this is 14' },
    ],
    [
      'a migration was changed after it was applied',
      "update schema_migrations set sha256 = 'other' where name = '002_members.sql'",
      { step: 'migrations', msg: 'migration 002_members.sql was changed after it was applied' },
    ],
    [
      'its database is newer',
      "insert into schema_migrations (name, sha256) values ('999_later.sql', 'x')",
      { step: 'migrations', msg: 'database is newer than this release' },
    ],
    [
      'a migration fails, which is then not applied in part',
      "delete from schema_migrations where name = '002_members.sql'",
      { step: 'migrations', msg: expect.stringContaining('already exists') },
    ],
    [
      'its development accounts cannot be made',
      'alter table developers rename to others',
      { step: 'developers', msg: expect.stringContaining('developers') },
    ],
  ])('when %s', async (_, statements, expected) => {
    const { settings } = await goodSettings();
    await execute(settings.DATABASE_URL, statements);

    const { code, lines } = await failing({ ...settings, SEED_API_KEY: 'live-key-for-tests' });

    expect(code).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: 'fatal', ...expected });
    expect(lines.filter(({ level }) => level === 'fatal')).toHaveLength(1);
  });

  test('when another process listens on its port', async () => {
    const { settings } = await goodSettings();
    const other = createServer().listen(Number(settings.PORT), '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());

    const { code, lines } = await startHere({ ...settings, REDIS_URL: 'memory:' }).exited;

    expect(code).toBe(1);
    const msg = `cannot listen on 127.0.0.1:${settings.PORT}: EADDRINUSE`;
    expect(lines.at(-1)).toMatchObject({ level: 'fatal', step: 'listener', msg });
  });
});

/** Reports each socket before it begins to listen. */
const watch = `
  import net from 'node:net';
  const { listen } = net.Server.prototype;
  net.Server.prototype.listen = function (...options) {
    console.log('{"msg":"listening"}');
    return listen.apply(this, options);
  };`;
const watched = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` };

/** Sees each socket that begins to listen in this process. */
function watchListening() {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  return listen;
}

/** Starts the service in this process, which fails. */
async function failing(env: Readonly<Record<string, string>>) {
  const listen = watchListening();
  const ended = await startHere({ ...env, REDIS_URL: 'memory:' }).exited;
  expect(listen).not.toHaveBeenCalled();
  return ended;
}

const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

function signUp(url: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/v1/signup`, { method: 'POST', headers, body: JSON.stringify({ name: 'Acme' }) });
}
