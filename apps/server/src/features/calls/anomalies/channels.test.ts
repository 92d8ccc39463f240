import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { detect } from '../../../../test/app/anomalies.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { grantTo, startSandbox } from '../../../../test/app/flow.ts';
import type { Service } from '../../../../test/app/start-app.ts';
import { recipientCharger } from '../../../platform/charge.ts';
import type { OutgoingRequest } from '../../../platform/egress/egress.ts';
import { rateLimiter } from '../../../platform/http/limits/rates.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import { memoryStore } from '../../../platform/redis/memory-store.ts';
import { channelSeals } from './channels.ts';
import { type SendDeps, sendMessages } from './messages.ts';

const secret = 'a-secret-of-the-receiver';
const webhook = {
  type: 'webhook',
  name: 'Pager',
  config: { url: 'https://pager.test/hooks/1?key=2', secret },
};

async function startWithReceiver(status = 204, retryAfter?: string) {
  const started = await startSandbox();
  const { db, clock, keyRing } = started.service;
  const sent: OutgoingRequest[] = [];
  const failures: unknown[] = [];
  const deps = {
    db,
    clock,
    seals: channelSeals(keyRing),
    egress: {
      send: async (request: OutgoingRequest) => {
        sent.push(request);
        return { status, ...(retryAfter !== undefined && { retryAfter }) };
      },
    },
    publicBaseUrl: 'https://behest.test',
    chargeRecipient: async () => {},
    onFailure: (error: unknown) => failures.push(error),
  };
  return { ...started, deps, sent, failures, send: () => sendMessages(deps) };
}

test('a new alert of a listed severity is sent once, signed, and answers mask the secret', async () => {
  const { acme, sent, failures, send } = await startWithReceiver();
  await acme('PATCH', '/v1/anomaly/rules/new_principal', { severity: 'critical' });
  const created = await acme('POST', '/v1/anomaly/channels', webhook);
  expect(created.json()).toMatchObject({
    config: { url: 'https://pager.test/…', secret: '********' },
    severities: ['critical', 'high'],
    enabled: true,
  });
  expect((await acme('POST', '/v1/anomaly/channels', webhook)).json().code).toBe('CONFLICT');

  const granted = await grantTo(acme);
  await detect(acme);
  await send();
  await detect(acme);
  await send();

  expect(failures).toEqual([]);
  expect(sent).toHaveLength(1);
  const [{ url, body = '', headers } = { url: '', body: '', headers: {} }] = sent;
  expect(url).toBe(webhook.config.url);
  expect(JSON.parse(String(body))).toMatchObject({
    type: 'anomaly.detected',
    data: { agentId: granted.agentId },
  });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  expect(headers).toMatchObject({ 'x-service-signature': signature });
});

test('a message that nobody takes has five attempts, 30 seconds and then twice as long apart', async () => {
  const { acme, sent, send, advance } = await startWithReceiver(500);
  const { id } = (await acme('POST', '/v1/anomaly/channels', webhook)).json();
  expect((await acme('POST', `/v1/anomaly/channels/${id}/test`, {})).statusCode).toBe(202);

  await send();
  for (const [index, seconds] of [30, 60, 120, 240].entries()) {
    advance(seconds - 1);
    await send();
    expect(sent).toHaveLength(index + 1);
    advance(1);
    await send();
    expect(sent).toHaveLength(index + 2);
  }
  advance(86_400);
  await send();
  expect(sent).toHaveLength(5);
});

test('agents 35: a channel whose receiver answers 410 is turned off, with an event, and gets no more', async () => {
  const { acme, sent, send, advance } = await startWithReceiver(410);
  const { id } = (await acme('POST', '/v1/anomaly/channels', webhook)).json();
  await acme('POST', `/v1/anomaly/channels/${id}/test`, {});
  await send();
  advance(86_400);
  await send();

  expect(sent).toHaveLength(1);
  const { channels } = (await acme('GET', '/v1/anomaly/channels')).json();
  expect(channels).toMatchObject([{ id, enabled: false }]);
  const { events } = (await acme('GET', '/v1/events?types=anomaly.channel_disabled')).json();
  expect(events).toMatchObject([{ data: { channelId: id, reason: 'gone' } }]);
});

test.each(['600', 'Thu, 01 Jan 2026 00:10:00 GMT'])(
  'K9: a channel whose receiver says `Retry-After: %s` is tried then, and not before',
  async (retryAfter) => {
    const { acme, sent, send, advance } = await startWithReceiver(429, retryAfter);
    const { id } = (await acme('POST', '/v1/anomaly/channels', webhook)).json();
    await acme('POST', `/v1/anomaly/channels/${id}/test`, {});
    await send();
    advance(599);
    await send();
    expect(sent).toHaveLength(1);
    advance(1);
    await send();

    expect(sent).toHaveLength(2);
  },
);

