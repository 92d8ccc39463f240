import { expect, test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { ownDomain } from '../../../../test/app/asserting.ts';
import {
  type ConsoleBrowser,
  consoleBrowser,
  memberOf,
  registerPasskey,
  showPasskey,
} from '../../../../test/app/console.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { addOidc, besideProvider } from '../../../../test/app/signing-on.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const GROUPS = { Platform: 'admin', Support: 'operator', Audit: 'auditor' };

/** A live account with an owner, at whose provider members sign in to the console. */
async function organisation(members: object = {}) {
  const service = await startApp(besideProvider()); // a provider looks at the real time, so no test shares a clock
  return { service, ...(await accountOf(service, members)) };
}

async function accountOf(service: Service, members: object = {}) {
  const provider = await startAccountsServer();
  const acme = await service.asDeveloper();
  const ada = await memberOf(service, acme);
  const { id } = await addOidc(acme, provider, { groupAttribute: 'groups' });
  const path = `/v1/sso/connections/${id}`;
  const body = { consoleAccess: true, consoleGroupMappings: GROUPS, ...members };
  const opened = await ada.call('PATCH', path, { body });
  if (opened.statusCode !== 200) throw new Error(opened.body);
  const org = acme.developerId;
  return { provider, acme, ada, path, org, connectionId: String(id) };
}

interface Person {
  readonly account?: string;
  readonly groups?: readonly string[];
}

/** Signs a browser in at the provider, the way the sign-in page sends it. @returns the address that the provider sends it back to */
async function goToProvider(
  browser: ConsoleBrowser,
  { provider, org }: { readonly provider: AccountsServer; readonly org: string },
  { account = 'bob', groups = ['Platform'] }: Person = {},
) {
  Object.assign(provider.behaviour, { account, groups });
  const begun = await browser.call('GET', `/v1/console/session/sso?org=${org}`);
  const sent = await browser.call('GET', String(begun.headers.location));
  return provider.visit(String(sent.headers.location));
}

const enter = (browser: ConsoleBrowser) => browser.call('POST', '/v1/console/session/sso', { body: {} });

async function signOn(
  service: Service,
  at: { readonly provider: AccountsServer; readonly org: string },
  person: Person = {},
) {
  const browser = consoleBrowser(service);
  const back = await goToProvider(browser, at, person);
  const landed = await browser.call('GET', back.pathname + back.search);
  const opened = await enter(browser);
  return { ...browser, landed, opened, member: opened.json().member };
}

const agentsFor = async (browser: Pick<ConsoleBrowser, 'call'>) =>
  (await browser.call('GET', '/v1/agents')).statusCode;

test('a person of a mapped group becomes a member at the first sign-in, with the role of the group and no longer than the session', async () => {
  const at = await organisation();
  const { service, acme, connectionId } = at;

  const bob = await signOn(service, at, { groups: ['Audit', 'Support', 'Cooks'] });
  const again = await signOn(service, at, { groups: ['Support'] });

  expect([bob.landed.statusCode, bob.landed.headers.location]).toEqual([302, '/console#sso=1']);
  expect(bob.opened.json()).toMatchObject({
    ...{ openedBy: 'sso', passkeyRequired: false, steppedUpUntil: null },
    member: { role: 'operator', identity: `sso:${connectionId}`, email: 'bob@upstream.test' },
  });
  const [{ expiresAt }] = (await acme('GET', '/v1/sso/sessions')).json().sessions;
  expect(new Date(bob.opened.json().expiresAt) <= new Date(expiresAt)).toBe(true);
  expect(again.member.memberId).toBe(bob.member.memberId);
  expect([await agentsFor(bob), await agentsFor(again)]).toEqual([200, 200]);
  expect((await entriesOf(acme, 'member.joined')).at(-1)?.metadata).toMatchObject({
    ...{ memberId: bob.member.memberId, role: 'operator', openedBy: 'sso', actor: `sso:${connectionId}` },
  });
});

test('a verified domain leads to the connection, and nothing leads to one without access to the console', async () => {
  const at = await organisation({ domains: ['upstream.test'] });
  const { service, acme, ada, path, org, connectionId } = at;
  await ownDomain(service, acme, 'upstream.test');
  const begin = async (query: string) => {
    const answer = await consoleBrowser(service).call('GET', `/v1/console/session/sso?${query}`);
    return answer.statusCode === 302 ? String(answer.headers.location) : answer.statusCode;
  };

  const open = [
    await begin('domain=upstream.test'),
    await begin(`org=${org}`),
    await begin('domain=other.test'),
  ];
  await ada.call('PATCH', path, { body: { consoleAccess: false } });
  const shut = [await begin('domain=upstream.test'), await begin(`org=${org}`), await begin('')];

  const login = expect.stringMatching(new RegExp(`^/sso/login\\?org=${org}&connection=${connectionId}&`));
  expect(open).toEqual([login, login, 404]);
  expect(open[0]).toContain('max_age=600'); // a browser that was left signed in there is asked again
  expect(shut).toEqual([404, 404, 400]);
});

test('the role is read anew at each sign-in, and who lost the group is out of every session', async () => {
  const at = await organisation();
  const { service, acme } = at;
  const first = await signOn(service, at);
  const { link } = (
    await first.call('POST', '/v1/members/invitations', {
      body: { email: 'eve@evil.example', role: 'auditor' },
    })
  ).json();

  const lower = await signOn(service, at, { groups: ['Audit'] });
  const afterLower = [await agentsFor(first), await agentsFor(lower)];
  const removed = await signOn(service, at, { groups: [] });

  expect(link).toBeUndefined(); // without a passkey, a member of an organisation lets nobody in
  expect([first.member.role, lower.member.role]).toEqual(['admin', 'auditor']);
  expect(afterLower).toEqual([401, 200]);
  expect(refusalOf(removed.opened)).toBe('403 SSO_NOT_PROVISIONED');
  expect([await agentsFor(lower), await agentsFor(removed)]).toEqual([401, 401]);
  expect((await entriesOf(acme, 'member.updated')).at(-1)?.metadata).toMatchObject({ role: 'auditor' });
  expect((await entriesOf(acme, 'console.sign_in_failed')).at(-1)?.metadata).toMatchObject({
    code: 'SSO_NOT_PROVISIONED',
  });
});

test('a change of what the groups mean ends what was opened before it', async () => {
  const at = await organisation();
  const { service, ada, path } = at;
  const bob = await signOn(service, at);
  const before = await agentsFor(bob);
  service.advance(1);

  const body = { consoleGroupMappings: { ...GROUPS, Platform: 'auditor' } };
  expect((await ada.call('PATCH', path, { body })).statusCode).toBe(200);
  const after = [await agentsFor(bob), (await enter(bob)).statusCode];
  const again = await signOn(service, at);

  expect([before, ...after]).toEqual([200, 401, 401]);
  expect(again.member).toMatchObject({ memberId: bob.member.memberId, role: 'auditor' });
});

test('31 H4: an address opens nobody: not the owner who has it, and no member of another provider', async () => {
  const at = await organisation();
  const { service, ada } = at;
  at.provider.behaviour.claims = { email: 'ada@acme.example' };

  const bob = await signOn(service, at);
  at.provider.behaviour.claims = { email: 'ada@acme.example', email_verified: false };
  const unverified = await signOn(service, at, { account: 'mallory' });
  const members = (await ada.call('GET', '/v1/members')).json().members;

  expect(bob.member).toMatchObject({ role: 'admin', email: 'ada@acme.example' });
  expect(bob.member.memberId).not.toBe(ada.memberId);
  expect(unverified.member).toMatchObject({ email: null });
  expect(members.map(({ role }: { role: string }) => role).sort()).toEqual(['admin', 'admin', 'owner']);
  const invited = { email: 'ada@acme.example', role: 'auditor' };
  expect(refusalOf(await ada.call('POST', '/v1/members/invitations', { body: invited }))).toBe(
    '409 CONFLICT',
  );
  const other = { email: 'bob@upstream.test', role: 'auditor' };
  expect((await ada.call('POST', '/v1/members/invitations', { body: other })).statusCode).toBe(201);
});

test('31 H4: a provider of another account opens that account alone, whatever the cookie says', async () => {
  const at = await organisation();
  const { service, org } = at;
  const evil = await accountOf(service);
  const browser = consoleBrowser(service);
  const back = await goToProvider(browser, evil, { account: 'bob' });
  await browser.call('GET', back.pathname + back.search);
  const [name = '', value = ''] = [...browser.cookies].find(([each]) => each.includes('sso_session')) ?? [];

  browser.cookies.set(name, value.replace(/^[^.]+/, org));
  const foreign = await enter(browser);
  browser.cookies.set(name, value);
  const own = await enter(browser);

  expect(refusalOf(foreign)).toBe('401 UNAUTHORIZED');
  expect(own.json().developer.developerId).toBe(evil.org);
  const bob = await signOn(service, at);
  expect(bob.member.memberId).not.toBe(own.json().member.memberId);
});

test('31 H4: an answer of the provider is used once, in the browser that asked, and opens the console for ten minutes', async () => {
  const at = await organisation();
  const { service } = at;
  const [victim, thief] = [consoleBrowser(service), consoleBrowser(service)];
  const back = await goToProvider(victim, at);

  const stolen = await thief.call('GET', back.pathname + back.search);
  const landed = await victim.call('GET', back.pathname + back.search);
  const replayed = await victim.call('GET', back.pathname + back.search);
  const without = await enter(thief);
  service.advance(600);
  const opened = await enter(victim);
  service.advance(1);
  const late = await enter(victim);

  expect([stolen.statusCode, landed.statusCode, replayed.statusCode]).toEqual([400, 302, 400]);
  expect([without.statusCode, opened.statusCode, late.statusCode]).toEqual([401, 200, 401]);
});

test('a session of the console ends with the one at the provider, and with the access of the connection', async () => {
  const at = await organisation();
  const { service, acme, ada, path } = at;
  const [bob, cleo] = [await signOn(service, at), await signOn(service, at, { account: 'cleo' })];
  const { sessions } = (await acme('GET', '/v1/sso/sessions')).json();
  const ofBob = sessions.find(({ idpSubject }: { idpSubject: string }) => idpSubject === 'bob');
  expect([await agentsFor(bob), await agentsFor(cleo)]).toEqual([200, 200]);

  await acme('DELETE', `/v1/sso/sessions/${ofBob.id}`);
  const afterEnd = [await agentsFor(bob), await agentsFor(cleo)];
  const cut = await acme('PATCH', path, { consoleAccess: false }); // cutting authority needs no owner
  const afterCut = [await agentsFor(cleo), await agentsFor(ada)];

  expect(afterEnd).toEqual([401, 200]);
  expect(cut.statusCode).toBe(200);
  expect(afterCut).toEqual([401, 200]);
});

test('who comes into the console is for an owner with a passkey to say: no key, no admin, no setup changes it', async () => {
  const at = await organisation();
  const { service, acme, ada, path } = at;
  const bob = await signOn(service, at);
  const enrolled = await registerPasskey(bob);
  await showPasskey(bob, enrolled, 'session/step-up');
  const patch = (body: object) => acme('PATCH', path, body);

  const byKey = [
    await patch({ consoleGroupMappings: { Everybody: 'admin' } }),
    await patch({ groupAttribute: 'other' }),
    await patch({ issuerUrl: 'https://evil.example', clientSecret: 'its own' }),
    await acme('POST', '/v1/sso/connections', {
      ...{
        name: 'Mine',
        protocol: 'oidc',
        issuerUrl: 'https://evil.example',
        clientId: 'x',
        clientSecret: 'y',
      },
      consoleAccess: true,
    }),
  ];
  const byAdmin = await bob.call('PATCH', path, { body: { consoleGroupMappings: { Everybody: 'admin' } } });
  const control = await bob.call('PATCH', path, { body: { name: 'Only a name' } });
  service.advance(600);
  const stale = await ada.call('PATCH', path, { body: { consoleGroupMappings: {} } });

  expect(byKey.map(refusalOf)).toEqual(byKey.map(() => '403 FORBIDDEN'));
  expect(refusalOf(byAdmin)).toBe('403 FORBIDDEN');
  expect(control.statusCode).toBe(200);
  expect(refusalOf(stale)).toBe('403 STEP_UP_REQUIRED');
  expect((await patch({ name: 'By key' })).json()).toMatchObject({ consoleGroupMappings: GROUPS });
});

test('nobody becomes an owner by a provider, or keeps another role than that of their groups', async () => {
  const at = await organisation();
  const { service, ada, path } = at;
  const bob = await signOn(service, at);
  const change = (body: object) => ada.call('PATCH', `/v1/members/${bob.member.memberId}`, { body });

  const mapped = await ada.call('PATCH', path, { body: { consoleGroupMappings: { Platform: 'owner' } } });
  const raised = await change({ role: 'owner' });
  const lowered = await change({ role: 'auditor' });
  const own = await bob.call('PATCH', `/v1/members/${bob.member.memberId}`, { body: { role: 'owner' } });
  const suspended = await change({ status: 'suspended' });
  const back = await signOn(service, at);

  expect(refusalOf(mapped)).toBe('400 BAD_REQUEST');
  expect([raised, lowered].map(refusalOf)).toEqual(['409 CONFLICT', '409 CONFLICT']);
  expect(own.statusCode).toBe(403);
  expect(suspended.statusCode).toBe(200);
  expect(refusalOf(back.opened)).toBe('403 FORBIDDEN');
  expect([await agentsFor(bob), await agentsFor(back)]).toEqual([401, 401]);
});

test('the passkey of such a member confirms, is made soon after the sign-in, and opens no console', async () => {
  const at = await organisation();
  const { service } = at;
  const bob = await signOn(service, at);
  const makeKey = () => bob.call('POST', '/v1/keys', { body: { name: 'worker', role: 'runtime' } });

  const early = await makeKey();
  const enrolled = await registerPasskey(bob);
  await showPasskey(bob, enrolled, 'session/step-up');
  const done = await makeKey();
  const alone = await showPasskey(consoleBrowser(service), enrolled, 'session/passkey');
  const cleo = await signOn(service, at, { account: 'cleo' });
  service.advance(601);
  const late = (await registerPasskey(cleo)).answer;

  expect(refusalOf(early)).toBe('403 STEP_UP_REQUIRED');
  expect(enrolled.answer.json()).toMatchObject({ recoveryCodes: null, session: null });
  expect(done.statusCode).toBe(201);
  expect(refusalOf(alone)).toBe('401 UNAUTHORIZED');
  expect(refusalOf(late)).toBe('403 STEP_UP_REQUIRED');
});
