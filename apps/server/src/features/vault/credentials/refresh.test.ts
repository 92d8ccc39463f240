import { describe, expect, test, vi } from 'vitest';
import { actionsOf, entriesOf, grantTo, refusalOf, startSandbox } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { startUpstream } from '../../../../test/app/upstream.ts';
import { exchange, storeCredential, upstream } from '../../../../test/app/vault.ts';
import { limitsCallsOf } from './credentials.rules.ts';
import { isDue, restSeconds } from './refresh.rules.ts';

/** Upstreams of tests are on this machine, and look at the real time. */
const real = () => ({
  env: { VAULT_REFRESH_ALLOW_PRIVATE_HOSTS: 'true' },
  startsAt: new Date().toISOString(),
});

const later = (seconds: number, from = new Date()) => new Date(from.getTime() + seconds * 1000).toISOString();

/** A credential that refreshes itself at an upstream, and a grant for it. */
async function connected(refresh: object, members: object = {}, options: object = {}) {
  const sandbox = await startSandbox({ ...real(), ...options });
  const { acme } = sandbox;
  const tokenExpiresAt = later(30, sandbox.clock());
  const stored = await storeCredential(acme, {
    tokenExpiresAt,
    refreshToken: 'upstream-refresh-1',
    refresh,
    ...members,
  });
  const { grantToken } = await grantTo(acme, { scopes: ['github:read'] });
  const shown = async () => (await acme('GET', `/v1/vault/credentials/${stored.id}`)).json();
  const leaseOf = async () => {
    const row = sandbox.db.selectFrom('vaultCredentials').select('leaseId').where('id', '=', stored.id);
    return (await row.executeTakeFirstOrThrow()).leaseId;
  };
  return { ...sandbox, stored, grantToken, shown, leaseOf };
}

/** An upstream that answers as a test says. */
async function startOddUpstream(status: number, body: string | Buffer) {
  const receiver = await startReceiver();
  receiver.answer((_, response) => void response.writeHead(status).end(body));
  const refresh = { tokenEndpoint: receiver.url, clientId: 'c' };
  return { receiver, refresh };
}