test('a channel has the members of its type, a public URL, and an account with a verified address for mail', async () => {
  const { acme } = await startSandbox();
  const post = (body: object) => acme('POST', '/v1/anomaly/channels', { ...webhook, ...body });

  expect((await post({ config: { url: 'https://pager.test' } })).statusCode).toBe(400);
  expect((await post({ config: { url: 'http://127.0.0.1/', secret } })).statusCode).toBe(400);
  expect((await post({ type: 'slack' })).statusCode).toBe(400);
  const mail = await post({ type: 'email', config: { to: ['ada@acme.test'] } });
  expect(mail.json()).toMatchObject({ code: 'CONFLICT', details: { field: 'emailVerified' } });
});

test('a message to Slack is a text, and its URL comes back masked', async () => {
  const { acme, sent, failures, send } = await startWithReceiver();
  const webhookUrl = 'https://hooks.slack.test/services/T1/B2/secret';
  const slack = { type: 'slack', name: 'Team', config: { webhookUrl }, severities: ['low'] };
  const created = await acme('POST', '/v1/anomaly/channels', slack);
  const listed = await acme('GET', '/v1/anomaly/channels');

  await grantTo(acme);
  await detect(acme);
  await send();

  expect([...failures, created.statusCode]).toEqual([201]);
  expect(sent.map(({ url }) => url)).toEqual([webhookUrl]);
  expect(JSON.parse(String(sent[0]?.body))).toEqual({ text: expect.stringContaining('New principal') });
  expect(sent[0]?.headers).not.toHaveProperty('x-service-signature');
  for (const { body } of [created, listed]) {
    expect(body).toContain('https://hooks.slack.test/…');
    expect(body).not.toContain('T1/B2');
  }
});

test('a message by mail goes to each address, and again when the mail server refuses it', async () => {
  const { acme, service, deps, failures, advance } = await startWithReceiver();
  await verifyAddress(service, acme);
  const to = ['ada@acme.test', 'ops@acme.test'];
  const mail = { type: 'email', name: 'Mail', config: { to }, severities: ['low'] };
  expect((await acme('POST', '/v1/anomaly/channels', mail)).statusCode).toBe(201);
  await confirmAll(service, deps);
  await grantTo(acme);
  await detect(acme);
  const sentTo: string[] = [];
  let isAway = true;
  const mailer = {
    async send(each: { readonly to: string }) {
      if (isAway) throw new Error('The mail server is away.');
      sentTo.push(each.to);
    },
  };

  const full = async (_rule: unknown, address: string) => {
    if (address === 'ada@acme.test') throw new Error('This address has enough mails.');
  };

  await sendMessages({ ...deps, mailer });
  expect([sentTo, failures.length]).toEqual([[], 2]);
  isAway = false;
  advance(30);
  await sendMessages({ ...deps, mailer, chargeRecipient: full });
  expect(sentTo).toEqual(['ops@acme.test']); // the other address has enough mails
  advance(300);
  sentTo.length = 0;
  await sendMessages({ ...deps, mailer });
  expect(sentTo).toEqual(to);
  advance(3600);
  await sendMessages({ ...deps, mailer });
  expect(sentTo).toEqual(to);
});

test('an account has twenty channels at most', async () => {
  const { acme } = await startSandbox();
  const statuses = [];
  for (let n = 0; n <= 20; n += 1)
    statuses.push(
      (await acme('POST', '/v1/anomaly/channels', { ...webhook, name: `Pager ${n}` })).statusCode,
    );

  expect(statuses).toEqual([...Array(20).fill(201), 409]);
});

test('a channel that is off gets no message, also when it is on again, and one that is deleted takes its own away', async () => {
  const { acme, sent, send } = await startWithReceiver();
  await acme('PATCH', '/v1/anomaly/rules/new_principal', { severity: 'critical' });
  const add = async (name: string) =>
    String((await acme('POST', '/v1/anomaly/channels', { ...webhook, name })).json().id);
  const [off, kept, gone] = [await add('Off'), await add('Kept'), await add('Gone')];
  await acme('PATCH', `/v1/anomaly/channels/${off}`, { enabled: false });
  await grantTo(acme);
  await detect(acme);
  await acme('PATCH', `/v1/anomaly/channels/${off}`, { enabled: true });
  await acme('DELETE', `/v1/anomaly/channels/${gone}`);

  await send();

  expect(sent).toHaveLength(1);
  const { channels } = (await acme('GET', '/v1/anomaly/channels')).json();
  expect(channels.map(({ id }: { id: string }) => id).sort()).toEqual([off, kept].sort());
});

