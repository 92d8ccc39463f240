import { describe, expect, test } from 'vitest';
import {
  type ApprovingPerson,
  enrolApprover,
  livePayer,
  payer,
  release,
} from '../../../../test/app/approving.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { webPush } from '../approvers/web-push.ts';
import { careForDue } from './care.ts';
import { channelSeals } from './channels.ts';
import { type Eyes, fourEyesFault } from './decisions.rules.ts';
import { sendNotices } from './notices.ts';

const sandbox = sharedSandbox();
const [HOUR, DAY] = [3600, 86_400];

async function started() {
  const { service, acme } = await sandbox();
  const agent = await payer(acme);
  const enrol = (name: string, wish: object = {}) =>
    enrolApprover(service, acme, `${name}@example.org`, wish);
  const [ada, bob, cleo] = [await enrol('ada'), await enrol('bob'), await enrol('cleo')];
  const after = (seconds: number) => new Date(service.clock().getTime() + seconds * 1000).toISOString();
  const away = (person: ApprovingPerson, deputy?: ApprovingPerson, seconds = DAY) => {
    const body = {
      ...{ from: after(0), until: after(seconds) },
      ...(deputy && { deputyApproverId: deputy.approverId }),
    };
    return person.browser.call('PUT', '/v1/approver/absence', { body });
  };
  return { service, acme, agent, enrol, ada, bob, cleo, away };
}

test('a deputy who is absent hands the calls of somebody else on to nobody', async () => {
  const { agent, ada, bob, cleo, away } = await started();
  await away(ada, bob);
  const own = (await agent.ask({ approvers: [ada.approverId] })).json().decisionId;
  await away(bob, cleo);

  expect((await cleo.approve(own)).statusCode).toBe(404);
  const refused = await agent.ask({ approvers: [ada.approverId], arguments: { n: 1 } });
  expect(refused.json().details).toEqual({ sub_reason: 'no_quorum' });

  const ofBob = (await agent.ask({ approvers: [bob.approverId], arguments: { n: 2 } })).json().decisionId;
  expect((await cleo.approve(ofBob)).json().status).toBe('approved'); // the control
  await bob.browser.call('DELETE', '/v1/approver/absence');
  expect((await bob.approve(own)).json().status).toBe('approved');
});

test('one deputy for two absent people counts once', async () => {
  const { agent, ada, bob, cleo, away } = await started();
  const approvers = [ada.approverId, bob.approverId];
  await away(ada, cleo);
  expect((await agent.ask({ ...release, approvers })).statusCode).toBe(201); // Cleo for Ada, and Bob

  await away(bob, cleo);

  const again = { ...release, approvers, arguments: { ...release.arguments, n: 1 } };
  expect((await agent.ask(again)).json().details).toEqual({ sub_reason: 'no_quorum' });
});

test('an absence lasts ninety days at most, and begins before it ends', async () => {
  const { service, acme, ada, away } = await started();
  const answers = [await away(ada, undefined, 90 * DAY), await away(ada, undefined, 90 * DAY + 0.001)];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 400]);
  expect((await away(ada, undefined, 0)).statusCode).toBe(400);
  expect((await away(ada, ada)).statusCode).toBe(400);

  const at = service.clock().getTime();
  const by = (until: number) =>
    acme('PUT', `/v1/approvers/${ada.approverId}/absence`, {
      ...{ from: new Date(at).toISOString(), until: new Date(at + until).toISOString() },
    });
  expect([(await by(90 * DAY * 1000)).statusCode, (await by(90 * DAY * 1000 + 1)).statusCode]).toEqual([
    200, 400,
  ]);
});

test('from the first reminder on the group `escalation` decides, each for the connectors of their own', async () => {
  const { service, agent, ada, enrol } = await started();
  const chief = await enrol('chief', { groups: ['escalation'] });
  const other = await enrol('other', { groups: ['escalation'], connectors: ['elsewhere'] });
  const { decisionId } = (await agent.ask({ approvers: [ada.approverId], expiresIn: '10m' })).json();
  const onFailure = (error: unknown) => {
    throw error;
  };
  const { db, clock } = service;
  const care = () => careForDue({ db, clock, publicBaseUrl: 'https://auth.test', onFailure });

  service.advance(300 - 0.001);
  await care();
  expect((await chief.approve(decisionId)).statusCode).toBe(404);
  service.advance(0.001);
  await care();

  expect((await other.approve(decisionId)).statusCode).toBe(404);
  expect((await chief.approve(decisionId)).json().status).toBe('approved');
});

test('two processes that remind at once send each person one mail, and announce it once', async () => {
  const service = await startApp();
  const { db, clock, keyRing, mails } = service;
  const acme = await service.asDeveloper();
  await verifyAddress(service, acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  service.advance(DAY);
  await ada.signIn();
  const agent = await livePayer(service, acme);
  const { decisionId } = (await agent.ask({ expiresIn: '10h' })).json();
  const onFailure = (error: unknown) => {
    throw error;
  };
  const deps = {
    ...{ db, clock, mailer: mails, publicBaseUrl: 'https://auth.test', seals: channelSeals(keyRing) },
    ...{ egress: { send: async () => ({ status: 200 }) }, chargeRecipient: async () => {}, onFailure },
    push: webPush(keyRing),
  };
  const bySix = (work: () => Promise<unknown>) => Promise.all(Array.from({ length: 6 }, work));
  const told = () => mails.sent().filter(({ text }) => text.includes(decisionId)).length;
  await bySix(() => sendNotices(deps));
  expect(told()).toBe(1); // the request
  service.advance(5 * HOUR);

  await bySix(() => careForDue(deps));
  await bySix(() => sendNotices(deps));
  await bySix(() => careForDue(deps));
  await bySix(() => sendNotices(deps));

  expect(told()).toBe(2);
  const { events } = (await acme('GET', '/v1/events?limit=500')).json();
  const reminders = events.filter(({ type }: { type: string }) => type === 'decision.reminder');
  expect(reminders).toHaveLength(1);
});

/** Two people who differ in everything. */
const eyes = (name: string): Eyes => ({
  approverId: `apv_${name}`,
  sub: `approver:${name}`,
  credential: `credential-${name}`,
  mailbox: `${name}@example.org`,
  isAssured: true,
  deviceHash: Buffer.from(name.padEnd(32)),
  sessionId: `cses_${name}`,
  isRequester: false,
});
const [ada, bob] = [eyes('ada'), eyes('bob')];
const { approverId, sub, credential, mailbox, deviceHash, sessionId } = ada;

describe('R10: two people', () => {
  test('differ in everything, in either order', () => {
    expect([fourEyesFault(ada, bob, false), fourEyesFault(bob, ada, false)]).toEqual([undefined, undefined]);
  });

  test.each<[string, Partial<Eyes>]>([
    ['person', { approverId }],
    ['sub', { sub }],
    ['credential', { credential }],
    ['email', { mailbox }],
    ['assurance', { isAssured: false }],
    ['device', { deviceHash }],
    ['device', { sessionId }],
    ['requester', { isRequester: true }],
  ])('are one by the check %s alone: %j', (check, same) => {
    const isOfSandbox = check === 'assurance' || check === 'device';
    const second = { ...bob, ...same };

    expect(fourEyesFault(ada, second, false)).toBe(check);
    expect(fourEyesFault(second, ada, false)).toBe(check);
    expect(fourEyesFault(ada, second, true)).toBe(isOfSandbox ? undefined : check);
  });
});
