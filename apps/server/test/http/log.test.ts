import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect, test, vi } from 'vitest';
import { startCollector } from '../app/collector.ts';
import { pkce } from '../app/flow.ts';
import { startMailServer } from '../app/mail-server.ts';
import { linkParts, newVoucher } from '../app/person.ts';
import { startReceiver } from '../app/receiving.ts';
import { execute } from '../servers/postgres.ts';
import { goodSettings, startServer } from '../servers/start-server.ts';

vi.setConfig({ testTimeout: 120_000 }); // a process takes seconds to start on a machine that is busy

const newSecret = () => randomBytes(32).toString('base64url');

type Headers = Readonly<Record<string, string>>;

function speakingTo(url: string) {
  /** @throws the answer, when its status is not the expected one */
  return async (expected: number, route: string, body?: object | string, headers: Headers = {}) => {
    const [method = '', path = ''] = route.split(' ');
    const isJson = body !== undefined && { 'content-type': 'application/json' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(url + path, {
      method,
      headers: { ...isJson, ...headers },
      ...(text !== undefined && { body: text }),
    });
    const answered = await answer.text();
    if (answer.status !== expected) throw new Error(`${route}: ${answer.status} ${answered}`);
    const [cookie = ''] = answer.headers.getSetCookie().map((each) => each.split(';')[0]);
    return { ...(answered.startsWith('{') && JSON.parse(answered)), cookie };
  };
}

/** From signing up to a refused refresh, with a person who reads their mail; returns every secret. */
async function wholeFlow(
  url: string,
  receiverUrl: string,
  mailed: Readonly<Record<'link' | 'code', () => string>>,
) {
  const ask = speakingTo(url);
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const { apiKey, developerId } = await ask(201, 'POST /v1/signup', { name: 'Acme' });
  const made = await ask(201, 'POST /v1/keys', { name: 'backend' }, bearer(apiKey));
  const rotated = await ask(200, 'POST /v1/keys/rotate', {}, bearer(made.apiKey));
  const key = bearer(rotated.apiKey);
  await ask(201, 'POST /v1/signup/verify', { email: 'acme@example.org' }, key);
  const linkToken = mailed.link();
  await ask(200, `GET /v1/signup/verify/${linkToken}`, undefined, { accept: 'application/json' });
  await ask(200, `POST /v1/signup/verify/${linkToken}`);
  const voucher = await newVoucher();
  const redirectUri = 'https://app.test/back';
  const settings = { redirectUris: [redirectUri], consentMode: 'email', consentKeys: [voucher.jwk] };
  await ask(200, 'PATCH /v1/me', settings, key);
  const hook = await ask(201, 'POST /v1/webhooks', { url: receiverUrl, events: ['*'] }, key);
  const rotatedHook = await ask(200, `POST /v1/webhooks/${hook.id}/rotate-secret`, {}, key);
  const { agentId } = await ask(201, 'POST /v1/agents', { name: 'Booker' }, key);

  const { codeVerifier, asked } = pkce();
  const request = { agentId, principalId: 'user_42', scopes: ['calendar:read'], redirectUri, ...asked };
  const { consentUrl, principalId } = await ask(201, 'POST /v1/authorize', request, key);
  const { id, ticket } = linkParts(consentUrl);
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: developerId, aud: new URL(consentUrl).origin, sub: principalId, areq: id };
  const hint = await voucher.hint({ ...claims, iat, exp: iat + 300, email: 'ada@example.org' });
  const own = { origin: new URL(consentUrl).origin, 'sec-fetch-site': 'same-origin' };
  const opened = await ask(200, `POST /v1/consent/${id}/session`, { ticket, hint }, own);
  const { csrfToken, cookie } = opened;
  const page = { ...own, cookie, 'x-csrf-token': csrfToken };
  await ask(201, `POST /v1/consent/${id}/email`, undefined, page);
  const mailedCode = mailed.code();
  await ask(200, `POST /v1/consent/${id}/email/verify`, { code: mailedCode }, page);
  const { code } = await ask(200, `POST /v1/consent/${id}/approve`, {}, page);

  const exchange = { code, agentId, redirectUri, codeVerifier };
  const issued = await ask(201, 'POST /v1/token', exchange, key);
  const refresh = { refreshToken: issued.refreshToken, agentId };
  const refreshed = await ask(201, 'POST /v1/token/refresh', refresh, key);
  await ask(200, 'POST /v1/tokens/verify', { token: refreshed.grantToken }, key);
  await ask(400, 'POST /v1/token', exchange, key); // a second time
  const session = await ask(201, 'POST /v1/principal-sessions', { principalId: 'user_42' }, key);
  await ask(200, 'GET /v1/principal/grants', undefined, bearer(session.sessionToken));
  expect(decodeJwt(issued.grantToken).sub).toBe('user_42');
  return {
    key,
    agentId,
    secrets: {
      ...{ apiKey, madeKey: made.apiKey, rotatedKey: rotated.apiKey },
      ...{ webhookSecret: hook.secret, nextWebhookSecret: rotatedHook.secret },
      ...{ sessionToken: session.sessionToken },
      ...{ ticket, hint, csrfToken, cookie, mailedCode, linkToken, code, codeVerifier },
      ...{ grantToken: issued.grantToken, refreshToken: issued.refreshToken },
      ...{ nextGrantToken: refreshed.grantToken, nextRefreshToken: refreshed.refreshToken },
    },
  };
}

