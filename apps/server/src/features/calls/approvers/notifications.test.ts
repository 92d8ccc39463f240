import { createECDH } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { enrolApprover, payer, relaxFourEyes } from '../../../../test/app/approving.ts';
import { entriesOf } from '../../../../test/app/flow.ts';
import { decryptPush, readVapid, startPushServer } from '../../../../test/app/push-server.ts';
import { newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';
import { recipientCharger } from '../../../platform/charge.ts';
import { createEgress, type EgressOptions } from '../../../platform/egress/egress.ts';
import { rateLimiter } from '../../../platform/http/limits/rates.ts';
import { channelSeals } from '../decisions/channels.ts';
import { sendNotices } from '../decisions/notices.ts';
import { encrypted, webPush } from './web-push.ts';

const AT = '/v1/approver/notifications';
const HERE = { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' };
const LOOPBACK = { allowsHttp: true, allowsPrivateHosts: true };
type Ada = Awaited<ReturnType<typeof enrolApprover>>;
type Body = ReturnType<Awaited<ReturnType<typeof startPushServer>>['browser']>['subscription'];

const turnOn = ({ browser }: Ada, body: object) => browser.call('PUT', AT, { body });
const shown = async ({ browser }: Ada) => (await browser.call('GET', AT)).json();
const idsOf = async (person: Ada): Promise<string[]> =>
  (await shown(person)).subscriptions.map(({ id }: { id: string }) => id);

async function started(options: Parameters<typeof startApp>[0] = {}) {
  const service = await startApp({ ...options, env: { ...HERE, ...options.env } });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await relaxFourEyes(acme);
  const ada = await enrolApprover(service, acme, `${crypto.randomUUID()}@example.org`);
  return { service, acme, ada, server: await startPushServer() };
}

/** Sends what is due, as the job does. */
async function send(service: Service, rules: EgressOptions = LOOPBACK) {
  const { db, clock, keyRing, store, settings } = service;
  const ignore = () => {};
  const charge = recipientCharger(rateLimiter(store, clock, ignore, ignore), settings.rateLimits);
  const failures: unknown[] = [];
  const deps = {
    ...{ db, clock, chargeRecipient: charge, seals: channelSeals(keyRing), push: webPush(keyRing) },
    ...{ publicBaseUrl: 'https://auth.test', egress: createEgress(rules) },
    onFailure: (error: unknown) => void failures.push(error),
  };
  while ((await sendNotices(deps)) > 0);
  expect(failures).toEqual([]);
}

test('a browser gets the headline of a call and its link, encrypted for it and signed by our key', async () => {
  const { service, acme, ada, server } = await started();
  const [phone, stranger] = [server.browser(), server.browser()];
  const answer = await turnOn(ada, phone.subscription);
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    {
      id: expect.stringMatching(/^apsub_/),
      endpointSha256: expect.stringMatching(/^[\w-]{43}$/),
      vapidKey: (await shown(ada)).publicKey,
      createdAt: '2026-01-01T00:00:00.000Z',
    },
  ]);
  const agent = await payer(acme);
  const args = { to: 'ACME Ltd', amount: '9000.50', currency: 'EUR', note: 'secret-note' };

  const { decisionId } = (await agent.ask({ arguments: args, summary: 'secret-summary' })).json();
  await send(service);

  expect(phone.messages()).toEqual([
    {
      title: 'An agent waits for your decision',
      body: '9,000.50 EUR to ACME Ltd',
      url: `https://auth.test/approve#decision=${decisionId}`,
    },
  ]);
  const { headers, body } = phone.requests()[0] ?? {
    headers: {} as Record<string, string>,
    body: Buffer.alloc(0),
  };
  expect(headers).toMatchObject({
    ...{ 'content-encoding': 'aes128gcm', 'content-type': 'application/octet-stream' },
    ...{ ttl: '14400', urgency: 'high', topic: decisionId },
  });
  const { key, claims } = readVapid(headers.authorization);
  expect(key).toBe((await shown(ada)).publicKey);
  const exp = service.clock().getTime() / 1000 + 12 * 3600;
  expect(claims).toEqual({
    aud: new URL(phone.subscription.endpoint).origin,
    exp,
    sub: 'https://auth.test',
  });
  expect(body.includes('ACME')).toBe(false);
  expect(() => decryptPush(body, { privateKey: Buffer.alloc(32, 1), auth: Buffer.alloc(16) })).toThrow();
  expect(stranger.requests()).toEqual([]);
  const rows = await sql<{ row: string }>`select s::text as row from approver_subscriptions s`.execute(
    service.db,
  );
  expect(rows.rows.some(({ row }) => row.includes(phone.subscription.keys.p256dh))).toBe(false);
});