describe('an access token that is about to end', () => {
  test.each(['client_secret_basic', 'client_secret_post', 'none'] as const)(
    'is replaced at the upstream first, by a client that shows itself by %s',
    async (authMethod) => {
      const { connect, refresh, takes, accessTokenOf, calls } = await startUpstream(authMethod);
      const refreshToken = await connect();
      const { acme, service, stored, grantToken, shown } = await connected(refresh, { refreshToken });

      const answer = await exchange(service, grantToken);

      expect(answer.statusCode).toBe(200);
      const { accessToken, tokenExpiresAt } = answer.json();
      expect(await accessTokenOf(accessToken)).toMatchObject({ accountId: 'ada' });
      expect(new Date(tokenExpiresAt).getTime() - service.clock().getTime()).toBe(3600_000);
      expect(await takes(refreshToken)).toBe(false); // used once
      expect(calls).toEqual(['/token']);
      expect(await shown()).toMatchObject({
        id: stored.id,
        refreshStatus: 'ok',
        tokenExpiresAt,
        hasRefreshToken: true,
      });
      const [entry] = await entriesOf(acme, 'vault.credential.refreshed');
      expect(entry?.metadata).toMatchObject({ credentialId: stored.id, service: 'github', tokenExpiresAt });
      const [exchanged] = await entriesOf(acme, 'vault.credential.exchanged');
      expect(exchanged?.metadata.refreshed).toBe(true);
    },
  );

  test('is replaced again by the refresh token that came with it', async () => {
    const { connect, refresh, calls } = await startUpstream();
    const { service, grantToken } = await connected(refresh, { refreshToken: await connect() });
    const first = (await exchange(service, grantToken)).json();
    expect((await exchange(service, grantToken)).json()).toEqual(first);

    service.advance(3550);
    const second = (await exchange(service, grantToken)).json();

    expect(second.accessToken).not.toBe(first.accessToken);
    expect(calls).toEqual(['/token', '/token']);
  });

  test('is replaced once, however many ask at two instances', async () => {
    const { connect, refresh, calls } = await startUpstream();
    const { service, grantToken, acme } = await connected(refresh, { refreshToken: await connect() });
    const twin = await startApp({ ...real(), databaseUrl: service.databaseUrl });

    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, each) => exchange(each % 2 ? service : twin, grantToken)),
    );

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(12).fill(200));
    expect(new Set(answers.map((answer) => answer.json().accessToken)).size).toBe(1);
    expect(answers[0]?.json().accessToken).not.toBe(upstream.accessToken);
    expect(calls).toEqual(['/token']);
    const exchanged = await entriesOf(acme, 'vault.credential.exchanged');
    expect(exchanged.filter(({ metadata }) => metadata.refreshed)).toHaveLength(1);
  });

  test('is given as it is when it has more than the time that the operator sets', async () => {
    const { refresh, calls } = await startUpstream();
    const { service, grantToken } = await connected(refresh, { tokenExpiresAt: later(90) });

    expect((await exchange(service, grantToken)).json().accessToken).toBe(upstream.accessToken);
    expect(calls).toEqual([]);
  });

  test('is not replaced by the answer to a refresh when the credential was stored again meanwhile', async () => {
    const receiver = await startReceiver();
    const { service, acme, grantToken, leaseOf } = await connected({
      tokenEndpoint: receiver.url,
      clientId: 'c',
    });
    receiver.answer((_, response) => {
      storeCredential(acme, { accessToken: 'upstream-newest' }).then(() =>
        response.writeHead(200).end('{"access_token":"upstream-late","token_type":"bearer"}'),
      );
    });

    const answer = await exchange(service, grantToken);

    expect(answer.json().accessToken).toBe('upstream-newest');
    expect(await entriesOf(acme, 'vault.credential.refreshed')).toEqual([]);
    expect(await leaseOf()).toBeNull(); // or the next exchange would wait for nobody
  });

  test.each([
    { status: 200, body: '{"access_token":"upstream-late","token_type":"bearer"}' },
    { status: 503, body: '' },
  ])('belongs to another call that took the lease over, whatever comes late: $status', async (late) => {
    const receiver = await startReceiver();
    const { service, acme, grantToken, db, stored, leaseOf } = await connected({
      tokenEndpoint: receiver.url,
      clientId: 'c',
    });
    receiver.answer((_, response) => {
      const taken = db
        .updateTable('vaultCredentials')
        .set({ leaseId: 'lease_of_another' })
        .where('id', '=', stored.id)
        .execute();
      taken.then(() => response.writeHead(late.status).end(late.body));
    });

    expect((await exchange(service, grantToken)).json().accessToken).toBe(upstream.accessToken);

    expect(await leaseOf()).toBe('lease_of_another');
    expect(await entriesOf(acme, 'vault.credential.refreshed')).toEqual([]);
  });

  test('is replaced as soon as the lease of a lost call has ended', async () => {
    const { connect, refresh, calls } = await startUpstream();
    const { service, grantToken, db } = await connected(refresh, { refreshToken: await connect() });
    const ended = { leaseId: 'lease_of_a_lost_call', leasedUntil: service.clock() };
    await db.updateTable('vaultCredentials').set(ended).execute();

    await exchange(service, grantToken);

    expect(calls).toEqual(['/token']);
  });
});

