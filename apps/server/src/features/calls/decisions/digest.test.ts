import { expect, test } from 'vitest';
import { enrolApprover, payer, relaxFourEyes } from '../../../../test/app/approving.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { verifyAddress } from '../../../../test/app/verified.ts';
import { recipientCharger } from '../../../platform/charge.ts';
import { AppError } from '../../../platform/errors.ts';
import { rateLimiter } from '../../../platform/http/limits/rates.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import { channelSeals } from './channels.ts';
import { sendNotices } from './notices.ts';

const HOUR = 3600;

async function started() {
  const service = await startApp({ env: { RATE_LIMIT_DECISION_MAIL: '20' } });
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
  const deps = {
    ...{ db, clock, mailer, egress: { send: async () => ({ status: 200 }) } },
    seals: channelSeals(keyRing),
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
  const told = () => mails;
  return { service, acme, ada, addresses, enrol, ask, send, told, room };
}

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
  expect(digest?.subject).toBe('3 notices about calls of agents');
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

  const digests = told().filter(({ subject }) => subject === '2 notices about calls of agents');
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
  expect([others.length, digest?.subject]).toEqual([20, '2 notices about calls of agents']);
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
  expect([told().length, mail?.subject]).toEqual([21, 'An agent waits for your decision']);
  expect(mail?.text).toContain(`/approve#decision=${open}`);
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
