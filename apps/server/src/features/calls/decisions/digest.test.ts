import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { enrolApprover, payer, relaxFourEyes } from '../../../../test/app/approving.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { recipientCharger } from '../../../platform/charge.ts';
import type { OutgoingRequest } from '../../../platform/egress/egress.ts';
import { AppError } from '../../../platform/errors.ts';
import { rateLimiter } from '../../../platform/http/limits/rates.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import { webPush } from '../approvers/web-push.ts';
import { channelSeals } from './channels.ts';
import { sendNotices } from './notices.ts';

const HOUR = 3600;

/** @param burst the mails and messages to one recipient in a minute */
async function started({ burst = '20', status = 200 } = {}) {
  const service = await startApp({
    env: { RATE_LIMIT_DECISION_MAIL: '20', RATE_LIMIT_DECISION_BURST: burst },
  });
  const { db, clock, keyRing, store, settings } = service;
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await verifyAddress(service, acme);
  await relaxFourEyes(acme);
  const addresses: string[] = [];
  const enrol = () => {
    const address = `${crypto.randomUUID()}@example.org`; // mails are counted by address, whatever the test
    addresses.push(address);
    return enrolApprover(service, acme, address);
  };
  const ada = await enrol();
  const agent = await payer(acme);
  const charge = rateLimiter(
    store,
    clock,
    () => {},
    () => {},
  );
  const chargeRecipient = recipientCharger(charge, settings.rateLimits);
  /** While `isFull`, no address has room for another mail. */
  const room = { isFull: false };
  const failures: unknown[] = [];
  const mails: Mail[] = [];
  const mailer = { send: async (mail: Mail) => void mails.unshift(mail) };
  const posted: OutgoingRequest[] = [];
  const egress = {
    send: async (request: OutgoingRequest) => {
      posted.push(request);
      return { status };
    },
  };
  const deps = {
    ...{ db, clock, mailer, egress, publicBaseUrl: 'https://auth.test' },
    seals: channelSeals(keyRing),
    push: webPush(keyRing),
    chargeRecipient: (...bill: Parameters<typeof chargeRecipient>) => {
      if (room.isFull) throw new AppError('RATE_LIMITED', 'Wait.', { retryAfter: HOUR });
      return chargeRecipient(...bill);
    },
    onFailure: (error: unknown) => void failures.push(error),
  };
  const ask = async (from: number, to: number) => {
    const ids: string[] = [];
    for (let n = from; n < to; n += 1) ids.push((await agent.ask({ arguments: { n } })).json().decisionId);
    return ids;
  };
  /** Sends until nothing is due, in two processes. */
  const send = async () => {
    let due: readonly number[];
    do due = await Promise.all([sendNotices(deps), sendNotices(deps)]);
    while (Math.max(...due) > 0);
    expect(failures).toEqual([]);
    expect(mails.every(({ to }) => addresses.includes(to))).toBe(true);
  };
  const round = () => sendNotices(deps);
  const told = () => mails;
  /** Adds a channel. @returns the messages that it got, oldest first */
  const channel = async (kind: 'slack' | 'teams') => {
    const url = `https://${kind}.test/${crypto.randomUUID()}`; // messages are counted by URL, whatever the test
    await acme('POST', '/v1/decision-channels', { kind, name: kind, url });
    return () => posted.filter((request) => request.url === url).map(({ body }) => String(body));
  };
  return { service, acme, ada, addresses, enrol, ask, send, round, told, room, channel };
}

test('more than three calls within a minute become one message to each person and channel', async () => {
  const { service, ask, send, told, channel } = await started({ burst: '3' });
  const [slack, teams] = [await channel('slack'), await channel('teams')];
  await ask(0, 3);
  await send();
  service.advance(60);
  await send();
  expect([told().length, slack().length, teams().length]).toEqual([3, 3, 3]); // the control: each by itself

  service.advance(60);
  const ids = await ask(3, 10);
  await send();
  expect([told().length, slack().length, teams().length]).toEqual([6, 6, 6]);
  service.advance(60);
  await send();

  const title = '4 more calls wait for your decision';
  expect([told().length, told()[0]?.subject]).toEqual([7, title]);
  expect(told()[0]?.text).toContain('\n    https://auth.test/approve\n');
  // Which three went alone is open: all were asked for at the same moment.
  const linksIn = (mails: readonly Mail[]) =>
    ids.filter((id) => mails.some(({ text }) => text.includes(`/approve#decision=${id}`)));
  const [inDigest, alone] = [linksIn(told().slice(0, 1)), linksIn(told().slice(1, 4))];
  expect([inDigest.length, alone.length]).toEqual([4, 3]);
  expect([...inDigest, ...alone].sort()).toEqual(ids.toSorted());
  expect([slack().length, teams().length]).toEqual([7, 7]);
  expect(JSON.parse(slack()[6] ?? '')).toEqual({
    text: title,
    mrkdwn: false,
    blocks: [
      { type: 'section', text: { type: 'plain_text', text: title, emoji: false } },
      { type: 'section', text: { type: 'mrkdwn', text: '<https://auth.test/approve|Open the list>' } },
    ],
  });
  expect(JSON.parse(teams()[6] ?? '').attachments[0].content).toMatchObject({
    body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: title }] }],
    actions: [{ type: 'Action.OpenUrl', title: 'Open the list', url: 'https://auth.test/approve' }],
  });
});