test('31 M6: messages to people begin with the service and the account, and count by account and day', async () => {
  const { acme, service, deps, sent, send, advance } = await startWithReceiver();
  await verifyAddress(service, acme);
  await acme('PATCH', '/v1/me', { name: 'Acme https://evil.example Inc' });
  const config = { webhookUrl: 'https://hooks.slack.test/services/T1' };
  const { id } = (await acme('POST', '/v1/anomaly/channels', { type: 'slack', name: 'Team', config })).json();
  await acme('POST', `/v1/anomaly/channels/${id}/test`, {});
  await send();
  expect(JSON.parse(String(sent[0]?.body)).text).toMatch(
    /^An agent of an account of Behest behaves unusually\.\n\nAccount: Acme Inc\nRule: Test\n/,
  );

  const charge = rateLimiter(memoryStore(deps.clock), deps.clock);
  const counted = { ...deps, chargeRecipient: recipientCharger(charge, { anomalyDaily: 1 }) };
  for (const _ of [1, 2]) await acme('POST', `/v1/anomaly/channels/${id}/test`, {});
  await sendMessages(counted);
  expect(sent).toHaveLength(2);
  advance(86_399);
  await sendMessages(counted);
  advance(1);
  await sendMessages(counted);
  expect(sent).toHaveLength(3);
});

/** Confirms what the recipients of all channels are asked. @returns the mails that asked them */
async function confirmAll({ app }: Service, deps: SendDeps): Promise<Mail[]> {
  const mails: Mail[] = [];
  await sendMessages({ ...deps, mailer: { send: async (mail) => void mails.push(mail) } });
  for (const { text } of mails) {
    const url = /https:\/\/behest\.test(\S+)/.exec(text)?.[1] ?? '';
    expect((await app.inject({ method: 'POST', url })).json()).toMatchObject({ status: 'confirmed' });
  }
  return mails;
}

test('31 M6: a recipient gets one mail, and no message before the page of its link confirms', async () => {
  const { acme, service, deps, failures, advance } = await startWithReceiver();
  await verifyAddress(service, acme);
  await acme('PATCH', '/v1/me', { name: 'Acme evil.example' });
  const config = { to: ['ada@acme.test'] };
  const created = await acme('POST', '/v1/anomaly/channels', { type: 'email', name: 'Mail', config });
  const { id } = created.json();
  expect(created.json().unconfirmed).toEqual(['ada@acme.test']);
  const mails: Mail[] = [];
  const sending = { ...deps, mailer: { send: async (mail: Mail) => void mails.push(mail) } };
  const tell = async () => {
    await acme('POST', `/v1/anomaly/channels/${id}/test`, {});
    await sendMessages(sending);
  };
  await tell();
  await acme('PATCH', `/v1/anomaly/channels/${id}`, { config });
  advance(86_400);
  await tell();

  expect([mails.length, failures]).toEqual([1, []]);
  expect(mails[0]?.text).toContain('\nThe account: Acme\n');
  expect(mails[0]?.account).toBe('Acme');
  expect(mails[0]?.text).not.toContain('evil');
  const url = /https:\/\/behest\.test(\S+)/.exec(mails[0]?.text ?? '')?.[1] ?? '';
  const page = await service.app.inject({ method: 'GET', url, headers: { accept: 'text/html' } });
  expect(page.body).toContain('<button>Confirm</button>');
  await tell();
  expect(mails).toHaveLength(1);
  expect((await service.app.inject({ method: 'POST', url: `${url}x` })).statusCode).toBe(404);

  const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
  const confirmed = await service.app.inject({ method: 'POST', url, headers: form, payload: '' });
  expect([confirmed.statusCode, confirmed.body.includes('The mails may come')]).toEqual([200, true]);
  await tell();
  expect(mails.map(({ subject }) => subject)).toEqual([
    'Do you want mails about agents that behave unusually?',
    'An agent behaves unusually',
  ]);
  expect(mails[1]?.account).toBe('Acme');
  expect((await acme('GET', '/v1/anomaly/channels')).json().channels[0].unconfirmed).toEqual([]);

  await acme('PATCH', `/v1/anomaly/channels/${id}`, { config: { to: ['bob@acme.test'] } });
  const back = await acme('PATCH', `/v1/anomaly/channels/${id}`, { config });
  expect(back.json().unconfirmed).toEqual(['ada@acme.test']);
});
