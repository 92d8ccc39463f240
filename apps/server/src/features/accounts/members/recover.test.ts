import { beforeEach, describe, expect, test } from 'vitest';
import {
  consoleBrowser,
  joinBy,
  memberOf,
  registerPasskey,
  showPasskey,
  signInByKey,
} from '../../../../test/app/console.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { ADMIN_API_KEY, type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { execute } from '../../../../test/servers/postgres.ts';

let service: Service;
beforeEach(async () => {
  service = await startApp();
});

const grace = { displayName: 'Grace', email: 'Grace@acme.example' };
const recover = ({ developerId }: Pick<Developer, 'developerId'>, body: object = grace) =>
  service.calling(ADMIN_API_KEY)('POST', `/v1/admin/developers/${developerId}/console-recovery`, body);
const open = (url: string, browser = consoleBrowser(service)) =>
  browser.call('POST', '/v1/console/session/link', { body: { link: url.slice(-43) } });
/** Who was told, and by which subject, the first told first. */
const told = () =>
  service.mails
    .sent()
    .filter(({ text }) => text.includes('The account: Acme'))
    .map(({ to, subject }) => [to, subject])
    .toReversed();

test('the address of a live account hears of its first owner, and of no other sign-in', async () => {
  const acme = await service.asDeveloper();
  const email = await verifyAddress(service, acme);

  await memberOf(service, acme);
  await signInByKey(consoleBrowser(service), acme);

  expect(told()).toEqual([
    [email, 'The first owner of your account has opened its console'],
    ['ada@acme.example', 'The first owner of your account has opened its console'],
  ]);
});

test('no mail goes to an address of the account that is not verified', async () => {
  const acme = await service.asDeveloper();
  const { developerId } = acme;
  await execute(
    service.databaseUrl,
    `update developers set email = 'victim@example.org' where id = '${developerId}'`,
  );

  await signInByKey(consoleBrowser(service), acme);

  expect(told().map(([to]) => to)).toEqual(['ada@acme.example']);
});

