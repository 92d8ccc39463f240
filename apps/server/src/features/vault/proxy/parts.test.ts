import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, putProfile, through } from '../../../../test/app/proxy.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { AnswerCut, guarded, untilBegun, whenOver } from './answer.ts';
import { createFlights } from './streams.ts';

let started: Promise<Service> | undefined;
afterAll(async () => (await started)?.stop());
const start = async () => {
  started ??= startApp({ isShared: true, env: onThisMachine });
  const service = await started;
  return { service, acme: await service.asDeveloper({ mode: 'sandbox' }) };
};

const secret = 'upstream-secret-0123456789abcdef';
const rule = { id: 'all', methods: ['GET', 'POST'], path: '/repos/{rest+}', unmapped: true };
const ranged = { rules: [{ ...rule, range: true }] };

/** An upstream that repeats what it got, and gives the part of that for which it is asked. */
async function echoing(members: object = {}, credential: object = {}) {
  const { acme, service } = await start();
  const held = await proxied(acme, {
    profile: members,
    credential: { accessToken: secret, ...credential },
  });
  held.receiver.answer((request, response) => {
    const whole = `you sent ${request.headers.authorization} end`;
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers.range)) ?? [];
    const limit = new URL(String(request.url), 'http://a').searchParams.get('limit');
    if (from !== undefined) response.writeHead(206).end(whole.slice(Number(from), Number(to) + 1));
    else response.end(limit === null ? whole : whole.slice(0, Number(limit)));
  });
  const ask = (range: string, query = '') =>
    through(service, held.grantToken, `/repos/a${query}`, { headers: { range } });
  return { acme, service, ask, ...held };
}

describe('medium 4: an upstream that repeats the credential, asked for parts', () => {
  const begin = 'you sent Bearer '.length;

  test('gets no Range from a rule that does not ask for it', async () => {
    const { ask, receiver } = await echoing();

    expect(refusalOf(await ask(`bytes=0-${begin + 6}`))).toBe('502 UPSTREAM_ERROR credential_reflected');

    expect(receiver.received[0]?.headers).not.toHaveProperty('range');
  });

  test('gets none for a credential that is for the proxy alone', async () => {
    const { ask, receiver, acme, origin } = await echoing(ranged, { proxy: { only: true } });

    await ask('bytes=0-5');

    expect(receiver.received[0]?.headers).not.toHaveProperty('range');
    const refused = await putProfile(acme, origin, { ...ranged, exchange: 'proxy_only' });
    expect(refused.json().details.fields).toEqual([{ path: 'rules[0].range', problem: 'not_allowed' }]);
  });

  test('gets none for a credential whose own rule does not ask for it', async () => {
    const { ask, receiver } = await echoing(ranged, { proxy: { rules: [rule] } });

    await ask('bytes=0-5');

    expect(receiver.received[0]?.headers).not.toHaveProperty('range');
  });

  test.each([
    ['the beginning', 0, begin + 8],
    ['the end', begin + secret.length - 8, begin + secret.length + 3],
    ['the middle', begin + 9, begin + 20],
  ])('is not heard in a part with %s of it', async (_, from, to) => {
    const { ask, acme } = await echoing(ranged);

    const answer = await ask(`bytes=${from}-${to - 1}`);

    expect(refusalOf(answer)).toBe('502 UPSTREAM_ERROR credential_reflected');
    const [entry] = await entriesOf(acme, 'vault.proxy_blocked');
    expect(entry?.metadata).toMatchObject({ reason: 'credential_reflected' });
  });

  test('is heard in a part without it, as the rule asks', async () => {
    const { ask } = await echoing(ranged);

    const answer = await ask('bytes=0-7');

    expect([answer.statusCode, answer.body]).toEqual([206, 'you sent']);
  });

  test('is not heard in a body that it cuts itself', async () => {
    const { ask, service, grantToken } = await echoing();

    const all = await ask('', `?limit=${begin + secret.length - 1}`);
    const some = await through(service, grantToken, `/repos/a?limit=${begin + 8}`);

    for (const answer of [all, some])
      expect(refusalOf(answer)).toBe('502 UPSTREAM_ERROR credential_reflected');
    expect((await through(service, grantToken, `/repos/a?limit=${begin + 7}`)).statusCode).toBe(200);
  });
});

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com:8443', 'https://api.example.com.:8443'],
])('low 1: a profile with %s and %s as two upstreams is refused', async (one, other) => {
  const { acme } = await start();
  const tool = { connector: 'pay', tool: 'list' };
  const rules = [
    { id: 'pay', methods: ['GET'], path: '/payments', upstream: 'one', tool },
    { id: 'rest', methods: ['GET'], path: '/{rest+}', upstream: 'other', unmapped: true },
  ];

  const refused = await putProfile(acme, one, { upstreams: { one, other }, rules });

  expect(refused.statusCode).toBe(400);
  expect(refused.json().details.fields).toEqual([{ path: 'upstreams.other', problem: 'not_allowed' }]);
});