test('the service encrypts and the tests decrypt as the example of RFC 8291 does', () => {
  const keyOf = (text: string) => Buffer.from(text, 'base64url');
  const sender = createECDH('prime256v1');
  sender.setPrivateKey(keyOf('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'));
  const text = 'When I grow up, I want to be a watermelon';
  const example =
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN';

  const keys = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  };
  const made = encrypted(keys, text, { sender, salt: 'DGv6ra1nlYgDCS1FRnbzlw' });
  const browser = {
    privateKey: keyOf('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
    auth: keyOf('BTBZMqHH6r4Tts7J_aSIgg'),
  };

  expect(made.toString('base64url')).toBe(example);
  expect(decryptPush(keyOf(example), browser)).toBe(text);
});

test.each([404, 410])(
  'an answer of %s ends the subscription, and nothing more is sent to it',
  async (status) => {
    const { service, acme, ada, server } = await started();
    const [gone, kept] = [server.browser(), server.browser()];
    for (const { subscription } of [gone, kept]) await turnOn(ada, subscription);
    const agent = await payer(acme);
    server.answerWith(status);
    await agent.ask({ arguments: { n: 1 } });
    await send(service);
    expect([gone.requests().length, kept.requests().length]).toEqual([1, 1]);
    expect(await idsOf(ada)).toEqual([]);

    server.answerWith(201);
    await turnOn(ada, kept.subscription);
    await agent.ask({ arguments: { n: 2 } });
    await send(service);

    expect([gone.requests().length, kept.requests().length]).toEqual([1, 2]); // the second is the control
    const changes = await entriesOf(acme, 'approver.notifications_changed');
    expect(changes.map(({ metadata }) => metadata?.changed).sort()).toEqual([
      ...['created', 'created', 'created', 'gone', 'gone'],
    ]);
  },
);

test('a push server that fails is asked again four times, later where it says so', async () => {
  const { service, acme, ada, server } = await started();
  const phone = server.browser();
  await turnOn(ada, phone.subscription);
  server.answerWith(503, { 'retry-after': '600' });
  await (await payer(acme)).ask();
  await send(service);
  service.advance(599);
  await send(service);
  expect(phone.requests()).toHaveLength(1);
  service.advance(1);
  await send(service);
  expect(phone.requests()).toHaveLength(2);
  for (let hours = 0; hours < 10; hours += 1) {
    service.advance(3600);
    await send(service);
  }

  expect(phone.requests()).toHaveLength(5);
  await ada.signIn();
  expect(await idsOf(ada)).toHaveLength(1);
});

test('more than three calls within a minute become one notification', async () => {
  const { service, acme, ada, server } = await started({ env: { RATE_LIMIT_DECISION_BURST: '3' } });
  const [phone, laptop] = [server.browser(), server.browser()];
  for (const { subscription } of [phone, laptop]) await turnOn(ada, subscription);
  const agent = await payer(acme);
  for (let n = 0; n < 3; n += 1) await agent.ask({ arguments: { n } });
  await send(service);
  service.advance(60);
  await send(service);
  expect([phone.messages().length, laptop.messages().length]).toEqual([3, 3]); // the control

  for (let n = 3; n < 10; n += 1) await agent.ask({ arguments: { n } });
  await send(service);
  service.advance(60);
  await send(service);

  for (const browser of [phone, laptop]) {
    expect(browser.messages()).toHaveLength(7);
    expect(browser.messages()[6]).toEqual({
      ...{ title: '4 more calls wait for your decision', body: '', url: 'https://auth.test/approve' },
    });
  }
});