describe('an upstream that takes the refresh token no longer', () => {
  test('marks the credential once, and its token is given until it ends', async () => {
    const { refresh, calls } = await startUpstream();
    const { acme, service, grantToken, shown } = await connected(refresh, { refreshToken: 'unknown there' });

    const before = await exchange(service, grantToken);
    service.advance(31);
    const afterwards = await exchange(service, grantToken);

    expect(before.json().accessToken).toBe(upstream.accessToken);
    expect(refusalOf(afterwards)).toBe('502 UPSTREAM_ERROR refresh_failed');
    expect(afterwards.json().details).toEqual({ service: 'github', reason: 'refresh_failed' });
    expect(calls).toEqual(['/token']);
    expect(await shown()).toMatchObject({ refreshStatus: 'failed' });
    const [entry] = await entriesOf(acme, 'vault.credential.refresh_failed');
    expect(entry?.metadata).toMatchObject({ service: 'github', error: 'invalid_grant' });
    expect((await storeCredential(acme, { refreshToken: 'new', refresh })).refreshStatus).toBe('ok');
  });

  test.each([
    [400, 'nonsense', 'failed'],
    [401, '', 'failed'],
    [400, '{"error":"invalid_client"}', 'ok'],
    [403, 'nonsense', 'ok'],
    [500, '{"error":"invalid_request"}', 'ok'],
    [302, '', 'ok'],
    [200, 'nonsense', 'ok'],
    [200, '{"access_token":""}', 'ok'],
    [200, '{"access_token":"a","access_token":"b"}', 'ok'],
    [200, `{"access_token":"${'x'.repeat(20_000)}"}`, 'ok'],
    [200, `{"access_token":"a","id_token":"${'x'.repeat(270_000)}"}`, 'ok'],
    [200, '{"ok":false,"error":"invalid_refresh_token"}', 'failed'],
    [200, '{"ok":false,"error":"token_revoked"}', 'failed'],
    [200, '{"error":"bad_refresh_token"}', 'failed'],
    [400, '{"status":"BAD_REFRESH_TOKEN","message":"missing or invalid refresh token"}', 'failed'],
    [403, '{"error":"unauthorized_client","error_description":"refresh_token is invalid"}', 'failed'],
    [400, '{"error":"interaction_required","suberror":"basic_action"}', 'failed'],
    [400, '{"error":"consent_required"}', 'failed'],
    [401, '{"error":"invalid_token"}', 'failed'],
    [200, '{"error":"incorrect_client_credentials"}', 'ok'],
    [200, '{"ok":false,"error":"bad_client_secret"}', 'ok'],
    [200, '{"token_type":"Bearer"}', 'ok'],
  ])('agents 25, 26, 28, 33, 34: is told by status %i and %s: %s', async (status, body, refreshStatus) => {
    const { refresh, receiver } = await startOddUpstream(status, body);
    const { acme, service, grantToken, shown } = await connected(refresh, {
      tokenExpiresAt: '2020-01-01T00:00:00Z',
    });

    const refused = await exchange(service, grantToken);

    expect(refusalOf(refused)).toBe('502 UPSTREAM_ERROR refresh_failed');
    expect(refused.body).not.toContain('nonsense');
    expect(refusalOf(await exchange(service, grantToken))).toBe('502 UPSTREAM_ERROR refresh_failed');
    expect(receiver.received).toHaveLength(1);
    expect((await shown()).refreshStatus).toBe(refreshStatus);
    expect((await actionsOf(acme)).includes('vault.credential.refresh_failed')).toBe(
      refreshStatus === 'failed',
    );
  });

  test('agents K3: is asked again after a rest when it only failed', async () => {
    const { refresh, receiver } = await startOddUpstream(503, '');
    const { service, grantToken } = await connected(refresh, { tokenExpiresAt: '2020-01-01T00:00:00Z' });
    expect((await exchange(service, grantToken)).json().details).toEqual({
      ...{ service: 'github', reason: 'refresh_failed', retryAfter: 2 },
    });
    expect((await exchange(service, grantToken)).statusCode).toBe(502);
    expect(receiver.received).toHaveLength(1);
    service.advance(2);
    receiver.answer((_, response) => void response.end('{"access_token":"upstream-2","expires_in":60.5}'));

    const answer = await exchange(service, grantToken);

    expect(answer.json()).toMatchObject({
      accessToken: 'upstream-2',
      tokenExpiresAt: new Date(service.clock().getTime() + 60_500).toISOString(),
    });
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[0]?.body).toBe(
      'grant_type=refresh_token&refresh_token=upstream-refresh-1&client_id=c',
    );
  });
});