test('low 1: a profile in which a rule covers another spelling of the path of a tool is refused', async () => {
  const { acme } = await start();
  const tool = { connector: 'pay', tool: 'list' };
  const rules = [
    { id: 'pay', methods: ['GET'], path: '/payments', tool },
    { id: 'rest', methods: ['GET'], path: '/{rest+}', unmapped: true },
  ];

  const refused = await putProfile(acme, 'http://127.0.0.1:1', { rules });

  expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
  expect(refused.json().details.fields[0].path).toBe('rules[1].path');
  expect((await acme('GET', '/v1/vault/proxy-profiles')).json().profiles).toEqual([]);
});

test('low 6: a parameter by which the upstream may take another method is refused', async () => {
  const { acme, service } = await start();
  const { grantToken, receiver } = await proxied(acme);

  const refused = await through(service, grantToken, '/repos/a?_method=DELETE', { method: 'POST' });

  expect(refusalOf(refused)).toBe('403 PROXY_DENIED query');
  expect(receiver.received).toEqual([]);
});

test('low 6: a member of a JSON body by which the upstream may take another method is refused', async () => {
  const { acme, service } = await start();
  const { grantToken, receiver, origin } = await proxied(acme);
  const tool = { connector: 'github', tool: 'pay', body: 'json' };
  const rules = [{ id: 'all', methods: ['POST'], path: '/repos/{rest+}', tool }];
  await putProfile(acme, origin, { rules });
  const send = (body: object) =>
    through(service, grantToken, '/repos/a', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  for (const name of ['_method', 'X-HTTP-Method-Override', 'httpMethod']) {
    const refused = await send({ [name]: 'DELETE', title: 'a' });
    expect([name, refusalOf(refused)]).toEqual([name, '400 BAD_REQUEST']);
  }
  expect(receiver.received).toEqual([]);
  expect((await send({ method: 'card', title: 'a' })).statusCode).toBe(403); // the control: the grant has no such tool
});

test('low 3: a body that was read for one rule is sent by no other', async () => {
  const { acme, service } = await start();
  const tokens = await startReceiver();
  const { grantToken, receiver, origin } = await proxied(acme, {
    credential: {
      ...{ refreshToken: 'r', tokenExpiresAt: '2020-01-01T00:00:00Z' },
      refresh: { tokenEndpoint: tokens.url, clientId: 'c' },
    },
  });
  const tool = { connector: 'github', tool: 'pay', body: 'json', amount: '/price' };
  const rules = [{ id: 'all', methods: ['POST'], path: '/repos/{rest+}', tool }];
  tokens.answer((_, response) => {
    void putProfile(acme, origin, { rules }).then(() =>
      response.end('{"access_token":"upstream-2","expires_in":3600}'),
    );
  });

  const answer = await through(service, grantToken, '/repos/a', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"price":1000}',
  });

  expect(refusalOf(answer)).toContain('503 SERVICE_UNAVAILABLE');
  expect(tokens.received).toHaveLength(1);
  expect(receiver.received).toEqual([]);
});

test('an answer that is cut before anybody listens is over for all who look later', async () => {
  const answer = new IncomingMessage(new Socket());
  const { body, bytes } = guarded(answer, { sought: { forms: [], secrets: [] }, maxBytes: 10 });
  const begun = untilBegun(body);
  const [one, another] = [vi.fn(), vi.fn()];

  answer.push('abc');
  answer.push(null);
  await begun;
  await setImmediate();
  body.destroy(new AnswerCut('grant_ended'));
  await setImmediate();
  whenOver(body, one);
  await setImmediate();
  whenOver(body, another);
  await setImmediate();

  expect(body.errored).toMatchObject({ outcome: 'grant_ended' });
  expect([bytes(), one.mock.calls.length, another.mock.calls.length]).toEqual([3, 1, 1]);
});

const holder = {
  tenant: { developerId: 'dev_1' },
  tokenId: 'tok_1',
  ...{ agentId: 'ag_1', agentDid: 'did:web:a', grantId: 'grnt_1', principalId: 'user_42', scopes: [] },
  ...{ mode: 'live', plan: 'free', requestId: 'req_1' },
} as const;

test('twenty calls of a token are under way at once, and one that ends makes room once', () => {
  const { begin } = createFlights();
  const start = () => begin(holder as unknown as Parameters<typeof begin>[0]); // as much as a flight reads
  const [end] = Array.from({ length: 20 }, start);
  expect(start).toThrow('Too many calls');

  for (let time = 0; time < 2; time += 1) end?.();

  start();
  expect(start).toThrow('Too many calls');
});
