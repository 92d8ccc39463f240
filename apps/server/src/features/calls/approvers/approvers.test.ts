import { expect, test } from 'vitest';
import {
  approverBrowser,
  enrolApprover,
  enrolWith,
  livePayer,
  payer,
  release,
} from '../../../../test/app/approving.ts';
import { authenticator } from '../../../../test/app/authenticator.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { actionsOf, entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { type Developer, type Service, startApp, type TestOptions } from '../../../../test/app/start-app.ts';

const HOUR = 3600;

/** A live account whose address is verified, so that invitations go by mail alone. */
async function live(options?: TestOptions) {
  const service = await startApp(options);
  const acme = await service.asDeveloper();
  const email = await verifyAddress(service, acme);
  return { service, acme, email };
}

const statusOf = async (acme: Developer, id: string) =>
  (await acme('GET', '/v1/approvers'))
    .json()
    .approvers.find(({ approverId }: { approverId: string }) => approverId === id);

const linkIn = ({ mails }: Service, to: string) =>
  /https?:\S+#invite=\S+/.exec(
    mails.sent().find((mail) => mail.to === to && mail.text.includes('#invite='))?.text ?? '',
  )?.[0] ?? '';

test('W3: an API key adds no person alone: the first one waits a day, each later one for another approver', async () => {
  const { service, acme, email } = await live();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  expect(await statusOf(acme, ada.approverId)).toMatchObject({
    status: 'active',
    emailVerified: true,
    assurance: 'single',
    activeFrom: '2026-01-02T00:00:00.000Z',
  });
  expect(
    service.mails.sent().find((mail) => mail.to === email && mail.subject.includes('enrolled')),
  ).toBeDefined();
  service.advance(1);
  const mallory = await enrolApprover(service, acme, 'mallory@example.org');
  expect(await statusOf(acme, mallory.approverId)).toMatchObject({ status: 'pending_confirmation' });

  const confirm = (by: typeof ada, whom: typeof ada) =>
    by.browser.call('POST', `/v1/approver/colleagues/${whom.approverId}/confirm`, { body: {} });
  expect((await confirm(mallory, mallory)).statusCode).toBe(403);
  expect((await confirm(ada, mallory)).statusCode).toBe(403); // Ada's day is not over

  service.advance(24 * HOUR);
  await ada.signIn();
  expect((await confirm(ada, ada)).statusCode).toBe(403); // it would make her assurance `dual`
  const waiting = (await ada.browser.call('GET', '/v1/approver/colleagues')).json().colleagues;
  expect(waiting).toMatchObject([{ approverId: mallory.approverId, email: 'mallory@example.org' }]);
  expect((await confirm(ada, mallory)).json()).toMatchObject({ status: 'active', assurance: 'dual' });
  expect(await actionsOf(acme)).toEqual(
    expect.arrayContaining(['approver.invited', 'approver.enrolled', 'approver.confirmed']),
  );
});

test('W3: the first approver can be removed until their day is over, and not once they are the last one', async () => {
  const { service, acme } = await live();
  const remove = (id: string) => acme('DELETE', `/v1/approvers/${id}`);
  const turn = (id: string, status: string) => acme('PATCH', `/v1/approvers/${id}`, { status });
  const intruder = await enrolApprover(service, acme, 'mallory@example.org');
  service.advance(24 * HOUR - 0.001);

  const answers = [
    await turn(intruder.approverId, 'suspended'),
    await turn(intruder.approverId, 'active'),
    await remove(intruder.approverId),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 204]);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  expect(await statusOf(acme, ada.approverId)).toMatchObject({ status: 'active' });

  service.advance(24 * HOUR);
  const removed = await remove(ada.approverId);
  expect([removed.statusCode, removed.json().details]).toEqual([409, { sub_reason: 'last_approver' }]);
  expect((await turn(ada.approverId, 'suspended')).statusCode).toBe(409);
});

test('R10: in a live account four eyes demand two people who were vouched for, on two devices', async () => {
  const { service, acme } = await live();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  service.advance(24 * HOUR);
  const people = [];
  await ada.signIn();
  for (const name of ['bob', 'cleo']) {
    const person = await enrolApprover(service, acme, `${name}@example.org`);
    await ada.browser.call('POST', `/v1/approver/colleagues/${person.approverId}/confirm`, { body: {} });
    people.push(person);
    service.advance(1);
  }
  const [bob, cleo] = people;
  if (!bob || !cleo) throw new Error('two people');
  const agent = await livePayer(service, acme);
  const { decisionId } = (await agent.ask(release)).json();
  await ada.approve(decisionId);
  const weak = await bob.approve(decisionId);
  expect(weak.json().details).toEqual({ sub_reason: 'same_approver', check: 'assurance' });

  const second = (await agent.ask({ ...release, arguments: { ...release.arguments, n: 1 } })).json()
    .decisionId;
  await bob.approve(second);
  const mark = bob.browser.cookies.get('__Host-bh_device') ?? '';
  const own = cleo.browser.cookies.get('__Host-bh_device') ?? '';
  cleo.browser.cookies.set('__Host-bh_device', mark);
  await cleo.signIn();
  expect((await cleo.approve(second)).json().details).toMatchObject({ check: 'device' });
  cleo.browser.cookies.set('__Host-bh_device', own);
  await cleo.signIn();
  expect((await cleo.approve(second)).json().status).toBe('approved');
});