test('a person has five browsers, also when six ask at once, and the sixth replaces none', async () => {
  const { ada, server } = await started();
  const bodies = Array.from({ length: 6 }, () => server.browser().subscription);

  const answers = await Promise.all(bodies.map((body) => turnOn(ada, body)));

  const refused = answers.filter(({ statusCode }) => statusCode !== 200);
  expect(refused.map((answer) => [answer.statusCode, answer.json().details])).toEqual([[409, { limit: 5 }]]);
  const ids = await idsOf(ada);
  expect(ids).toHaveLength(5);
  const known = bodies[answers.findIndex(({ statusCode }) => statusCode === 200)] ?? {};
  expect((await turnOn(ada, known)).statusCode).toBe(200); // a browser that is known is no further one
  expect(await idsOf(ada)).toEqual(ids);
  await ada.browser.call('DELETE', `${AT}/${ids[0]}`);
  expect((await turnOn(ada, server.browser().subscription)).statusCode).toBe(200);
});

test('an approver cannot take, silence or see the browser of another approver', async () => {
  const { service, acme, ada, server } = await started();
  const phone = server.browser();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const eve = await enrolApprover(service, await service.asDeveloper({ mode: 'sandbox' }), 'eve@example.org');
  await turnOn(ada, phone.subscription);
  const [id] = await idsOf(ada);

  const own = { ...phone.subscription, keys: server.browser().subscription.keys };
  const taken = await turnOn(bob, own);
  expect([taken.statusCode, taken.json().details]).toEqual([409, { sub_reason: 'other_approver' }]);
  for (const person of [bob, eve]) {
    expect((await person.browser.call('DELETE', `${AT}/${id}`)).statusCode).toBe(404);
    expect(await idsOf(person)).toEqual([]);
  }
  expect(await idsOf(ada)).toEqual([id]);

  await (await payer(acme)).ask();
  await send(service);
  expect(phone.messages()).toHaveLength(1); // with the keys of Ada's browser
  expect((await ada.browser.call('DELETE', `${AT}/${id}`)).statusCode).toBe(204); // the control
  expect(await idsOf(ada)).toEqual([]);
});

test('a page of another site and a request without its token change nothing', async () => {
  const { service, ada, server } = await started();
  const { subscription } = server.browser();
  const sentWith = (headers: Record<string, string>) =>
    ada.browser.call('PUT', AT, { body: subscription, headers });

  const foreign = await sentWith({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
  const forged = await sentWith({ 'x-csrf-token': 'x'.repeat(43) });
  const stranger = await service.app.inject({ method: 'PUT', url: AT, body: subscription });
  expect([foreign.statusCode, forged.statusCode, stranger.statusCode]).toEqual([403, 403, 403]);
  expect(await idsOf(ada)).toEqual([]);

  expect((await sentWith({})).statusCode).toBe(200); // the control
  expect(await idsOf(ada)).toHaveLength(1);
});

test('whoever finds a page that is signed in for long turns on nothing', async () => {
  const { service, ada, server } = await started({ env: { DECISION_STEP_UP_SECONDS: '60' } });
  const { subscription } = server.browser();
  service.advance(61);
  const old = await turnOn(ada, subscription);
  expect([old.statusCode, old.json().details]).toEqual([403, { sub_reason: 'session_too_old' }]);
  expect(await idsOf(ada)).toEqual([]);

  await ada.signIn();
  expect((await turnOn(ada, subscription)).statusCode).toBe(200); // the control
});

test.each([
  ['the machine', { endpoint: 'https://127.0.0.1/push' }],
  ['the machine, by IPv6', { endpoint: 'https://[::1]/push' }],
  ['a private network', { endpoint: 'https://10.0.0.7/push' }],
  ['the metadata of a cloud', { endpoint: 'http://169.254.169.254/latest' }],
  ['a name of the machine', { endpoint: 'https://localhost/push' }],
  ['another protocol', { endpoint: 'file:///etc/passwd' }],
  ['a user name', { endpoint: 'https://push.example.org@127.0.0.1/push' }],
  ['too long an address', { endpoint: `https://push.example.org/${'x'.repeat(2048)}` }],
  ['no point of the curve', { keys: { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) } }],
  ['a short key', { keys: { p256dh: 'BAAA', auth: 'A'.repeat(22) } }],
  ['an unknown member', { topic: 'x' }],
])('a subscription is refused that names %s', async (_what, change) => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const { subscription } = (await startPushServer()).browser();
  const good: Body = { ...subscription, endpoint: 'https://push.example.org/abc' };

  expect((await turnOn(ada, { ...good, ...change })).statusCode).toBe(400);
  expect(await idsOf(ada)).toEqual([]);
  expect((await turnOn(ada, good)).statusCode).toBe(200); // the control
});