describe('a link of the operator', () => {
  test('makes a new owner, once they have a passkey, and tells the account and its owners', async () => {
    const acme = await service.asDeveloper();
    const email = await verifyAddress(service, acme);
    const thief = await memberOf(service, acme);
    const before = told().length;

    const made = await recover(acme);
    const browser = consoleBrowser(service);
    const opened = await open(made.json().url, browser);
    const early = await browser.call('GET', '/v1/agents');
    const { answer } = await registerPasskey(browser);
    const removed = await browser.call('DELETE', `/v1/members/${thief.memberId}`);

    expect([made.statusCode, made.json()]).toEqual([
      201,
      {
        url: expect.stringMatching(/^https:\/\/auth\.test\/console#link=[\w-]{43}$/),
        expiresAt: new Date(service.clock().getTime() + 3_600_000).toISOString(),
      },
    ]);
    expect(opened.json()).toMatchObject({
      ...{ openedBy: 'recovery', passkeyRequired: true, capabilities: [] },
      member: { displayName: 'Grace', email: 'grace@acme.example', role: 'owner', invitedBy: 'admin' },
    });
    expect(refusalOf(early)).toBe('403 FORBIDDEN');
    expect([answer.statusCode, removed.statusCode]).toEqual([201, 204]);
    expect((await thief.call('GET', '/v1/agents')).statusCode).toBe(401);
    const [link, used] = [
      'The operator lets a person into the console as an owner',
      'A person came into the console by a link of the operator',
    ];
    expect(told().slice(before).sort()).toEqual(
      [
        [email, link],
        ['ada@acme.example', link],
        [email, used],
        ['ada@acme.example', used],
        ['grace@acme.example', used],
      ].sort(),
    );
    const [requested] = await entriesOf(acme, 'member.recovery_requested');
    expect(requested?.metadata).toMatchObject({ actor: 'admin' });
    const { entries } = (await service.calling(ADMIN_API_KEY)('GET', '/v1/admin/entries')).json();
    expect(entries.at(-1)).toMatchObject({
      action: 'member.recovery_requested',
      metadata: { developerId: acme.developerId },
    });
  });

  test('lets an owner who lost their passkeys register one in their place, and no session by key do so', async () => {
    const acme = await service.asDeveloper();
    const byKey = consoleBrowser(service);
    await signInByKey(byKey, acme); // opened before there was a passkey
    const ada = await memberOf(service, acme);

    const browser = consoleBrowser(service);
    const { url } = (await recover(acme, { displayName: 'Ada', email: 'ada@acme.example' })).json();
    const { member } = (await open(url, browser)).json();
    const registered = (await registerPasskey(browser)).answer;
    const late = (await registerPasskey(byKey)).answer;

    expect(member.id).toBe(ada.memberId);
    expect(registered.statusCode).toBe(201);
    expect(refusalOf(late)).toBe('401 UNAUTHORIZED');
    const { passkeys } = (await browser.call('GET', '/v1/console/passkeys')).json();
    expect(passkeys).toMatchObject([{ id: registered.json().passkey.id }]);
    expect(await entriesOf(acme, 'member.passkey_removed')).toHaveLength(1);
    expect((await ada.call('GET', '/v1/agents')).statusCode).toBe(401);
  });

  test('lets an owner in who has as many passkeys as a person can have, of which a stranger holds some', async () => {
    const acme = await service.asDeveloper();
    const stranger = await memberOf(service, acme);
    for (let had = 1; had < 10; had += 1) await registerPasskey(stranger);
    const tooMany = (await registerPasskey(stranger)).answer;
    const browser = consoleBrowser(service);
    const { url } = (await recover(acme, { displayName: 'Ada', email: 'ada@acme.example' })).json();
    const { sessionId } = (await open(url, browser)).json();

    const ended = await stranger.call('DELETE', `/v1/console/sessions/${sessionId}`);
    const { passkeys } = (await stranger.call('GET', '/v1/console/passkeys')).json();
    const fewer = await stranger.call('DELETE', `/v1/console/passkeys/${passkeys[0].id}`); // ends all other sessions
    const { shown } = stranger;
    for (let more = 0; shown && more < 21; more += 1)
      await showPasskey(consoleBrowser(service), shown, 'session/passkey');
    const { answer } = await registerPasskey(browser);

    expect([tooMany, ended].map(refusalOf)).toEqual(['409 CONFLICT', '409 CONFLICT']);
    expect([fewer.statusCode, answer.statusCode]).toEqual([204, 201]);
    expect((await browser.call('GET', '/v1/console/passkeys')).json().passkeys).toHaveLength(1);
    expect((await stranger.call('GET', '/v1/agents')).statusCode).toBe(401);
  });

  test('keeps its person safe from every other member for an hour', async () => {
    const acme = await service.asDeveloper();
    const stranger = await memberOf(service, acme);
    const browser = consoleBrowser(service);
    const { member, sessionId } = (await open((await recover(acme)).json().url, browser)).json();
    const path = `/v1/members/${member.id}`;
    const attacks = async () => [
      await stranger.call('PATCH', path, { body: { status: 'suspended' } }),
      await stranger.call('PATCH', path, { body: { role: 'auditor' } }),
      await stranger.call('DELETE', `/v1/console/sessions/${sessionId}`),
      await stranger.call('DELETE', path),
    ];

    const before = await attacks();
    const { answer } = await registerPasskey(browser);
    const after = await stranger.call('DELETE', path);
    const listed = (await stranger.call('GET', '/v1/members')).json().members;
    service.advance(3600);
    await showPasskey(stranger, stranger.shown ?? expect.fail(), 'session/passkey');
    const late = await stranger.call('DELETE', path);

    expect(before.map(refusalOf)).toEqual(Array(4).fill('409 CONFLICT'));
    const until = '2026-01-01T01:00:00.000Z';
    expect(before[3]?.json().details).toMatchObject({ sub_reason: 'recovered', until });
    expect([answer.statusCode, refusalOf(after)]).toEqual([201, '409 CONFLICT']);
    expect(listed.map((each: typeof member) => each.protectedUntil).sort()).toEqual([until, null].sort());
    expect(late.statusCode).toBe(204);
  });

  test('lets its person in as an owner whatever was made of their address meanwhile', async () => {
    const acme = await service.asDeveloper();
    const stranger = await memberOf(service, acme);
    const { url } = (await recover(acme)).json();
    const body = { email: grace.email, role: 'auditor' };
    const { link } = (await stranger.call('POST', '/v1/members/invitations', { body })).json();
    await joinBy(service, link);

    const opened = (await open(url)).json();

    expect(opened).toMatchObject({ openedBy: 'recovery', member: { role: 'owner', email: null } });
  });

  test('works once, for an hour, and for no member but an active owner', async () => {
    const acme = await service.asDeveloper();
    const first = (await recover(acme)).json();
    const twice = await Promise.all([open(first.url), open(first.url)]);
    const { url } = (await recover(acme, { ...grace, email: 'late@acme.example' })).json();
    const other = await service.asDeveloper();
    await memberOf(service, other, 'admin');

    service.advance(3600);

    expect(twice.map(({ statusCode }) => statusCode).sort()).toEqual([200, 404]);
    expect((await open(url)).statusCode).toBe(404);
    expect(refusalOf(await recover(other, { ...grace, email: 'ada@acme.example' }))).toBe('409 CONFLICT');
    expect(refusalOf(await recover({ developerId: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' }))).toBe('404 NOT_FOUND');
    expect(refusalOf(await recover(acme, { displayName: 'Grace' }))).toBe('400 BAD_REQUEST');
  });
});

describe('recovery codes', () => {
  type Browser = ReturnType<typeof consoleBrowser>;
  /** A member who registered their first passkey, with the codes that came with it. */
  async function withCodes(acme: Developer, person = { displayName: 'Ada', email: 'ada@acme.example' }) {
    const browser = consoleBrowser(service);
    await signInByKey(browser, acme, person);
    const { answer, device, handle } = await registerPasskey(browser);
    const codes: string[] = answer.json().recoveryCodes;
    const { member } = (await browser.call('GET', '/v1/console/session')).json();
    return { ...browser, codes, shown: { device, handle }, memberId: String(member.id) };
  }
  const recoverWith = (code = '', email = 'ada@acme.example', browser = consoleBrowser(service)) =>
    browser.call('POST', '/v1/console/session/recover', { body: { email, code } });
  const left = async (browser: Pick<Browser, 'call'>) =>
    (await browser.call('GET', '/v1/console/passkeys')).json().recoveryCodesLeft;

  test('come with the first passkey, open nothing but another one, and are told to all owners', async () => {
    const acme = await service.asDeveloper();
    const ada = await withCodes(acme);
    const browser = consoleBrowser(service);

    const opened = await recoverWith(
      ` ${ada.codes[0]?.toLowerCase().replace(/(....)/g, '$1-')}`,
      'ADA@acme.example',
      browser,
    );
    const early = await browser.call('GET', '/v1/agents');
    const registered = (await registerPasskey(browser)).answer;

    expect(ada.codes).toHaveLength(10);
    expect(new Set(ada.codes).size).toBe(10);
    for (const code of ada.codes) expect(code).toMatch(/^[A-Z2-7]{16}$/);
    expect(opened.json()).toMatchObject({
      ...{ openedBy: 'code', passkeyRequired: true, capabilities: [], member: { id: ada.memberId } },
    });
    expect(refusalOf(early)).toBe('403 FORBIDDEN');
    expect(registered.json()).toMatchObject({ recoveryCodes: null, session: { passkeyRequired: false } });
    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(200);
    expect((await browser.call('GET', '/v1/console/passkeys')).json()).toMatchObject({
      ...{ passkeys: [{}, {}], recoveryCodesLeft: 9 },
    });
    expect(told().at(-1)).toEqual(['ada@acme.example', 'A member came into the console by a recovery code']);
    const [entry] = await entriesOf(acme, 'console.recovery_used');
    expect(entry?.metadata).toMatchObject({
      ...{ actor: `member:${ada.memberId}`, memberId: ada.memberId, codesLeft: 9 },
    });
    expect((await showPasskey(consoleBrowser(service), ada.shown, 'session/passkey')).statusCode).toBe(200);
  });

  test('work once, also for two browsers at the same time', async () => {
    const ada = await withCodes(await service.asDeveloper());
    const [code] = ada.codes;

    const both = await Promise.all([recoverWith(code), recoverWith(code)]);

    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401]);
    expect(refusalOf(await recoverWith(code))).toBe('401 UNAUTHORIZED');
    expect(await left(ada)).toBe(9);
    expect((await recoverWith(ada.codes[1])).statusCode).toBe(200);
  });

  test('are refused alike for another member, another account, an unknown code and a suspended member', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const ada = await withCodes(acme);
    const bob = await withCodes(acme, { displayName: 'Bob', email: 'bob@acme.example' });
    const eve = await withCodes(await service.asDeveloper(), {
      displayName: 'Eve',
      email: 'eve@evil.example',
    });
    await showPasskey(ada, ada.shown, 'session/step-up');

    const refused = [
      await recoverWith(bob.codes[0], 'ada@acme.example'),
      await recoverWith(eve.codes[0], 'ada@acme.example'),
      await recoverWith('A'.repeat(16)),
      await recoverWith(ada.codes[0], 'nobody@acme.example'),
    ].map((answer) => ({ ...answer.json(), requestId: undefined, status: answer.statusCode }));
    const cut = await ada.call('PATCH', `/v1/members/${bob.memberId}`, { body: { status: 'suspended' } });
    service.advance(3600);
    const suspended = await recoverWith(bob.codes[0], 'bob@acme.example');

    expect(new Set(refused.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(refused[0]).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect([cut.statusCode, suspended.statusCode]).toEqual([200, 401]);
    const attempts = await entriesOf(acme, 'console.sign_in_failed');
    expect(attempts.map(({ metadata }) => metadata)).toMatchObject([
      { memberId: bob.memberId, check: 'recovery' },
      { memberId: bob.memberId, check: 'recovery' },
    ]);
    expect((await recoverWith(ada.codes[0])).statusCode).toBe(200); // the control
    expect((await recoverWith(eve.codes[0], 'eve@evil.example')).json().member.id).toBe(eve.memberId);
  });

  test('are made anew after a step-up, and then the older ones open nothing', async () => {
    const ada = await withCodes(await service.asDeveloper());
    const remake = () => ada.call('POST', '/v1/console/recovery-codes', { body: {} });
    service.advance(600);

    const early = await remake();
    await showPasskey(ada, ada.shown, 'session/step-up');
    const made = await remake();
    const { recoveryCodes } = made.json();

    expect(refusalOf(early)).toBe('403 STEP_UP_REQUIRED');
    expect([made.statusCode, recoveryCodes.length]).toEqual([201, 10]);
    expect((await recoverWith(ada.codes[0])).statusCode).toBe(401);
    expect((await recoverWith(recoveryCodes[0])).statusCode).toBe(200);
  });

  test('are none for who has no passkey, and end with their member', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const ada = consoleBrowser(service);
    await signInByKey(ada, acme);
    const bob = await withCodes(acme, { displayName: 'Bob', email: 'bob@acme.example' });

    const none = await ada.call('POST', '/v1/console/recovery-codes', { body: {} });
    const removed = await ada.call('DELETE', `/v1/members/${bob.memberId}`);

    expect(refusalOf(none)).toBe('409 CONFLICT');
    expect(removed.statusCode).toBe(204);
    expect((await recoverWith(bob.codes[0], 'bob@acme.example')).statusCode).toBe(401);
  });

  test('come to who accepts an invitation, and no stored form tells one', async () => {
    const acme = await service.asDeveloper();
    const ada = await withCodes(acme);
    const invitation = { email: 'bob@acme.example', role: 'auditor' };
    const { link } = (await ada.call('POST', '/v1/members/invitations', { body: invitation })).json();

    const { recoveryCodes } = (await joinBy(service, link)).opened.json();
    const { rows } = await execute(
      service.databaseUrl,
      `select m.*, encode(code_hash, 'escape') as text from member_recovery_codes m`,
    );
    const opened = await recoverWith(recoveryCodes[9], 'bob@acme.example');

    expect(recoveryCodes).toHaveLength(10);
    expect(JSON.stringify(rows)).not.toContain(recoveryCodes[0]);
    expect(opened.json()).toMatchObject({ member: { role: 'auditor' }, passkeyRequired: true });
  });

  test('are tried five times an hour from one address', async () => {
    const limited = await startApp({ realLimits: true, startsAt: '2026-02-01T00:00:00.000Z' });
    const wrong = () =>
      consoleBrowser(limited).call('POST', '/v1/console/session/recover', {
        body: { email: 'ada@acme.example', code: 'A'.repeat(16) },
      });

    const answers = [];
    for (let tries = 0; tries < 6; tries += 1) answers.push((await wrong()).statusCode);
    limited.advance(3600);

    expect(answers).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await wrong()).statusCode).toBe(401);
  });
});
