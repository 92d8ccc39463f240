import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basic, newClient, pkceLink, REDIRECT } from '../../../../test/app/oauth.ts';
import { newServer, sendForm } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

/** A client asks once in a minute, and all clients of a developer together twelve times. */
const TWELVE = Array.from({ length: 12 }, (_, at) => at + 1);

let service: Service;
beforeAll(async () => {
  const env = { RATE_LIMIT_OAUTH_AUTHORIZE: '1', RATE_LIMIT_OAUTH_REVOKE: '2', PLAN_FREE_AGENTS: '100' };
  service = await startApp({ env, store: 'memory', isShared: true });
});
afterAll(() => service.stop());

const addressOf = (number: number) => `192.0.2.${number}`;

const send = async (
  path: string,
  form: Record<string, string>,
  { from = 1, headers = {} }: { readonly from?: number; readonly headers?: Record<string, string> } = {},
) => {
  const more = { headers, remoteAddress: addressOf(from) };
  const { statusCode, body } = await sendForm(service, path, form, more);
  return { status: statusCode, body: body === '' ? {} : JSON.parse(body) };
};

const formOf = async (clientId: string) =>
  Object.fromEntries(new URL((await pkceLink(clientId)).link).searchParams);

const follow = async (form: Record<string, string>, from: number) => {
  const url = `/oauth/authorize?${new URLSearchParams(form)}`;
  const remoteAddress = addressOf(from);
  return (await service.app.inject({ url, remoteAddress, headers: { accept: 'text/html' } })).statusCode;
};

async function publicClient() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  return { acme, clientId };
}

describe('the clients of a developer ask twelve times as often together as one of them', () => {
  test('by links', async () => {
    const { clientId } = await publicClient();
    const stranger = await publicClient();
    const form = await formOf(clientId);

    const answers = [];
    for (const from of TWELVE) answers.push(await follow(form, from));

    expect(answers).toEqual(Array(12).fill(303));
    expect(await follow(form, 13)).toBe(429);
    expect(await follow(await formOf(stranger.clientId), 13)).toBe(303); // a client of another developer
  });

  test('by pushes of clients that prove nothing, which leave those of proved clients alone', async () => {
    const { acme, clientId } = await publicClient();
    const proved = await newClient(acme);
    const [form, own] = [await formOf(clientId), await formOf(proved.clientId)];
    const guesses = [];
    for (const from of [...TWELVE, 13]) {
      const headers = basic(proved.clientId, 'wrong');
      guesses.push((await send('par', own, { from, headers })).status);
    }

    const pushed = [];
    for (const from of TWELVE) pushed.push(await send('par', form, { from }));

    expect(guesses).toEqual(Array(13).fill(401)); // guesses at a secret take nothing from the developer
    expect(pushed.map(({ status }) => status)).toEqual(Array(12).fill(201));
    expect((await send('par', form, { from: 13 })).status).toBe(429);
    const headers = basic(proved.clientId, proved.clientSecret);
    expect((await send('par', own, { headers })).status).toBe(201);
    const [first] = pushed;
    const uri = String(first?.body.request_uri);
    expect(await follow({ client_id: clientId, request_uri: uri }, 20)).toBe(303); // it was counted when it was pushed
  });

  test('by pushes of proved clients, each counted by itself too', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const push = async ({ clientId, clientSecret }: Awaited<ReturnType<typeof newClient>>, from: number) =>
      (await send('par', await formOf(clientId), { from, headers: basic(clientId, clientSecret) })).status;
    const first = await newClient(acme);

    const answers = [await push(first, 1), await push(first, 2)];
    for (const from of TWELVE.slice(1)) answers.push(await push(await newClient(acme), from));

    expect(answers).toEqual([201, 429, ...Array(11).fill(201)]);
    expect(await push(await newClient(acme), 14)).toBe(429);
    const other = await service.asDeveloper({ mode: 'sandbox' });
    expect(await push(await newClient(other), 14)).toBe(201);
  });

  test('by pushes of a client that registered itself, at the developer whom it asks', async () => {
    const [acme, other] = [
      await newServer(await service.asDeveloper({ mode: 'sandbox' })),
      await newServer(await service.asDeveloper({ mode: 'sandbox' })),
    ];
    const registered = await service.app.inject({
      ...{ method: 'POST', url: '/oauth/register' },
      payload: { redirect_uris: [REDIRECT] },
    });
    const form = await formOf(String(registered.json().client_id));
    const push = async (resource: string, from: number) =>
      (await send('par', { ...form, resource }, { from })).status;

    const answers = [];
    for (const from of TWELVE) answers.push(await push(acme.resource, from));

    expect(answers).toEqual(Array(12).fill(201));
    expect(await push(acme.resource, 13)).toBe(429);
    expect(await push(other.resource, 14)).toBe(201);
  });
});

test('a revocation is counted for a client that proves itself, and for any other with its address', async () => {
  const { acme, clientId } = await publicClient();
  const proved = await newClient(acme);
  const open = async (from: number) =>
    (await send('revoke', { token: 'x', client_id: clientId }, { from })).status;
  const closed = async (secret: string | undefined, from = 1) =>
    (await send('revoke', { token: 'x' }, { from, headers: basic(proved.clientId, secret) })).status;

  expect([await open(1), await open(1), await open(1), await open(2)]).toEqual([200, 200, 429, 200]);
  expect([await closed('x'), await closed('x'), await closed('x')]).toEqual([401, 401, 429]);
  const right = [await closed(proved.clientSecret), await closed(proved.clientSecret, 2)];
  expect([...right, await closed(proved.clientSecret, 3)]).toEqual([200, 200, 429]);
});