describe('agents K4: an answer with new tokens', () => {
  const page = 'text/html; charset=UTF-8';
  const form = 'application/x-www-form-urlencoded; charset=utf-8';
  test.each([
    ['agents 31: as a form', 200, form, 'access_token=upstream-2&expires_in=3600&token_type=bearer', 3600],
    [
      'agents 32: under the type of a page',
      200,
      page,
      '{"access_token":"upstream-2","expires_in":3600}',
      3600,
    ],
    [
      'with seconds as a text',
      200,
      'application/json',
      '{"access_token":"upstream-2","expires_in":"3600"}',
      3600,
    ],
    ['with 201', 201, 'application/json', '{"access_token":"upstream-2","expires_in":60}', 60],
    [
      'with a byte-order mark',
      200,
      'application/json',
      '\ufeff{"access_token":"upstream-2","expires_in":60}',
      60,
    ],
    ['agents 30: with no end', 200, 'application/json', '{"access_token":"upstream-2","expires_in":0}', null],
    [
      ...['with a long ID token', 200, 'application/json'],
      ...[`{"access_token":"upstream-2","expires_in":60,"id_token":"${'x'.repeat(200_000)}"}`, 60],
    ],
  ] as const)('%s is taken', async (_, status, type, body, seconds) => {
    const receiver = await startReceiver();
    receiver.answer(
      (_request, response) => void response.writeHead(status, { 'content-type': type }).end(body),
    );
    const refresh = { tokenEndpoint: receiver.url, clientId: 'c' };
    const { service, grantToken } = await connected(refresh, { tokenExpiresAt: '2020-01-01T00:00:00Z' });

    const answer = await exchange(service, grantToken);

    expect(answer.json()).toMatchObject({
      accessToken: 'upstream-2',
      tokenExpiresAt:
        seconds === null ? null : new Date(service.clock().getTime() + seconds * 1000).toISOString(),
    });
  });

  test('keeps the refresh token when the new one is empty', async () => {
    const { refresh, receiver } = await startOddUpstream(
      200,
      '{"access_token":"upstream-2","expires_in":60,"refresh_token":""}',
    );
    const { service, grantToken } = await connected(refresh);

    for (const _ of [1, 2]) {
      expect((await exchange(service, grantToken)).json().accessToken).toBe('upstream-2');
      service.advance(30);
    }

    expect(receiver.received.map(({ body }) => new URLSearchParams(body).get('refresh_token'))).toEqual([
      'upstream-refresh-1',
      'upstream-refresh-1',
    ]);
  });

  test('without an end counts as long as the credential says', async () => {
    const { refresh, receiver } = await startOddUpstream(200, '{"access_token":"upstream-2"}');
    const { service, grantToken } = await connected({ ...refresh, tokenLifetimeSeconds: 3600 });
    const first = (await exchange(service, grantToken)).json();
    expect(first.tokenExpiresAt).toBe(new Date(service.clock().getTime() + 3600_000).toISOString());

    service.advance(3541);
    await exchange(service, grantToken);

    expect(receiver.received).toHaveLength(2);
  });
});

test('agents K9: an upstream that says when is asked then, and not before', async () => {
  const receiver = await startReceiver();
  receiver.answerStatus(429, { 'retry-after': '600' });
  const { service, grantToken, shown } = await connected(
    { tokenEndpoint: receiver.url, clientId: 'c' },
    { tokenExpiresAt: '2020-01-01T00:00:00Z' },
  );
  expect((await exchange(service, grantToken)).json().details.retryAfter).toBe(600);
  service.advance(599);
  expect((await exchange(service, grantToken)).json().details.retryAfter).toBe(1);
  expect(receiver.received).toHaveLength(1);
  receiver.answer((_, response) => void response.end('{"access_token":"upstream-2","expires_in":3600}'));

  service.advance(1);

  expect((await exchange(service, grantToken)).json().accessToken).toBe('upstream-2');
  expect(receiver.received).toHaveLength(2);
  expect((await shown()).refreshStatus).toBe('ok');
});

test('agents K3: a credential that is stored again asks its upstream at once', async () => {
  const receiver = await startReceiver();
  receiver.answerStatus(429, { 'retry-after': '600' });
  const refresh = { tokenEndpoint: receiver.url, clientId: 'c' };
  const members = { refreshToken: 'r', refresh, tokenExpiresAt: '2020-01-01T00:00:00Z' };
  const { acme, service, grantToken } = await connected(refresh, members);
  await exchange(service, grantToken);
  receiver.answer((_, response) => void response.end('{"access_token":"upstream-2","expires_in":3600}'));

  await storeCredential(acme, members);

  expect((await exchange(service, grantToken)).json().accessToken).toBe('upstream-2');
});