test('W3: a link enrols one person once, for 72 hours, until another one replaces it', async () => {
  const { service, acme } = await live();
  const body = { email: 'Ada+1@example.org', displayName: 'Ada' };
  const invited = await acme('POST', '/v1/approvers', body);
  expect(invited.json()).toMatchObject({ status: 'invited', link: null });
  const first = linkIn(service, body.email);
  await acme('POST', '/v1/approvers', body);
  const link = linkIn(service, body.email);

  const browser = approverBrowser(service);
  const device = authenticator();
  expect((await enrolWith(browser, device, first)).answer.statusCode).toBe(404);
  expect((await enrolWith(browser, device, `${link}x`)).answer.statusCode).toBe(404);
  service.advance(72 * HOUR);
  expect((await enrolWith(browser, device, link)).answer.statusCode).toBe(404);
  service.advance(-1);
  expect((await enrolWith(browser, device, link)).answer.statusCode).toBe(201);
  expect((await enrolWith(browser, device, link)).answer.statusCode).toBe(404);
  const again = await acme('POST', '/v1/approvers', { ...body, email: 'ada@EXAMPLE.org' });
  expect(again.statusCode).toBe(409);
});

test('W3: a session is one browser’s, ends when it is idle, after eight hours, and with its person', async () => {
  const { service, acme } = await live();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const { browser } = ada;
  const seen = async () => (await browser.call('GET', '/v1/approver/session')).statusCode;

  expect(await seen()).toBe(200);
  const strange = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://mallory.test' }];
  for (const headers of strange) {
    expect((await browser.call('GET', '/v1/approver/session', { headers })).statusCode).toBe(403);
  }
  const headers = { 'x-csrf-token': 'other' };
  expect((await browser.call('DELETE', '/v1/approver/session', { headers })).statusCode).toBe(403);
  const keyed = { authorization: `Bearer ${acme.apiKey}` };
  expect((await browser.call('GET', '/v1/approver/session', { headers: keyed })).statusCode).toBe(403);

  service.advance(899.999);
  expect(await seen()).toBe(200);
  service.advance(900);
  expect(await seen()).toBe(401);
  expect((await ada.signIn()).statusCode).toBe(200);
  for (let minutes = 0; minutes < 8 * 60 - 10; minutes += 10) {
    service.advance(600);
    expect(await seen()).toBe(200);
  }
  service.advance(600);
  expect(await seen()).toBe(401);
  await ada.signIn();
  const cookie = browser.cookies.get('__Host-bh_approve') ?? '';
  expect((await browser.call('DELETE', '/v1/approver/session')).statusCode).toBe(204);
  browser.cookies.set('__Host-bh_approve', cookie);
  expect(await seen()).toBe(401);
});

test('W3: a sign-in ends the former session of the browser, and that of no other one', async () => {
  const { service, acme } = await live();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const { cookies, call } = ada.browser;
  const name = '__Host-bh_approve';
  const seen = async (cookie: string) => {
    cookies.set(name, cookie);
    return (await call('GET', '/v1/approver/session')).statusCode;
  };
  const former = cookies.get(name) ?? '';
  await ada.signIn();
  const next = cookies.get(name) ?? '';
  expect([await seen(former), await seen(next)]).toEqual([401, 200]);

  cookies.delete(name); // a browser of its own
  await ada.signIn();
  const other = cookies.get(name) ?? '';
  expect([await seen(next), await seen(other)]).toEqual([200, 200]);
  cookies.set(name, next.replace(/[^.]+$/, 'guessed'));
  await ada.signIn();
  expect(await seen(next)).toBe(200);
});

test('O35 a passkey that does not sign its approver in is in the audit log, once in a minute', async () => {
  const { service, acme } = await live();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const recorded = () => entriesOf(acme, 'approver.sign_in_failed');

  await ada.signIn({ userHandle: Buffer.alloc(32).toString('base64url') });
  expect(await recorded()).toEqual([]); // an unknown passkey belongs to no account
  for (let time = 0; time < 3; time += 1) await ada.signIn({ flags: 1 });
  expect((await ada.signIn()).statusCode).toBe(200); // the control

  expect(await recorded()).toMatchObject([
    {
      status: 'blocked',
      metadata: { approverId: ada.approverId, check: 'userVerification', previousMinute: 0 },
    },
  ]);
});

