import { Behest, type BehestEvent, type Gap, generatePkce } from '@behest/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { streamEvents } from '../../packages/sdk/src/client/live-events.ts';

const REDIRECT = 'http://localhost/callback';
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const SCOPES = ['calendar:read', 'calendar:write'];

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

/** An agent that is an OAuth client with a secret, and the clients of the SDK with and without the key of its account. */
async function newOAuthClient() {
  const { apiKey, developerId } = await Behest.signup(
    { name: 'Acme', mode: 'sandbox' },
    { baseUrl: service.url },
  );
  const account = new Behest({ apiKey, baseUrl: service.url, maxRetries: 0 });
  const agent = await account.agents.register({ name: 'Reader', scopes: SCOPES });
  const { clientSecret } = await account.oauth.putClient(agent.id, {
    redirectUris: [REDIRECT],
    authMethod: 'client_secret_post',
  });
  const { oauth } = new Behest({ apiKey: null, baseUrl: service.url, developerId, maxRetries: 0 });
  return { account, oauth, client: { client_id: agent.id, client_secret: String(clientSecret) } };
}

test('a pushed request becomes tokens, which are introspected, delegated and given back', async () => {
  const { account, oauth, client } = await newOAuthClient();
  const { codeVerifier, codeChallenge } = generatePkce();

  const { authorization_endpoint: door, issuer } = await oauth.metadata();
  const { request_uri: pushed } = await oauth.par({
    ...{ ...client, response_type: 'code', redirect_uri: REDIRECT, scope: SCOPES.join(' '), state: 's1' },
    ...{ code_challenge: codeChallenge, code_challenge_method: 'S256', principal_id: 'user_42' },
  });
  const query = new URLSearchParams({ client_id: client.client_id, request_uri: pushed });
  const sent = await fetch(`${door}?${query}`, { redirect: 'manual' });
  const { searchParams } = new URL(sent.headers.get('location') ?? '');
  const tokens = await oauth.token({
    ...{ ...client, grant_type: 'authorization_code', redirect_uri: REDIRECT },
    ...{ code: String(searchParams.get('code')), code_verifier: codeVerifier },
  });
  const refreshed = await oauth.token({
    ...{ ...client, grant_type: 'refresh_token', scope: 'calendar:read' },
    refresh_token: String(tokens.refresh_token),
  });
  const other = await account.agents.register({ name: 'Helper', scopes: SCOPES });
  const { clientSecret } = await account.oauth.putClient(other.id, {
    redirectUris: [REDIRECT],
    authMethod: 'client_secret_post',
  });
  const part = await oauth.exchange({
    ...{ client_id: other.id, client_secret: String(clientSecret) },
    ...{ subject_token: tokens.access_token, scope: 'calendar:read' },
  });

  expect(searchParams.get('iss')).toBe(issuer);
  expect(tokens).toMatchObject({ token_type: 'Bearer', scope: SCOPES.join(' ') });
  expect(refreshed.scope).toBe('calendar:read');
  expect(part).toMatchObject({
    scope: 'calendar:read',
    issued_token_type: expect.stringContaining('access_token'),
  });
  const token = part.access_token;
  expect(await account.oauth.introspect({ token })).toMatchObject({
    active: true,
    client_id: other.id,
    sub: 'user_42',
  });
  expect(await oauth.introspect({ ...client, token: tokens.access_token })).toMatchObject({ active: true });
  await oauth.revoke({ ...client, token: String(refreshed.refresh_token) });
  expect(await account.oauth.introspect({ token })).toEqual({ active: false });
});

test('a device asks, and errors have the names of the standards', async () => {
  const { oauth, client } = await newOAuthClient();

  const asked = await oauth.device({ ...client, scope: 'calendar:read' });

  expect(asked).toMatchObject({ user_code: expect.stringMatching(/^\w{4}-\w{4}$/), interval: 5 });
  const poll = oauth.token({ ...client, grant_type: DEVICE_CODE, device_code: asked.device_code });
  await expect(poll).rejects.toMatchObject({ statusCode: 400, code: 'authorization_pending' });
  const stranger = oauth.introspect({ client_id: client.client_id, client_secret: 'wrong', token: 'x' });
  await expect(stranger).rejects.toMatchObject({ statusCode: 401, code: 'invalid_client' });
});