test('a public name that leads to this machine is not called', async () => {
  const { service, acme, ada, server } = await started();
  const phone = server.browser('push.example.org');
  expect((await turnOn(ada, phone.subscription)).statusCode).toBe(200);
  await (await payer(acme)).ask();
  const resolve = async () => ['127.0.0.1'];

  await send(service, { allowsHttp: true, allowsPrivateHosts: false, resolve });
  expect(phone.requests()).toEqual([]);
  service.advance(30);
  await send(service, { ...LOOPBACK, resolve });
  expect(phone.messages()).toHaveLength(1); // the control
});

test('a person who is suspended hears of nothing, and one who is removed leaves no browser', async () => {
  const { service, acme, ada, server } = await started();
  const [phone, other] = [server.browser(), server.browser()];
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  await turnOn(ada, phone.subscription);
  await turnOn(bob, other.subscription);
  const agent = await payer(acme);
  await agent.ask({ arguments: { n: 1 } });
  await acme('PATCH', `/v1/approvers/${ada.approverId}`, { status: 'suspended' });
  await send(service);
  expect([phone.requests().length, other.requests().length]).toEqual([0, 1]); // Bob is the control

  await acme('DELETE', `/v1/approvers/${ada.approverId}`);

  const rows = await service.db
    .selectFrom('approverSubscriptions')
    .select('approverId')
    .where('developerId', '=', acme.developerId)
    .execute();
  expect(rows).toEqual([{ approverId: bob.approverId }]);
});

test('after a change of the vault key, browsers get messages by the key that they know, and new ones get the new key', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = ['1'.repeat(64), '2'.repeat(64)];
  const env = { ...HERE, VAULT_ENCRYPTION_KEY: former };
  const { acme, ada, server } = await started({ databaseUrl, env });
  const [phone, laptop] = [server.browser(), server.browser()];
  await turnOn(ada, phone.subscription);
  const before = (await shown(ada)).publicKey;

  const later = await startApp({
    databaseUrl,
    env: { ...HERE, VAULT_ENCRYPTION_KEY: current, VAULT_ENCRYPTION_KEYS_PREVIOUS: former },
  });
  await later.prepare();
  const keys = webPush(later.keyRing);
  expect([keys.publicKey === before, keys.keys.has(before)]).toEqual([false, true]);
  await (await payer(Object.assign(later.calling(acme.apiKey), { ...acme }))).ask();
  await send(later);

  expect(phone.messages()).toHaveLength(1);
  expect(readVapid(phone.requests()[0]?.headers.authorization).key).toBe(before);
  expect(laptop.requests()).toEqual([]);
});