test('a channel that does not take a digest gets it again, five times in all', async () => {
  const { service, ask, send, channel } = await started({ burst: '1', status: 500 });
  const slack = await channel('slack');
  await ask(0, 3);
  for (let minutes = 0; minutes < 200; minutes += 1) {
    await send();
    service.advance(60);
  }

  const digests = slack().filter((body) => body.includes('2 more calls wait'));
  expect(digests).toHaveLength(5);
  expect(slack().filter((body) => body.includes('An agent waits'))).toHaveLength(5);
});

test('after twenty mails within an hour, further ones come as one', async () => {
  const { service, ask, send, told } = await started();
  await ask(0, 20);
  await send();
  const [first, second] = await ask(20, 22);
  await send();
  service.advance(60);
  const [third] = await ask(22, 23);
  await send();
  expect(told()).toHaveLength(20);

  service.advance(HOUR);
  await send();

  const [digest, ...others] = told();
  expect(others).toHaveLength(20);
  expect(digest?.subject).toBe('3 more calls wait for your decision');
  for (const id of [first, second, third]) expect(digest?.text).toContain(`/approve#decision=${id}`);
  expect(digest?.text).not.toContain('"n"');
  await send();
  expect(told()).toHaveLength(21);
});

test('two people who wait get a digest each', async () => {
  const { service, addresses, enrol, ask, send, told } = await started();
  await enrol();
  await ask(0, 20);
  await send();
  await ask(20, 22);
  await send();

  service.advance(HOUR);
  await send();

  const digests = told().filter(({ subject }) => subject === '2 more calls wait for your decision');
  expect(digests.map(({ to }) => to).sort()).toEqual(addresses.toSorted());
  expect(told()).toHaveLength(42);
});

test('a digest that finds no room again and again is sent when there is room', async () => {
  const { service, ask, send, told, room } = await started();
  await ask(0, 20);
  await send();
  const ids = await ask(20, 22);
  await send();
  room.isFull = true;
  for (let hours = 0; hours < 8; hours += 1) {
    service.advance(HOUR);
    await send();
  }
  expect(told()).toHaveLength(20);

  room.isFull = false;
  service.advance(HOUR);
  await send();

  const [digest, ...others] = told();
  expect([others.length, digest?.subject]).toEqual([20, 'The calls that waited need no decision now']);
  for (const id of ids) expect(digest?.text).toContain(`/approve#decision=${id}`);
});

test('a digest leaves out what was decided meanwhile, and one notice that is left comes as itself', async () => {
  const { service, acme, ask, send, told } = await started();
  await ask(0, 20);
  await send();
  const [over, open] = await ask(20, 22);
  await send();
  await acme('POST', `/v1/decisions/${over}/cancel`, {});

  service.advance(HOUR);
  await send();

  const [mail] = told();
  expect([told().length, mail?.subject]).toEqual([
    21,
    expect.stringMatching(/^An agent waits for your decision: /),
  ]);
  expect(mail?.text).toContain(`/approve#decision=${open}`);
});

test('a digest takes five hundred notices, and another one takes what is left', async () => {
  const { service, acme, ask, send, told } = await started({ burst: '1' });
  const { db } = service;
  await ask(0, 2);
  await send();
  const copies = sql`
    insert into decision_notices (developer_id, id, decision_id, approver_id, subject, body, attempts, next_attempt_at, is_gathered)
    select developer_id, id || '-' || n, decision_id, approver_id, subject, body, attempts, next_attempt_at, is_gathered
    from decision_notices, generate_series(1, 600) n where developer_id = ${acme.developerId}`;
  expect((await copies.execute(db)).numAffectedRows).toBe(600n);

  for (let minutes = 0; minutes < 2; minutes += 1) {
    service.advance(60);
    await send();
  }

  const more = told().map(({ text }) => text.match(/There are (\d+) more/)?.[1]);
  expect(more.toSorted()).toEqual(['450', '51', undefined]); // two processes send, either first
  const left = db.selectFrom('decisionNotices').select('id').where('developerId', '=', acme.developerId);
  expect(await left.execute()).toEqual([]);
});

test('at once, an account has the digests of four recipients', async () => {
  const { service, ask, send, round, told, channel } = await started({ burst: '1' });
  const channels = [await channel('slack'), await channel('teams'), await channel('slack')];
  channels.push(await channel('teams'), await channel('slack'));
  const sent = () => told().length + channels.reduce((sum, messages) => sum + messages().length, 0);
  await ask(0, 3);
  await send();
  expect(sent()).toBe(6); // the control: one each, and two of each wait

  service.advance(60);
  await round();
  expect(sent()).toBe(10);
  await round();
  expect(sent()).toBe(12);
});

test('a person who was removed meanwhile gets no digest, and nothing waits for them', async () => {
  const { service, acme, ada, ask, send, told } = await started();
  await ask(0, 21);
  await send();
  await acme('DELETE', `/v1/approvers/${ada.approverId}`);

  service.advance(HOUR);
  await send();

  expect(told()).toHaveLength(20);
  const left = service.db
    .selectFrom('decisionNotices')
    .select('id')
    .where('developerId', '=', acme.developerId);
  expect(await left.execute()).toEqual([]);
});
