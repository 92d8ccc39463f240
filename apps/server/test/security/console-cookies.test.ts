import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { memberOf, signInByKey } from '../app/console.ts';
import { type Service, startApp } from '../app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, env: { CORS_ALLOWED_ORIGINS: 'https://app.example' } });
  return service.stop;
});

const asSandbox = () => service.asDeveloper({ mode: 'sandbox' });
type Headers = Readonly<Record<string, string | undefined>>;

/** Sends a request of a signed-in browser, with other headers than its page would send. */
async function send(method: 'GET' | 'POST', headers: Headers, change: Headers) {
  const all = Object.entries({ ...headers, ...change }).filter(([, value]) => value !== undefined);
  return service.app.inject({
    method,
    url: '/v1/agents',
    headers: Object.fromEntries(all),
    ...(method === 'POST' && { payload: JSON.stringify({ name: 'Bot', scopes: ['calendar:read'] }) }),
  });
}

const json = { 'content-type': 'application/json' };

describe('a request of another page with the cookie of a member', () => {
  const attacks: Readonly<Record<string, Headers>> = {
    'without Sec-Fetch-Site': { 'sec-fetch-site': undefined },
    'of the same site': { 'sec-fetch-site': 'same-site' },
    'of another site': { 'sec-fetch-site': 'cross-site' },
    'that the person typed': { 'sec-fetch-site': 'none' },
    'of another origin': { origin: 'https://evil.example' },
    'of an origin that may call with a key': { origin: 'https://app.example' },
    'of an opaque origin': { origin: 'null' },
  };
  const onWrites: Readonly<Record<string, Headers>> = {
    'without Origin': { origin: undefined },
    'without a CSRF token': { 'x-csrf-token': undefined },
    'with an empty CSRF token': { 'x-csrf-token': '' },
    'with a made-up CSRF token': {
      'x-csrf-token': createHmac('sha256', 'x').update('x').digest('base64url'),
    },
    'as a form': { 'content-type': 'application/x-www-form-urlencoded' },
    'as text': { 'content-type': 'text/plain' },
    'as JSON that a form can send': { 'content-type': 'text/plain; application/json' },
  };

  test.each(Object.keys(attacks))('reads nothing: %s', async (attack) => {
    const ada = await memberOf(service, await asSandbox());

    const answer = await send('GET', ada.headers(), attacks[attack] ?? {});

    expect(answer.statusCode).toBe(403);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await send('GET', ada.headers(), {})).statusCode).toBe(200);
  });

  test.each(Object.keys({ ...attacks, ...onWrites }))('changes nothing: %s', async (attack) => {
    const acme = await asSandbox();
    const ada = await memberOf(service, acme);
    const good = { ...ada.headers(), ...json };

    const answer = await send('POST', good, { ...attacks, ...onWrites }[attack] ?? {});

    expect(answer.statusCode).toBe(403);
    expect((await acme('GET', '/v1/agents')).json().agents).toEqual([]);
    expect((await send('POST', good, {})).statusCode).toBe(201);
  });

  test('changes nothing with the CSRF token of another session', async () => {
    const acme = await asSandbox();
    const [ada, bob] = [await memberOf(service, acme), await memberOf(service, await asSandbox())];

    const answer = await send(
      'POST',
      { ...ada.headers(), ...json },
      { 'x-csrf-token': bob.headers()['x-csrf-token'] },
    );

    expect(answer.statusCode).toBe(403);
    expect((await acme('GET', '/v1/agents')).json().agents).toEqual([]);
  });
});