describe('V7: a token endpoint', () => {
  test.each([
    ['at loopback', 'https://127.0.0.1/token'],
    ['at a private address', 'https://10.0.0.7/token'],
    ['at the metadata of a cloud', 'https://169.254.169.254/latest'],
    ['under a private name', 'https://tokens.internal/'],
    ['without TLS', 'http://github.com/token'],
    ['with a password', 'https://a:b@github.com/token'],
    ['with a fragment', 'https://github.com/token#a'],
    ['which is no URL', 'github.com/token'],
  ])('%s is refused', async (_, url) => {
    const { acme } = await startSandbox();
    const good = { tokenEndpoint: 'https://github.com/token', clientId: 'c' };
    const ask = (refresh: object) =>
      acme('POST', '/v1/vault/credentials', { ...upstream, refreshToken: 'r', refresh });

    for (const name of ['tokenEndpoint', 'revocationEndpoint']) {
      const refused = await ask({ ...good, [name]: url });
      expect(refused.json().details.fields).toEqual([{ path: `refresh.${name}`, problem: 'not_allowed' }]);
      expect(refused.body).not.toContain(url);
    }
    expect((await ask(good)).statusCode).toBe(201);
  });

  test('is not called when it leads to a private address later', async () => {
    const receiver = await startReceiver();
    const { service, acme, grantToken } = await connected({ tokenEndpoint: receiver.url, clientId: 'c' });
    const strict = await startApp({ databaseUrl: service.databaseUrl, startsAt: later(60, service.clock()) });

    expect((await exchange(strict, grantToken)).statusCode).toBe(502);
    expect(receiver.received).toEqual([]);
    expect(await entriesOf(acme, 'vault.credential.refresh_failed')).toEqual([]);
  });

  test.each([
    ['without a refresh token', { refreshToken: null }, {}, 'refreshToken'],
    ['with a method that needs a secret', {}, { authMethod: 'client_secret_post' }, 'refresh.clientSecret'],
    ['with an unknown member', {}, { resource: 'x' }, 'refresh.resource'],
  ])('is refused %s', async (_, members, settings, field) => {
    const { acme } = await startSandbox();
    const refresh = { tokenEndpoint: 'https://github.com/token', clientId: 'c', ...settings };

    const refused = await acme('POST', '/v1/vault/credentials', {
      ...upstream,
      refreshToken: 'r',
      refresh,
      ...members,
    });

    expect(refused.json().details.fields[0].path).toBe(field);
  });
});

describe('deleting a credential', () => {
  test('revokes its refresh token at the upstream', async () => {
    const { connect, refresh, takes } = await startUpstream();
    const refreshToken = await connect();
    const { acme, stored } = await connected(refresh, { refreshToken });

    expect((await acme('DELETE', `/v1/vault/credentials/${stored.id}`)).statusCode).toBe(204);

    await vi.waitFor(async () => expect(await takes(refreshToken)).toBe(false));
  });

  test('succeeds when the upstream fails, which is logged', async () => {
    const { receiver, refresh } = await startOddUpstream(500, 'upstream-refresh-1');
    const { acme, stored, logLines } = await connected(
      { ...refresh, revocationEndpoint: `${receiver.url}?key=upstream-key-1` },
      {},
      { logLevel: 'info' },
    );

    expect((await acme('DELETE', `/v1/vault/credentials/${stored.id}`)).statusCode).toBe(204);

    await vi.waitFor(() => expect(logLines.join('')).toContain('did not revoke'));
    expect(logLines.join('')).not.toMatch(/upstream-(refresh|key)-1/);
  });
});

test('no secret of a refresh is in an entry, an event or the log', async () => {
  const { connect, refresh } = await startUpstream();
  const refreshToken = await connect();
  const { acme, service, grantToken, logLines } = await connected(
    refresh,
    { refreshToken },
    { logLevel: 'debug' },
  );

  const { accessToken } = (await exchange(service, grantToken)).json();

  const entries = (await acme('GET', '/v1/audit/entries?limit=500')).body;
  const events = (await acme('GET', '/v1/events')).body;
  const rows = JSON.stringify(await service.db.selectFrom('vaultCredentials').selectAll().execute());
  for (const secret of [accessToken, refreshToken, upstream.accessToken, 'secret of the client']) {
    for (const text of [entries, events, rows, logLines.join('')]) expect(text).not.toContain(secret);
  }
});

describe('the rules', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

  describe('an access token', () => {
    test.each([
      { after: 59_999, due: true },
      { after: 60_000, due: false },
    ])('is due $after ms before its end, where the skew is a minute: $due', ({ after, due }) => {
      expect(isDue(later(after), now, 60)).toBe(due);
    });
  });

  test('agents K3: an upstream that fails is asked again after twice the time, up to five minutes, or when it says', () => {
    expect([1, 2, 3, 8, 9, 40].map((failures) => restSeconds(failures, undefined))).toEqual([
      ...[2, 4, 8, 256, 300, 300],
    ]);
    expect(restSeconds(1, 600)).toBe(600);
  });

  test('an entry that only counts for the whole lineage limits the calls of its connector', () => {
    const lineage = [{ type: 'urn:service:caps-lineage:v1', connector: 'github' }];

    expect(limitsCallsOf('GitHub', lineage)).toBe(true);
    expect(limitsCallsOf('slack', lineage)).toBe(false);
  });
});
