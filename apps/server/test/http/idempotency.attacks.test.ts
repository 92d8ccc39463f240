import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  pkce,
  refusalOf,
  registerAgent,
  startSandbox,
} from '../app/flow.ts';
import { type Sent, send } from '../app/repeating.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';

let service: Service;
let acme: Developer;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});
beforeEach(async () => {
  acme = await service.asDeveloper({ mode: 'sandbox' });
});

const ask = (sent: Partial<Sent> = {}) => send(service, { apiKey: acme.apiKey, ...sent });
const isReplayed = ({ headers }: { headers: object }) => 'idempotency-replayed' in headers;
const keysOf = async (developer: Developer) => (await developer('GET', '/v1/keys')).json().keys;

async function anotherKey(role: 'full' | 'runtime'): Promise<string> {
  return (await acme('POST', '/v1/keys', { name: 'other', role })).json().apiKey;
}

describe('I18: the `Idempotency-Key` of one API key, sent by another key of the same developer', () => {
  test.each(['full', 'runtime'] as const)(
    'rotates the %s key that sent it, and shows no other',
    async (role) => {
      const apiKey = await anotherKey(role);
      const rotate = { url: '/v1/keys/rotate', body: { graceSeconds: 300 } };

      const first = await ask(rotate);
      const second = await ask({ ...rotate, apiKey });

      expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
      expect(isReplayed(second)).toBe(false);
      expect(second.json().apiKey).not.toBe(first.json().apiKey);
      expect((await ask(rotate)).body).toBe(first.body);
      expect((await ask({ ...rotate, apiKey })).body).toBe(second.body);
    },
  );

  test('finds nothing with the successor by rotation, which is rotated in its turn', async () => {
    const rotate = { url: '/v1/keys/rotate', body: { graceSeconds: 300 } };
    const first = await ask(rotate);

    const second = await ask({ ...rotate, apiKey: first.json().apiKey });

    expect([second.statusCode, isReplayed(second)]).toEqual([200, false]);
    expect(second.json().apiKey).not.toBe(first.json().apiKey);
  });

  test('makes another new key', async () => {
    const make = { url: '/v1/keys', body: { name: 'agent host', role: 'runtime' } };
    const apiKey = await anotherKey('full');

    const answers = [await ask(make), await ask({ ...make, apiKey })];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
    expect(answers.some(isReplayed)).toBe(false);
    expect(await keysOf(acme)).toHaveLength(4);
  });

  test('gets neither token nor code, and the exchange is a second use', async () => {
    const { agentId } = await registerAgent(acme);
    const apiKey = await anotherKey('full'); // no other runtime key gets the code at all
    const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const authorized = await ask({ url: '/v1/authorize', body: asked });
    const { code, authRequestId } = authorized.json();
    const exchange = { url: '/v1/token', body: { code, agentId } };
    const freshCode = { url: `/v1/authorize/${authRequestId}/code`, body: '' };

    const codes = [await ask(freshCode), await ask({ ...freshCode, apiKey })];
    const first = await ask(exchange);
    const second = await ask({ ...exchange, apiKey });
    const asking = await ask({ url: '/v1/authorize', body: asked, apiKey });

    expect(codes.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
    expect(new Set([code, ...codes.map((answer) => answer.json().code)]).size).toBe(3);
    expect(first.statusCode).toBe(201);
    expect(refusalOf(second)).toBe('400 INVALID_GRANT code_used');
    expect(asking.json().authRequestId).not.toBe(authRequestId);
    expect((await ask(exchange)).body).toBe(first.body);
  });

  test('does not wait for the first, and is no conflict with it', async () => {
    const apiKey = await anotherKey('full');
    const make = (name: string) => ({ url: '/v1/keys', body: { name, role: 'runtime' } });

    const answers = await Promise.all([ask(make('one')), ask({ ...make('two'), apiKey })]);

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
  });
});

describe('I13: a refusal with an `Idempotency-Key` leaves what it leaves without one', () => {
  test.each([
    ['the own API key', 'thief', undefined],
    ['another API key, with the owner’s `Idempotency-Key`', 'owner', 'runtime' as const],
  ])('the thief of a refresh token gains nothing by the header, with %s', async (_, key, role) => {
    const { acme: own, advance, ...rest } = await startSandbox();
    const { agentId, refreshToken, grantId } = await grantTo(own);
    const refresh = { url: '/v1/token/refresh', body: { refreshToken, agentId }, apiKey: own.apiKey };
    const made = await own('POST', '/v1/keys', { name: 'stolen', role: role ?? 'runtime' });
    const apiKey = role ? made.json().apiKey : own.apiKey;
    const refreshed = await send(rest, { ...refresh, key: 'owner' });
    advance(3600);

    const reused = await send(rest, { ...refresh, key, apiKey });

    expect(refreshed.statusCode).toBe(201);
    expect(refusalOf(reused)).toBe('400 INVALID_GRANT refresh_reused');
    expect((await own('GET', `/v1/grants/${grantId}`)).json().status).toBe('revoked');
    expect(await entriesOf(own, 'token.reuse_detected')).toHaveLength(1);
  });

  test.each([
    ['one `Idempotency-Key`, one after the other', false, () => 'guess'],
    ['a new `Idempotency-Key` each, one after the other', false, (guess: number) => `guess ${guess}`],
    ['a new `Idempotency-Key` each, all at once', true, (guess: number) => `guess ${guess}`],
  ])('wrong verifiers are counted: with %s', async (_, isAtOnce, keyOf) => {
    const { agentId } = await registerAgent(acme);
    const { codeVerifier, asked } = pkce();
    const { code } = await authorize(acme, agentId, asked);
    const exchange = (verifier: string, key: string) =>
      ask({ url: '/v1/token', body: { code, agentId, codeVerifier: verifier }, key });
    const guess = async (each: number) => refusalOf(await exchange(pkce().codeVerifier, keyOf(each)));

    const refusals: string[] = [];
    const guesses = [0, 1, 2, 3, 4];
    if (isAtOnce) refusals.push(...(await Promise.all(guesses.map(guess))));
    else for (const each of guesses) refusals.push(await guess(each));

    expect(new Set(refusals)).toEqual(new Set(['400 INVALID_GRANT pkce_mismatch']));
    expect(refusalOf(await exchange(codeVerifier, 'right'))).toBe('400 INVALID_GRANT code_unknown');
  });

  test('after four wrong verifiers the right one still works, with the same `Idempotency-Key`', async () => {
    const { agentId } = await registerAgent(acme);
    const { codeVerifier, asked } = pkce();
    const { code } = await authorize(acme, agentId, asked);
    const exchange = (verifier: string) =>
      ask({ url: '/v1/token', body: { code, agentId, codeVerifier: verifier }, key: 'guess' });
    for (let guess = 0; guess < 4; guess += 1) await exchange(pkce().codeVerifier);

    const done = await exchange(codeVerifier);

    expect([done.statusCode, isReplayed(done)]).toEqual([201, false]);
    expect((await actionsOf(acme)).filter((action) => action === 'grant.created')).toHaveLength(1);
  });

  test('the second use of a code ends its grant, with the `Idempotency-Key` of a refused call', async () => {
    const { acme: own, advance, ...rest } = await startSandbox();
    const { agentId } = await registerAgent(own);
    const { code } = await authorize(own, agentId);
    const exchange = (key: string) =>
      send(rest, { url: '/v1/token', body: { code, agentId }, apiKey: own.apiKey, key });
    const { grantId } = (await exchange('owner')).json();
    const early = await exchange('thief');
    advance(60);

    const late = await exchange('thief');

    expect([early, late].map(refusalOf)).toEqual(Array(2).fill('400 INVALID_GRANT code_used'));
    expect((await own('GET', `/v1/grants/${grantId}`)).json().status).toBe('revoked');
  });
});
