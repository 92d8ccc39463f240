import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream, browserOf } from '../../../../test/app/connecting.ts';
import { grantTo } from '../../../../test/app/flow.ts';
import { failingPostgres, failingRedis, recordingTracer } from '../../../../test/app/hostile-errors.ts';
import { everythingIn } from '../../../../test/app/seeking-secrets.ts';
import { newDatabase, startApp } from '../../../../test/app/start-app.ts';
import { exchange } from '../../../../test/app/vault.ts';

vi.setConfig({ testTimeout: 60_000 }); // many failures in a row take long on a busy machine

type Part = 'callback' | 'confirm' | 'exchange' | 'disconnect';

test('V5: no code, ticket, cookie or token of a connection shows anywhere, whichever dependency fails in whichever part', async () => {
  const databaseUrl = await newDatabase();
  const redis = failingRedis();
  const { tracer, told } = recordingTracer();
  const { env = {}, startsAt = '' } = besideUpstream();
  const service = await startApp({
    ...{ databaseUrl, tracer, storeAs: redis.storeAs, logLevel: 'debug', startsAt },
    env: { ...env, LOG_LEVEL: 'debug' },
  });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const upstream = await startAccountsServer();
  const secrets = new Set<string>();
  /** The upstream gives marked tokens, which last for a minute, or none at all. */
  let isAway = false;
  upstream.behaviour.instead = (request, respond) => {
    if (request.method !== 'POST') return false;
    if (!['/token', '/token/revocation'].includes(String(request.url))) return false;
    if (isAway) return Boolean(request.socket.destroy());
    const [accessToken, refreshToken] = [randomBytes(24).toString('hex'), randomBytes(24).toString('hex')];
    for (const token of [accessToken, refreshToken]) secrets.add(token);
    const tokens = { access_token: accessToken, refresh_token: refreshToken, token_type: 'bearer' };
    respond(200, { ...tokens, expires_in: 61 });
    return true;
  };
  await addProvider(acme, upstream, { kind: 'oauth2', account: null });
  const { grantToken } = await grantTo(acme, { scopes: ['files:read'] });
  const postgres = failingPostgres();
  const answers: string[] = [];
  const handedOut: string[] = [];

  /** The whole way, of which one part fails. */
  async function connect(failsIn: Part, fail: () => void) {
    const heal = () => {
      postgres.heal();
      redis.heal();
      isAway = false;
    };
    const part = async (name: Part, work: () => Promise<{ headers: object; body: string }>) => {
      if (name === failsIn) fail();
      const { headers, body } = await work();
      heal();
      if (name !== 'exchange') answers.push(JSON.stringify({ ...headers, 'set-cookie': '' }) + body);
      else handedOut.push(body);
    };
    const session = await askToConnect(acme);
    secrets.add(session.ticket);
    const browser = browserOf(service);
    await browser.open(session);
    const back = await upstream.visit((await browser.start(session.id)).json().redirectTo);
    for (const secret of [...browser.cookies.values(), back.searchParams.get('code') ?? ''])
      secrets.add(secret);
    await part('callback', () => browser.callback(back));
    await part('confirm', () => browser.confirm(session.id));
    service.advance(2);
    await part('exchange', async () => await exchange(service, grantToken, { service: 'files' }));
    const { credentials } = (await acme('GET', '/v1/vault/credentials')).json();
    const id = credentials[0]?.id ?? 'unknown';
    await part('disconnect', () => acme('DELETE', `/v1/vault/credentials/${id}`));
  }

  for (const each of ['callback', 'confirm', 'exchange', 'disconnect'] as const) {
    await connect(each, () => (isAway = true));
    for (const after of [0, 1, 2, 4]) await connect(each, () => postgres.fail(after));
    await connect(each, () => redis.fail());
  }
  expect([postgres.failures() > 12, redis.failures() > 3]).toEqual([true, true]);
  answers.push(
    (await acme('GET', '/v1/audit/entries?limit=100')).body,
    (await acme('GET', '/v1/events')).body,
  );

  const places = {
    answers: answers.join(),
    log: service.logLines.join(''),
    metrics: (await service.app.inject({ url: '/metrics' })).body,
    spans: told.join(''),
    database: await everythingIn(databaseUrl),
  };
  expect(secrets.size).toBeGreaterThan(80);
  for (const secret of secrets) expect(secret).toMatch(/^.{20,}$/);
  for (const [place, text] of Object.entries(places)) {
    expect([place, [...secrets].filter((secret) => text.includes(secret))]).toEqual([place, []]);
  }
  expect([...secrets].filter((secret) => handedOut.join().includes(secret)).length).toBeGreaterThan(5);
  expect(places.log).toContain('/connect/callback/');
  expect(places.database).toContain('vault.connection.connected');
});
