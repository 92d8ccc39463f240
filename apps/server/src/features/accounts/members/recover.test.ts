import { beforeEach, describe, expect, test } from 'vitest';
import {
  consoleBrowser,
  joinBy,
  memberOf,
  registerPasskey,
  showPasskey,
  signInByKey,
} from '../../../../test/app/console.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { ADMIN_API_KEY, type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { verifyAddress } from '../../../../test/app/verified.ts';
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