describe('a cookie', () => {
  test('is ignored beside an Authorization header, good or bad', async () => {
    const [acme, other] = [await asSandbox(), await asSandbox()];
    const ada = await memberOf(service, acme);
    const ask = (authorization: string) => send('GET', ada.headers(), { authorization });
    await acme('POST', '/v1/agents', { name: 'Bot', scopes: ['calendar:read'] });

    expect((await ask(`Bearer ${other.apiKey}`)).json().agents).toEqual([]);
    expect((await ask('Bearer bh_test_nobodys')).statusCode).toBe(401);
    expect((await ask('')).statusCode).toBe(401);
    expect((await ask(`Bearer ${acme.apiKey}`)).json().agents).toHaveLength(1);
  });

  test.each([
    ['whose secret is another one', ([account, id]: string[]) => `${account}.${id}.${'a'.repeat(43)}`],
    ['without its secret', ([account, id]: string[]) => `${account}.${id}`],
    ['with an empty secret', ([account, id]: string[]) => `${account}.${id}.`],
    ['of another account', ([, id, secret]: string[]) => `dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C.${id}.${secret}`],
    [
      'of another session',
      ([account, , secret]: string[]) => `${account}.cons_01K9Z3QW5M8T2V4X6Y7Z8A9B0C.${secret}`,
    ],
    ['with a null character', ([account, id, secret]: string[]) => `${account}%00.${id}.${secret}`],
    ['of nobody', () => 'x'],
  ])('%s opens nothing', async (_, forge) => {
    const ada = await memberOf(service, await asSandbox());
    const { cookie } = ada.headers();
    const [name = '', value = ''] = cookie.split(/=(.*)/s);

    const answer = await send('GET', ada.headers(), { cookie: `${name}=${forge(value.split('.'))}` });

    expect(answer.statusCode).toBe(401);
    expect((await send('GET', ada.headers(), {})).statusCode).toBe(200);
  });

  test('under the name without its prefix counts nothing where the service has https', async () => {
    const ada = await memberOf(service, await asSandbox());
    const cookie = ada.headers().cookie.replace('__Host-', '');

    expect((await send('GET', ada.headers(), { cookie })).statusCode).toBe(401);
  });

  test('has no `Secure` on plain http of this machine, where browsers would drop it', async () => {
    const local = await startApp({ env: { PUBLIC_BASE_URL: 'http://localhost:3000' } });
    const acme = await local.asDeveloper({ mode: 'sandbox' });
    const { consoleBrowser } = await import('../app/console.ts');
    const browser = consoleBrowser(local);

    const { cookies } = await signInByKey(browser, acme);

    expect(cookies).toEqual([
      expect.objectContaining({ name: 'bh_console', httpOnly: true, sameSite: 'Strict' }),
    ]);
    expect(cookies[0]).not.toHaveProperty('secure');
    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(200);
  });

  test('is stored as its hash alone', async () => {
    const ada = await memberOf(service, await asSandbox());
    const secret = ada.headers().cookie.split('.').at(-1) ?? '';

    const { rows } = await (await import('../servers/postgres.ts')).execute(
      service.databaseUrl,
      `select * from console_sessions where id = '${ada.sessionId}'`,
    );

    expect(secret).toHaveLength(43);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(rows).toHaveLength(1);
  });
});

test('a route of the console takes no API key', async () => {
  const acme = await asSandbox();

  expect((await acme('GET', '/v1/console/session')).statusCode).toBe(401);
  expect((await acme('GET', '/v1/me')).statusCode).toBe(200);
});

test('a session is charged by the rule of the console, and not to the plan', async () => {
  const tight = await startApp({
    env: { RATE_LIMIT_PLAN_FREE: '1', RATE_LIMIT_CONSOLE: '4' },
  });
  const ada = await memberOf(tight, await tight.asDeveloper({ mode: 'sandbox' }));

  // One request of four has told the test its session.
  const statuses = [];
  for (let times = 0; times < 4; times += 1) statuses.push((await ada.call('GET', '/v1/me')).statusCode);

  expect(statuses).toEqual([200, 200, 200, 429]);
});

test.each([
  ['GET', '/v1/approver/session', '__Host-bh_approve'],
  ['GET', '/v1/console/session', '__Host-bh_console'],
] as const)('a null character in the cookie of %s %s is a cookie of nobody', async (method, url, name) => {
  const secret = 'a'.repeat(43);
  const ask = (value: string) =>
    service.app.inject({
      ...{ method, url },
      headers: { cookie: `${name}=${value}`, 'sec-fetch-site': 'same-origin', origin: 'https://auth.test' },
    });

  const [control, first, second] = [`dev_a.b.${secret}`, `dev_a%00.b.${secret}`, `dev_a.b%00.${secret}`];
  const expected = (await ask(control)).statusCode;

  expect(expected).toBe(401);
  expect([(await ask(first)).statusCode, (await ask(second)).statusCode]).toEqual([expected, expected]);
});
