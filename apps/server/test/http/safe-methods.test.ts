import type { RouteOptions } from 'fastify';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, askToConnect, browserOf } from '../app/connecting.ts';
import { callAs, callersOf } from '../app/every-caller.ts';
import { operationOf } from '../app/every-route.ts';
import { addOidc } from '../app/signing-on.ts';
import { newDatabase, startApp, type TestOptions } from '../app/start-app.ts';

/** A stream takes a place of its developer's, and gives it back at its end. Their HEAD does not stay open. */
const LIVE = ['GET /v1/events/stream', 'GET /v1/events/ws'];

/**
 * The call of an agent at an upstream, with the agent's own token. The upstream gets the method that the agent sent, and its
 * meaning is the upstream's; the call is counted.
 */
const PASSES_ON = 'GET /v1/vault/proxy/:service/:path';

const optionsNow = (): TestOptions => ({
  env: {
    SSO_ALLOW_PRIVATE_HOSTS: 'true',
    SSO_ALLOW_INSECURE_URLS: 'true',
    CONNECT_ALLOW_PRIVATE_HOSTS: 'true',
  },
  startsAt: new Date().toISOString(),
});

/** All rows of the database, each with its table. The log of a chain follows the chain, whoever asks for it first. */
async function rowsOf(databaseUrl: string): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows: tables } = await client.query(
    "select tablename from pg_tables where schemaname = 'public' and tablename not in ('failed_requests', 'failed_request_counts', 'activity_counts') and tablename not like 'tlog_%'",
  );
  const seen = [];
  for (const { tablename } of tables) {
    const name = client.escapeIdentifier(tablename);
    const { rows } = await client.query(`select to_jsonb(t)::text as held from ${name} t`);
    seen.push(...rows.map(({ held }, index) => `${tablename} ${held} ${held === rows[index - 1]?.held}`));
  }
  await client.end();
  return new Set(seen);
}

/** The service on a database of its own, whose writes to the store are noted. Counts of limits are no effect. */
async function startWatched() {
  const databaseUrl = await newDatabase();
  const written: string[] = [];
  const noting = <Args extends unknown[], Result>(name: string, write: (...args: Args) => Result) =>
    vi.fn((...args: Args): Result => {
      written.push(`${name} ${JSON.stringify(args)}`);
      return write(...args);
    });
  const storeAs = (store: EphemeralStore): EphemeralStore => ({
    ...store,
    put: noting('put', store.put),
    replaceVersion: noting('replaceVersion', store.replaceVersion),
    remove: noting('remove', store.remove),
    keepFor: noting('keepFor', store.keepFor),
    takeSlot: noting('takeSlot', store.takeSlot),
    freeSlot: noting('freeSlot', store.freeSlot),
  });
  const service = await startApp({ ...optionsNow(), databaseUrl, storeAs });
  /** What some work has changed. */
  const changedBy = async (work: () => Promise<unknown>) => {
    const before = await rowsOf(databaseUrl);
    written.length = 0;
    await work();
    const after = await rowsOf(databaseUrl);
    return [...before.symmetricDifference(after), ...written];
  };
  return { service, changedBy };
}

/** Sends every request of the service with these changes, while some work goes on. */
async function sending<T>(
  { app }: Awaited<ReturnType<typeof startWatched>>['service'],
  changes: { readonly method?: 'HEAD'; readonly headers?: Readonly<Record<string, string>> },
  work: () => Promise<T>,
): Promise<T> {
  const inject = app.inject.bind(app);
  const spy = vi.spyOn(app, 'inject').mockImplementation(((request: { headers?: object }) =>
    inject({
      ...request,
      ...changes,
      headers: { ...request.headers, ...changes.headers },
    })) as typeof inject);
  return work().finally(() => spy.mockRestore());
}

const AHEAD = { headers: { 'sec-purpose': 'prefetch;prerender' } };