/**
 * Finds the end of a long secret, which is its secret part, and a short one only outside of other numbers.
 */
function holds(text: string, secret: string): boolean {
  return secret.length < 16 ? new RegExp(`\\b${secret}\\b`).test(text) : text.includes(secret.slice(-30));
}

test('L1: the real process writes no secret to its log at level debug, and sends none with its spans', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const password = newSecret();
  const [mail, receiver, collector] = await Promise.all([
    startMailServer({ user: 'behest', password }),
    startReceiver(),
    startCollector(),
  ]);
  const endpoint = newSecret(); // an address may hold one, too
  const { settings, url } = await goodSettings();
  const given = {
    VAULT_ENCRYPTION_KEY: newSecret(),
    SEED_API_KEY: newSecret(),
    SEED_SANDBOX_KEY: newSecret(),
    METRICS_TOKEN: newSecret(),
  };
  const further = { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true', RSA_PRIVATE_KEY: pem, LOG_LEVEL: 'debug' };
  const env = { ...settings, ...given, ...mail.env, ...collector.env };
  const server = startServer({ ...env, ...further });
  await server.ready();
  const inMail = (pattern: RegExp) => () => pattern.exec(mail.lines.join('\n'))?.[1] ?? '';
  const mailed = { link: inMail(/verify\/([\w-]{43})/), code: inMail(/^ {4}(\d{8})$/m) };

  const { key, agentId, secrets } = await wholeFlow(url, `${receiver.url}?${endpoint}`, mailed);
  const ask = speakingTo(url);
  // Places where secrets do not belong: addresses, unreadable bodies, and requests that fail.
  for (const secret of Object.values(secrets)) {
    const text = encodeURIComponent(secret);
    await ask(404, `GET /v1/agents/${text}`, undefined, key);
    await ask(400, `GET /v1/agents?token=${text}`, undefined, key);
    await ask(404, `GET /v1/nowhere/${text}`);
    await ask(401, 'GET /v1/me', undefined, { authorization: `Bearer ${secret}.` });
    await ask(400, 'POST /v1/tokens/verify', `{"token": "${secret}`, key);
    await ask(400, 'POST /v1/tokens/verify', { token: secret, [secret]: secret }, key);
  }
  await execute(settings.DATABASE_URL, 'alter table refresh_tokens rename to others');
  await ask(500, 'POST /v1/token/refresh', { refreshToken: secrets.nextRefreshToken, agentId }, key);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(2);
  server.child.kill('SIGTERM');
  const { code: exitCode, lines } = await server.exited;

  expect(exitCode).toBe(0);
  expect(lines.filter(({ msg }) => msg === 'request').length).toBeGreaterThan(80);
  expect(lines.filter(({ msg }) => msg === 'request failed')).toHaveLength(1);
  const spans = collector.spans();
  const kinds = new Set(spans.map(({ name }) => name));
  for (const name of ['smtp send', 'http POST', 'webhook claim', 'webhook delivery'])
    expect(kinds).toContain(name);
  const detached = spans.filter(({ name }) => name.startsWith('webhook '));
  expect(detached.filter(({ parentSpanId }) => parentSpanId)).toEqual([]); // no request waits for them
  expect(mail.lines.join()).toContain(secrets.mailedCode);
  const text = { log: server.output.join(''), spans: collector.bodies.join('\n') };
  expect(text.log).toContain('"level":"error"');
  const all = { ...secrets, ...given, endpoint, password, pem: pem.replaceAll('\n', '').slice(100, 200) };
  for (const [name, secret] of Object.entries(all)) {
    expect(secret, name).toMatch(/^[\x21-\x7e]{8,}$/);
    for (const [where, what] of Object.entries(text)) {
      expect(holds(what, secret), `${name} in ${where}`).toBe(false);
    }
  }
});

test('a log reader that pauses holds up no answer, and gets every line when it continues', async () => {
  const { settings, url } = await goodSettings();
  const server = startServer(settings);
  await server.ready();
  // Many times the room of a pipe and of the reader's own buffer.
  const ids = Array.from({ length: 1200 }, (_, at) => `${at}-${'x'.repeat(50)}`);

  server.child.stdout.pause();
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50);
    await Promise.all(
      some.map(async (id) => (await fetch(`${url}/livez`, { headers: { 'x-request-id': id } })).text()),
    );
  }
  server.child.kill('SIGTERM');
  server.child.stdout.resume();
  const { code, lines } = await server.exited;

  expect(code).toBe(0);
  const written = lines.filter(({ msg }) => msg === 'request');
  expect(written).toHaveLength(ids.length);
  expect(new Set(written.map(({ reqId }) => reqId))).toEqual(new Set(ids));
});