test('a person whom the client names decides elsewhere, and the client polls for the tokens', async () => {
  const { account, oauth, client } = await newOAuthClient();
  const ask = (principalId: string) =>
    oauth.backchannel({
      ...{ ...client, scope: 'calendar:read', login_hint: principalId },
      ...{ binding_message: 'Order 4711', requested_expiry: 120 },
    });
  const requestOf = async (principalId: string) => {
    const { entries } = await account.audit.list({ principalId });
    return String(Object(entries[0]?.metadata).authRequestId);
  };
  const [granted, denied] = [await ask('ada'), await ask('bob')];
  await account.authorizations.approve(await requestOf('ada'));
  await account.authorizations.deny(await requestOf('bob'));

  const tokens = await oauth.poll({ ...granted, interval: 0 }, client);

  expect(granted).toMatchObject({ expires_in: 120, interval: 5 });
  expect(await account.oauth.introspect({ token: tokens.access_token })).toMatchObject({ sub: 'ada' });
  await expect(oauth.poll({ ...denied, interval: 0 }, client)).rejects.toMatchObject({
    statusCode: 400,
    code: 'access_denied',
  });
});

beforeAll(async () => {
  service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

/** A client with the way to its service, which a test cuts. */
async function newClient() {
  const { apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  const way = { streams: 0, asked: [] as (string | null)[], cut: new AbortController() };
  const send = async (url: string, init: RequestInit) => {
    if (!url.includes('/v1/events/stream')) return fetch(url, init);
    way.asked.push(new Headers(init.headers).get('last-event-id'));
    way.cut = new AbortController();
    const signal = AbortSignal.any([way.cut.signal, ...(init.signal ? [init.signal] : [])]);
    const answer = await fetch(url, { ...init, signal });
    way.streams += 1;
    return answer;
  };
  const behest = new Behest({ apiKey, baseUrl: service.url, fetch: send });
  return { behest, way, connection: { baseUrl: service.url, fetch: send, key: { apiKey } } };
}

const typesOf = (events: readonly (BehestEvent | Gap)[]) => events.map(({ type }) => type);

test('events are handed over, and those of a break come after it', async () => {
  const { behest, way, connection } = await newClient();
  const heard: (BehestEvent | Gap)[] = [];
  const ending = new AbortController();
  const follow = async () => {
    const options = { types: ['agent.*'], signal: ending.signal };
    for await (const event of streamEvents(connection, options, async () => undefined)) heard.push(event);
  };
  const following = follow();
  await vi.waitUntil(() => way.streams === 1);

  const { id } = await behest.agents.register({ name: 'Travel booker' });
  await vi.waitUntil(() => heard.length === 1, 10_000);
  way.cut.abort();
  await behest.agents.suspend(id);
  await vi.waitUntil(() => heard.length === 2, 10_000);
  ending.abort();
  await following;

  expect(typesOf(heard)).toEqual(['agent.created', 'agent.suspended']);
  expect(way.asked.slice(0, 2)).toEqual([null, Object(heard[0]).id]);
});

test('a break before the first event is told as a gap', async () => {
  const { way, connection } = await newClient();
  const events = streamEvents(connection, {}, async () => undefined);

  const next = events.next();
  await vi.waitUntil(() => way.streams === 1);
  way.cut.abort();

  expect((await next).value).toEqual({ type: 'gap', data: { cursor: null } });
  await events.return(undefined);
});

test('errors of a handler reach the program, and the subscription goes on', async () => {
  const { behest, way } = await newClient();
  const errors: unknown[] = [];
  const heard: string[] = [];
  const subscription = behest.events.subscribe(
    ({ type }) => {
      heard.push(type);
      if (heard.length === 1) throw new Error('not yet');
    },
    { types: 'agent.*', onError: (error) => errors.push(error) },
  );
  await vi.waitUntil(() => way.streams === 1);

  const { id } = await behest.agents.register({ name: 'Travel booker' });
  await vi.waitUntil(() => heard.length === 1, 10_000);
  await behest.agents.suspend(id);
  await vi.waitUntil(() => heard.length === 2, 10_000);
  subscription.unsubscribe();
  await subscription.done;

  expect(errors).toEqual([new Error('not yet')]);
});

test('a refusal for good ends the subscription with its error', async () => {
  const { behest } = await newClient();

  await expect(behest.events.subscribe(() => undefined, { types: 'nonsense.' }).done).rejects.toMatchObject({
    ...{ name: 'BehestValidationError', statusCode: 400 },
  });
  const stranger = new Behest({ apiKey: 'bh_test_nobody', baseUrl: service.url });
  await expect(stranger.events.stream().next()).rejects.toMatchObject({ statusCode: 401 });
});