describe('K7: a safe method', () => {
  const isSafe = (route: RouteOptions) =>
    route.method === 'GET' && ![...LIVE, PASSES_ON].includes(operationOf(route));

  test.each([
    ['HEAD', { method: 'HEAD' }],
    ['a GET ahead of a person', AHEAD],
  ] as const)(
    '%s changes no row and no key, at any route of the service',
    async (_, changes) => {
      const { service, changedBy } = await startWatched();
      const callers = await callersOf(service);
      const routes = service.routes.filter(isSafe);
      for (const route of routes) await callAs(callers, route).catch(() => {}); // what the first reading makes

      const changed = await sending(service, changes, () =>
        changedBy(async () => {
          for (const route of routes) await callAs(callers, route);
        }),
      );

      expect(changed).toEqual([]);
      expect(routes.length).toBeGreaterThan(150);
    },
    240_000,
  );

  test('a browser’s answer of a provider or of an upstream is used by the page’s POST only, and its session ends by none', async () => {
    const provider = await startAccountsServer();
    const { service, changedBy } = await startWatched();
    const { app } = service;
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    await addOidc(acme, provider);
    await addProvider(acme, provider);
    const query = new URLSearchParams({ org: acme.developerId, mode: 'redirect' });
    const sent = await app.inject({ url: `/sso/login?${query}` });
    const back = await provider.visit(String(sent.headers.location));
    const jar = (answer: { cookies: { name: string; value: string }[] }) =>
      answer.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const login = { url: back.pathname + back.search, cookie: jar(sent) };
    const connect = await askToConnect(acme);
    const browser = browserOf(service);
    await browser.open(connect);
    const returned = await provider.visit((await browser.start(connect.id)).json().redirectTo);
    const held = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const upstream = { url: returned.pathname + returned.search, cookie: held };
    const html = 'text/html,application/xhtml+xml';

    const looks = async (at: { url: string; cookie: string }) => {
      const headers = { cookie: at.cookie };
      const answers: [number, string | undefined][] = [];
      const changed = await changedBy(async () => {
        for (const [method, more] of [
          ['HEAD', {}],
          ['HEAD', { accept: html }],
          ['GET', AHEAD.headers],
          ['GET', { purpose: 'prefetch' }],
          ['GET', { accept: html, ...AHEAD.headers }],
          ['GET', { accept: html }],
        ] as const) {
          const answer = await app.inject({ method, url: at.url, headers: { ...headers, ...more } });
          answers.push([answer.statusCode, answer.headers.allow?.toString()]);
        }
      });
      expect(changed).toEqual([]);
      expect(answers).toEqual([
        ...Array(2).fill([405, 'GET, POST']),
        ...Array(3).fill([403, undefined]),
        [200, undefined],
      ]);
      const page = await app.inject({ url: at.url, headers: { ...headers, accept: html } });
      expect(page.headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'strict-origin' });
      return page.body;
    };
    /** Presses the button of a page. */
    const submit = (at: { cookie: string }, page: string, more: object = {}) =>
      app.inject({
        method: 'POST',
        url: /action="([^"]*)"/.exec(page)?.[1] ?? '',
        headers: {
          cookie: at.cookie,
          accept: html,
          origin: 'https://auth.test',
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          ...more,
        },
        payload: new URLSearchParams(
          [...page.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(
            ([, name = '', value = '']): [string, string] => [name, value],
          ),
        ).toString(),
      });
    const elsewhere = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };

    const signing = await looks(login);
    expect((await submit(login, signing, elsewhere)).statusCode).toBe(403);
    const landed = await submit(login, signing);
    const session = { url: '/sso/logout', cookie: jar(landed) };
    const sessions = async () => (await acme('GET', '/v1/sso/sessions')).json().sessions.length;
    expect([landed.statusCode, await sessions()]).toEqual([200, 1]);
    expect((await submit(login, signing)).statusCode).toBe(400); // once only

    const left = await changedBy(async () => {
      const { url, cookie } = session;
      await app.inject({ method: 'HEAD', url, headers: { cookie } });
      await app.inject({ url, headers: { cookie, accept: html, ...AHEAD.headers } });
      await app.inject({ url, headers: { cookie, accept: html } });
    });
    expect([left, await sessions()]).toEqual([[], 1]);

    const connecting = await looks(upstream);
    expect((await submit(upstream, connecting, elsewhere)).statusCode).toBe(403);
    const done = await submit(upstream, connecting);
    expect([done.statusCode, done.headers.location]).toEqual([
      303,
      `https://auth.test/connect?session=${connect.id}`,
    ]);
  });
});