test('W1: signing in takes a fresh challenge, the person’s verification, and no copy of a passkey', async () => {
  const { service, acme } = await live();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const { call } = ada.browser;

  expect(refusalOf(await ada.signIn({ flags: 1 }))).toContain('WEBAUTHN_VERIFICATION_FAILED');
  expect((await ada.signIn({ userHandle: bob.handle })).statusCode).toBe(401);
  const { challengeId, publicKey } = (
    await call('POST', '/v1/approver/session/options', { body: {} })
  ).json();
  expect(publicKey.allowCredentials ?? []).toEqual([]);
  const body = { challengeId, response: ada.device.get(publicKey, { userHandle: ada.handle }) };
  const answers = await Promise.all(
    [1, 2, 3].map(() => call('POST', '/v1/approver/session/verify', { body })),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400, 400]);
  expect((await ada.signIn({ counter: 5 })).statusCode).toBe(200);
  expect(refusalOf(await ada.signIn({ counter: 5 }))).toContain('WEBAUTHN_CLONE_SUSPECTED');
  expect((await ada.signIn({ counter: 6 })).statusCode).toBe(401);
  expect(await entriesOf(acme, 'approver.clone_suspected')).toHaveLength(1);
});

test('a person hears by mail what a key changes in their record, and nothing of what they change themself', async () => {
  const { service, acme } = await live();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  service.advance(24 * HOUR);
  await ada.signIn();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  await ada.browser.call('POST', `/v1/approver/colleagues/${bob.approverId}/confirm`, { body: {} });
  const told = () =>
    service.mails
      .sent()
      .filter(({ subject }) => subject === 'Your record as an approver has changed')
      .map(({ to, text }) => [to, text.split('\n').filter((line) => line.startsWith('    Your '))]);
  const at = service.clock().getTime();
  const [from, until] = [new Date(at).toISOString(), new Date(at + 86_400_000).toISOString()];
  const absence = { from, until, deputyApproverId: bob.approverId };
  const path = `/v1/approvers/${ada.approverId}`;

  await ada.browser.call('PUT', '/v1/approver/absence', { body: absence });
  await ada.browser.call('DELETE', '/v1/approver/absence');
  await acme('PATCH', path, { groups: [] });
  expect(told()).toEqual([]);

  await acme('PATCH', path, { groups: ['finance'] });
  expect(told()).toEqual([['ada@example.org', ['    Your groups: finance']]]);
  await acme('PUT', `${path}/absence`, absence);
  const lines = [`    Your absence: from ${from} until ${until}`, '    Your deputy: bob'];
  expect(told()).toContainEqual(['ada@example.org', lines]);
  await acme('DELETE', `${path}/absence`);
  expect(told()).toHaveLength(3);
});

test('mails that a stranger has sent to a person keep no notice of a change from them', async () => {
  const env = { RATE_LIMIT_MAIL_RECIPIENT: '3', RATE_LIMIT_MAIL_NOTICE: '2' };
  const { service, acme } = await live({ env, store: 'memory' });
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const stranger = await service.asDeveloper({ mode: 'sandbox' });
  const ask = async () =>
    (await stranger('POST', '/v1/signup/verify', { email: 'ada@example.org' })).statusCode;
  expect([await ask(), await ask(), await ask()]).toEqual([201, 201, 429]);

  for (const group of ['a', 'b', 'c'])
    await acme('PATCH', `/v1/approvers/${ada.approverId}`, { groups: [group] });

  const told = service.mails.sent().filter(({ text }) => text.includes('    Your groups: '));
  expect(told).toHaveLength(2);
});

test('a principal who leaves is no approver from then on, and none of others’ grants before', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const directory = await provisionerOf(service, acme);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const emails = [{ value: 'u42@example.org', primary: true }];
  const { id } = (await directory('POST', '/Users', { schemas, userName: 'user_42', emails })).json();
  expect((await acme('POST', '/v1/approvers', { principalId: 'nobody' })).statusCode).toBe(409);
  const made = await acme('POST', '/v1/approvers', { principalId: 'user_42' });
  expect(made.json()).toMatchObject({
    kind: 'principal',
    email: 'u42@example.org',
    sub: 'principal:user_42',
  });
  const browser = approverBrowser(service);
  expect((await enrolWith(browser, authenticator(), String(made.json().link))).answer.statusCode).toBe(201);
  const [own, other] = [await payer(acme), await payer(acme, { principalId: 'user_43' })];

  expect((await own.ask()).statusCode).toBe(201);
  expect((await other.ask()).json().details).toEqual({ sub_reason: 'no_quorum' });
  await directory('DELETE', `/Users/${id}`);

  expect((await browser.call('GET', '/v1/approver/session')).statusCode).toBe(401);
  expect((await acme('GET', '/v1/approvers')).json().approvers).toEqual([]);
  const [removed] = await entriesOf(acme, 'approver.removed');
  expect(removed?.metadata).toMatchObject({ reason: 'principal_offboarded' });
});
