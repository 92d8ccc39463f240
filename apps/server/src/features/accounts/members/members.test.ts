import { beforeAll, describe, expect, test } from 'vitest';
import { authenticator } from '../../../../test/app/authenticator.ts';
import { consoleBrowser, joinBy, memberOf, showPasskey } from '../../../../test/app/console.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { actionsOf, refusalOf } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { execute } from '../../../../test/servers/postgres.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

type Browser = Pick<Awaited<ReturnType<typeof memberOf>>, 'call'>;
const invite = (by: Browser, role: string, email = `${role}@acme.example`) =>
  by.call('POST', '/v1/members/invitations', { body: { email, role } });
const change = (by: Browser, id: string, body: object) => by.call('PATCH', `/v1/members/${id}`, { body });
const remove = (by: Browser, id: string) => by.call('DELETE', `/v1/members/${id}`);

/** An owner, and a person of the role who has accepted their invitation. */
async function pair(role: string, acme?: Developer) {
  const account = acme ?? (await service.asDeveloper());
  const ada = await memberOf(service, account);
  const made = (await invite(ada, role)).json();
  const bob = await joinBy(service, made.link);
  return { acme: account, ada, bob, made };
}

describe('an invitation', () => {
  test('makes a member with a passkey, once', async () => {
    const { acme, ada, bob, made } = await pair('operator');

    expect(made).toMatchObject({
      email: 'operator@acme.example',
      role: 'operator',
      invitedBy: `member:${ada.memberId}`,
    });
    expect(made.link).toMatch(/^https:\/\/auth\.test\/console\/join#invite=dev_\w+\.inv_\w+\.[\w-]{43}$/);
    expect(made.expiresAt).toBe(new Date(service.clock().getTime() + 7 * 86_400_000).toISOString());
    expect(bob.opened.statusCode).toBe(201);
    expect(bob.opened.json()).toMatchObject({
      member: { displayName: 'Bob', email: 'operator@acme.example', role: 'operator' },
      ...{ openedBy: 'invitation', passkeyRequired: false, capabilities: ['read', 'operate'] },
    });
    expect((await bob.browser.call('GET', '/v1/agents')).statusCode).toBe(200);
    expect((await showPasskey(consoleBrowser(service), bob, 'session/passkey')).statusCode).toBe(200);
    expect((await joinBy(service, made.link)).opened.statusCode).toBe(404);
    const { members } = (await ada.call('GET', '/v1/members')).json();
    expect(members.map((each: { role: string }) => each.role).sort()).toEqual(['operator', 'owner']);
    expect(await actionsOf(acme)).toEqual(expect.arrayContaining(['member.invited', 'member.joined']));
  });

  test('ends after seven days, when it is taken back, and with a newer one to the address', async () => {
    const ada = await memberOf(service, await service.asDeveloper());
    const older = (await invite(ada, 'auditor')).json();
    const newer = (await invite(ada, 'auditor')).json();
    const open = async (link: string) => (await joinBy(service, link)).opened.statusCode;

    expect((await ada.call('GET', '/v1/members/invitations')).json().invitations).toHaveLength(1);
    expect(await open(older.link)).toBe(404);
    expect((await ada.call('DELETE', `/v1/members/invitations/${newer.id}`)).statusCode).toBe(204);
    expect(await open(newer.link)).toBe(404);
    const late = (await invite(ada, 'auditor')).json();
    service.advance(7 * 86_400);
    expect(await open(late.link)).toBe(404);
  });

  test('goes by mail alone where the address of the account is verified, and again by a new link', async () => {
    const acme = await service.asDeveloper();
    await verifyAddress(service, acme);
    const ada = await memberOf(service, acme);
    const email = 'carol@acme.example';
    const mailed = () =>
      service.mails
        .sent()
        .filter(({ to }) => to === email)
        .map(({ text }) => /https:\S+#invite=\S+/.exec(text)?.[0] ?? '')
        .toReversed();

    const made = await invite(ada, 'operator', email);
    const again = await invite(ada, 'operator', email);

    expect([made.json().link, again.json().link]).toEqual([null, null]);
    const [first, second] = mailed();
    expect((await joinBy(service, first ?? '')).opened.statusCode).toBe(404);
    expect((await joinBy(service, second ?? '')).opened.json()).toMatchObject({
      member: { email, role: 'operator' },
    });
    expect(mailed()).toHaveLength(2);
  });

  test('of two people with one link makes one member', async () => {
    const ada = await memberOf(service, await service.asDeveloper());
    const { link } = (await invite(ada, 'auditor')).json();

    const both = await Promise.all([joinBy(service, link), joinBy(service, link)]);

    expect(both.map(({ opened }) => opened.statusCode).sort()).toEqual([201, 404]);
  });

  test.each(['demoted', 'suspended', 'removed'])('is worth nothing when who made it is %s', async (how) => {
    const { ada, bob } = await pair('owner');
    const [of, another] = [
      await invite(bob.browser, 'owner', 'eve@acme.example'),
      await invite(ada, 'auditor'),
    ];
    const id = bob.opened.json().member.id;

    if (how === 'removed') await remove(ada, id);
    else await change(ada, id, how === 'demoted' ? { role: 'auditor' } : { status: 'suspended' });

    expect((await joinBy(service, of.json().link)).opened.statusCode).toBe(404);
    expect((await joinBy(service, another.json().link)).opened.statusCode).toBe(201); // the control
  });

  test('is worth nothing when it was under way while its maker lost the role', async () => {
    const { bob } = await pair('admin');
    const { link } = (await invite(bob.browser, 'operator', 'eve@acme.example')).json();
    const id = bob.opened.json().member.id;

    const demote = (role: string) =>
      execute(service.databaseUrl, `update members set role = '${role}' where id = '${id}'`); // leaves the invitation
    await demote('auditor');
    const refused = (await joinBy(service, link)).opened.statusCode;
    await demote('admin');

    expect([refused, (await joinBy(service, link)).opened.statusCode]).toEqual([404, 201]);
  });

  test('comes from a session alone: an API key adds nobody', async () => {
    const { acme, ada } = await pair('admin');
    const body = { email: 'eve@acme.example', role: 'owner' };

    expect((await acme('POST', '/v1/members/invitations', body)).statusCode).toBe(401);
    expect((await acme('GET', '/v1/members')).statusCode).toBe(401);
    expect((await invite(ada, 'owner', 'eve@acme.example')).statusCode).toBe(201);
  });
});

describe('a role', () => {
  test('is given only by who has a higher one', async () => {
    const { ada, bob } = await pair('admin');
    const carol = await joinBy(service, (await invite(bob.browser, 'operator')).json().link);
    const operator = carol.opened.json().member.id;

    expect(refusalOf(await invite(bob.browser, 'admin', 'x@acme.example'))).toBe('403 FORBIDDEN');
    expect(refusalOf(await invite(bob.browser, 'owner', 'x@acme.example'))).toBe('403 FORBIDDEN');
    expect(refusalOf(await invite(carol.browser, 'auditor', 'x@acme.example'))).toBe('403 FORBIDDEN');
    expect(refusalOf(await change(bob.browser, operator, { role: 'admin' }))).toBe('403 FORBIDDEN');
    expect(refusalOf(await change(bob.browser, ada.memberId, { status: 'suspended' }))).toBe('403 FORBIDDEN');
    expect(refusalOf(await remove(bob.browser, ada.memberId))).toBe('403 FORBIDDEN');
    expect((await change(bob.browser, operator, { role: 'auditor' })).json()).toMatchObject({
      role: 'auditor',
    });
    expect((await change(ada, operator, { role: 'admin' })).json()).toMatchObject({ role: 'admin' });
  });

  test('ends the sessions of its member when it changes, and so do suspension and removal', async () => {
    const { acme, ada, bob } = await pair('admin');
    const id = bob.opened.json().member.id;
    const status = async () => (await bob.browser.call('GET', '/v1/agents')).statusCode;
    const again = () => showPasskey(bob.browser, bob, 'session/passkey');

    expect(await status()).toBe(200);
    await change(ada, id, { role: 'auditor' });
    expect(await status()).toBe(401);
    expect((await again()).json().capabilities).toEqual(['read', 'export']);
    await change(ada, id, { status: 'suspended' });
    expect([await status(), (await again()).statusCode]).toEqual([401, 401]);
    await change(ada, id, { status: 'active' });
    expect((await again()).statusCode).toBe(200);
    expect((await remove(ada, id)).statusCode).toBe(204);
    expect([await status(), (await again()).statusCode]).toEqual([401, 401]);
    expect(await actionsOf(acme)).toEqual(expect.arrayContaining(['member.updated', 'member.removed']));
  });

  test('of an owner is kept by one active member, of two demotions at once too', async () => {
    const { ada, bob } = await pair('owner');
    const id = bob.opened.json().member.id;

    expect(refusalOf(await change(ada, ada.memberId, { role: 'admin' }))).toBe('409 CONFLICT');
    expect(refusalOf(await remove(ada, ada.memberId))).toBe('409 CONFLICT');
    const both = await Promise.all([
      change(ada, id, { role: 'admin' }),
      change(bob.browser, ada.memberId, { role: 'admin' }),
    ]);

    const good = both.filter(({ statusCode }) => statusCode === 200);
    expect(good).toHaveLength(1);
    const owner = both[0]?.statusCode === 200 ? ada : bob.browser;
    const { members } = (await owner.call('GET', '/v1/members')).json();
    expect(members.filter((each: { role: string }) => each.role === 'owner')).toHaveLength(1);
  });

  test('needs a step-up to be given, and none to be taken away', async () => {
    const { ada, bob } = await pair('operator');
    const id = bob.opened.json().member.id;
    service.advance(600);

    expect(refusalOf(await invite(ada, 'admin'))).toBe('403 STEP_UP_REQUIRED');
    expect(refusalOf(await change(ada, id, { role: 'admin' }))).toBe('403 STEP_UP_REQUIRED');
    expect((await change(ada, id, { status: 'suspended' })).statusCode).toBe(200);
    expect(refusalOf(await change(ada, id, { status: 'active' }))).toBe('403 STEP_UP_REQUIRED');
    expect((await remove(ada, id)).statusCode).toBe(204);
  });

  test('of another account is unknown', async () => {
    const [{ bob }, ada] = [await pair('admin'), await memberOf(service, await service.asDeveloper())];
    const id = bob.opened.json().member.id;

    expect((await change(ada, id, { role: 'auditor' })).statusCode).toBe(404);
    expect((await remove(ada, id)).statusCode).toBe(404);
    expect((await bob.browser.call('GET', '/v1/agents')).statusCode).toBe(200);
  });
});

describe('the list of sessions', () => {
  const listed = async (browser: Browser, query = '') =>
    (await browser.call('GET', `/v1/console/sessions${query}`)).json();

  test('shows everybody their own, and an owner all, page by page', async () => {
    const { ada, bob } = await pair('admin');

    const own = await listed(bob.browser);
    const all = await listed(ada);
    const first = await listed(ada, '?limit=1');
    const second = await listed(ada, `?limit=1&cursor=${first.nextCursor}`);

    expect(own.sessions).toEqual([
      {
        ...{
          id: expect.stringMatching(/^cons_/),
          memberId: bob.opened.json().member.id,
          openedBy: 'invitation',
        },
        ...{ ip: '127.0.0.1', userAgent: 'lightMyRequest', current: true },
        ...{ createdAt: expect.any(String), lastSeenAt: expect.any(String), expiresAt: expect.any(String) },
      },
    ]);
    expect(all.sessions).toHaveLength(2);
    expect([...first.sessions, ...second.sessions]).toEqual(all.sessions);
  });

  test('lets each end their own, and an owner any', async () => {
    const { ada, bob } = await pair('admin');
    const end = (by: Browser, id: string) => by.call('DELETE', `/v1/console/sessions/${id}`);
    const ofBob = bob.opened.json().sessionId;

    expect((await end(bob.browser, ada.sessionId)).statusCode).toBe(404);
    expect((await end(ada, ofBob)).statusCode).toBe(204);
    expect((await bob.browser.call('GET', '/v1/agents')).statusCode).toBe(401);
    expect((await end(ada, ofBob)).statusCode).toBe(404);
    expect((await end(ada, ada.sessionId)).statusCode).toBe(204);
    expect((await ada.call('GET', '/v1/agents')).statusCode).toBe(401);
  });
});

test.each([
  '',
  'x',
  'dev_1.inv_1.short',
  `dev_1%00.inv_1.${'a'.repeat(43)}`,
  `dev_1.inv_1.${'a'.repeat(43)}`,
])('an invitation that nobody made is refused: %s', async (text) => {
  const { opened } = await joinBy(service, `#invite=${text}`, authenticator());

  expect(opened.statusCode).toBe(text === '' ? 400 : 404);
});
