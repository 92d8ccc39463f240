import { describe, expect, test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../../../../test/app/accounts-server.ts';
import {
  authorize,
  consentsOf,
  grantTo,
  openSession,
  refusalOf,
  registerAgent,
} from '../../../../test/app/flow.ts';
import { newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { personOn } from '../../../../test/app/person.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider, provision, signOn } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

type Person = ReturnType<typeof personOn>;

/** A customer's provider whose people are provisioned, and requests that wait for them. */
async function startCustomer(members: object = {}, mode: 'live' | 'sandbox' = 'live') {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper({ mode });
  const connection = await addOidc(acme, provider, { scimManaged: true, ...members });
  await provision(service, acme);
  const org = acme.developerId;
  const ask = async (request: object = {}) => {
    const { agentId } = await registerAgent(acme);
    const asked = await authorize(acme, agentId, { principalId: 'ada', ...request });
    return { agentId, id: String(asked.id), consentUrl: String(asked.consentUrl), status: asked.status };
  };
  /** Follows the page's way to the provider and back, as the person's browser does. */
  const signIn = async (person: Person, id: string) => {
    const begun = await person.call('GET', `/v1/consent/${id}/sso`);
    const login = new URL(String(begun.json().redirectTo));
    const sent = await person.call('GET', login.pathname + login.search);
    const back = await provider.visit(String(sent.headers.location));
    return person.call('GET', back.pathname + back.search);
  };
  const logIn = () => signOn(service, provider, { org });
  const enforce = () => acme('POST', '/v1/sso/enforce', { enforce: true });
  return { provider, service, acme, connection, org, ask, signIn, logIn, enforce };
}

describe('consent by single sign-on', () => {
  test('agents K11: needs an active connection, and without one is a conflict of the account', async () => {
    const { acme, connection } = await startCustomer();
    const turnOn = async () => refusalOf(await acme('PATCH', '/v1/me', { consentMode: 'sso' }));
    expect(await turnOn()).toBe('200'); // the control
    await acme('PATCH', `/v1/sso/connections/${connection.id}`, { status: 'inactive' });
    expect(await turnOn()).toBe('409 CONFLICT');
  });

  test('agents K11: an authorization after its last connection went out of use is a conflict of the account', async () => {
    const { service, acme, connection } = await startCustomer();
    await acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const { agentId } = await registerAgent(acme);
    const { link } = await pkceLink((await newClient(acme)).clientId);
    const ask = () =>
      acme('POST', '/v1/authorize', { agentId, principalId: 'ada', scopes: ['calendar:read'] });
    const { pathname, search } = new URL(link);
    const follow = () => service.app.inject({ url: pathname + search });
    expect([(await ask()).statusCode, (await follow()).statusCode]).toEqual([201, 303]); // the control

    const path = `/v1/sso/connections/${connection.id}`;
    for (const end of [() => acme('PATCH', path, { status: 'inactive' }), () => acme('DELETE', path)]) {
      expect((await end()).statusCode).toBeLessThan(300);
      const refused = await ask();
      expect(refusalOf(refused)).toBe('409 CONFLICT');
      expect(refused.json().details).toEqual({ setting: 'consentMode' });
      const back = new URL(String((await follow()).headers.location));
      expect(back.searchParams.get('error')).toBe('access_denied');
      expect(back.searchParams.get('error_description')).toContain('consentMode');
    }
    await acme('PATCH', '/v1/me', { policyAutoApproval: true });
    await acme('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: ['calendar:read'] });
    expect((await ask()).json()).toMatchObject({ status: 'approved' }); // no person signs in
  });

  test('leads the person to the provider and back, and gives a grant that says so', async () => {
    const { service, acme, connection, org, ask, signIn } = await startCustomer();
    await acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const { id, agentId, consentUrl } = await ask();
    const person = personOn(service);

    const opened = (await person.open(consentUrl)).json();
    const early = await person.approve(id);
    const back = await signIn(person, id);
    const shown = (await person.see(id)).json();
    const approved = await person.approve(id);

    expect(opened.verification).toEqual({
      mode: 'sso',
      satisfied: false,
      methods: ['sso'],
      signInHere: true,
    });
    expect(early.json()).toMatchObject({
      code: 'SSO_REQUIRED',
      details: {
        connectionId: connection.id,
        loginUrl: `https://auth.test/sso/login?org=${org}&connection=${connection.id}`,
      },
    });
    expect(back.headers.location).toBe(`/consent?req=${id}`);
    expect(shown.verification).toMatchObject({ mode: 'sso', satisfied: true, methods: ['sso'] });
    const { grantId } = (await acme('POST', '/v1/token', { code: approved.json().code, agentId })).json();
    expect((await acme('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({ consentMethod: 'sso' });
    expect(await consentsOf(acme, 'ada')).toMatchObject([{ proof: { mode: 'sso', at: expect.any(String) } }]);
  });

  test('leads there and back in the languages of the link', async () => {
    const { provider, service, acme, ask } = await startCustomer();
    await acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const { id, consentUrl } = await ask();
    const person = personOn(service);
    await person.open(consentUrl);
    const begin = (query: string) => person.call('GET', `/v1/consent/${id}/sso?${query}`);
    const loginOf = async (query: string) => new URL((await begin(query)).json().redirectTo);

    const login = await loginOf('ui_locales=de-AT+ja');
    const sent = new URL(String((await person.call('GET', login.pathname + login.search)).headers.location));
    const back = await provider.visit(sent.href);
    const { location } = (await person.call('GET', back.pathname + back.search)).headers;

    expect(sent.searchParams.get('ui_locales')).toBe('de-AT ja');
    expect(location).toBe(`/consent?req=${id}&ui_locales=de-AT+ja`);
    const page = await service.app.inject({ url: String(location), headers: { 'accept-language': 'fr' } });
    expect(page.headers['content-language']).toBe('de');
    for (const query of ['', 'ui_locales=', `ui_locales=${encodeURIComponent('"><b>')}`]) {
      const { searchParams } = await loginOf(query);
      expect([searchParams.get('return_to'), searchParams.get('ui_locales')]).toEqual([
        `/consent?req=${id}`,
        null,
      ]);
    }
    expect(refusalOf(await begin(`ui_locales=${'x'.repeat(257)}`))).toBe('400 BAD_REQUEST');
  });

  test('counts in the browser that signed in, while the session lives, and for its person', async () => {
    const { provider, service, acme, ask, signIn } = await startCustomer();
    await acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const { id, consentUrl } = await ask({ expiresIn: '30d' });
    const person = personOn(service);
    await person.open(consentUrl);
    await signIn(person, id);
    const [session] = (await acme('GET', '/v1/sso/sessions')).json().sessions;
    const isSatisfied = async (who: Person) => (await who.see(id)).json().verification.satisfied;
    expect(await isSatisfied(person)).toBe(true); // the control

    const altered = personOn(service);
    await altered.open(consentUrl);
    altered.cookies.set('__Host-bh_sso_session', `${acme.developerId}.${session.id}.wrong`);
    expect(await isSatisfied(altered)).toBe(false);
    provider.behaviour.account = 'grace';
    await signIn(altered, id);
    expect((await altered.see(id)).json().verification).toMatchObject({
      satisfied: false,
      otherPerson: true,
    });
    expect(refusalOf(await altered.approve(id))).toBe('403 SSO_REQUIRED');

    await person.open(consentUrl);
    expect(await isSatisfied(person)).toBe(true);
    await acme('DELETE', `/v1/sso/sessions/${session.id}`);
    expect(await isSatisfied(person)).toBe(false);
  });

  test('does not take a session of another developer or of a connection in testing', async () => {
    const own = await startCustomer();
    await own.acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const { id, consentUrl } = await own.ask();
    const person = personOn(own.service);
    await person.open(consentUrl);
    const foreign = await own.service.asDeveloper();
    const other = await addOidc(foreign, own.provider, { scimManaged: true });
    await provision(own.service, foreign);
    const query = new URLSearchParams({ org: foreign.developerId, connection: other.id, mode: 'redirect' });
    const sent = await person.call('GET', `/sso/login?${query}`);
    const back = await own.provider.visit(String(sent.headers.location));
    await person.call('GET', back.pathname + back.search);

    expect((await person.see(id)).json().verification).toMatchObject({ satisfied: false });
    await own.signIn(person, id);
    expect((await person.see(id)).json().verification).toMatchObject({ satisfied: true }); // the control
    await own.acme('PATCH', `/v1/sso/connections/${own.connection.id}`, { status: 'testing' });
    expect((await person.see(id)).json().verification).toMatchObject({ satisfied: false });
    expect(refusalOf(await person.approve(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
  });

  test('allows no scopes beyond those of the person’s groups', async () => {
    const groups = { groupMappings: { editors: ['email:send'] }, defaultScopes: ['calendar:read'] };
    const { service, acme, ask, signIn } = await startCustomer(groups);
    await acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const { id, consentUrl } = await ask();
    const person = personOn(service);
    await person.open(consentUrl);
    await signIn(person, id);

    const all = await person.approve(id);
    const less = await person.approve(id, { scopes: ['calendar:read'] });

    expect(all.json()).toMatchObject({ code: 'SSO_SCOPE_DENIED', details: { scopes: ['email:send'] } });
    expect(less.statusCode).toBe(200);
  });
});

describe('an enforcement that begins', () => {
  test('M12: ends pages and sessions from before for those whom it concerns, and for nobody else', async () => {
    const { service, ask, signIn, logIn, enforce } = await startCustomer();
    await logIn(); // links the user
    const [mine, others] = [await ask(), await ask({ principalId: 'user_42' })];
    const [person, other] = [personOn(service), personOn(service)];
    await person.open(mine.consentUrl);
    await other.open(others.consentUrl);
    expect((await person.see(mine.id)).statusCode).toBe(200); // the control

    await enforce();

    expect(refusalOf(await person.see(mine.id))).toBe('401 UNAUTHORIZED');
    expect((await other.see(others.id)).statusCode).toBe(200);
    const { verification } = (await person.open(mine.consentUrl)).json();
    expect(verification).toMatchObject({ mode: 'link', satisfied: false, methods: ['sso'] });
    expect(refusalOf(await person.approve(mine.id))).toBe('403 SSO_REQUIRED');
    await signIn(person, mine.id);
    expect((await person.approve(mine.id)).statusCode).toBe(200);
    expect((await other.approve(others.id)).statusCode).toBe(200);
  });

  test.each(['the switch', 'a change', 'a new connection'])(
    'M12: by %s, ends a principal’s own sessions',
    async (way) => {
      const { provider, service, acme, connection, logIn, enforce } = await startCustomer({}, 'sandbox');
      await logIn();
      const opened = async (principalId: string) => {
        await grantTo(acme, { principalId });
        return service.calling((await openSession(acme, principalId)).json().sessionToken);
      };
      const [own, other] = [await opened('ada'), await opened('user_42')];
      expect((await own('GET', '/v1/principal/grants')).statusCode).toBe(200); // the control

      if (way === 'the switch') await enforce();
      if (way === 'a change') await acme('PATCH', `/v1/sso/connections/${connection.id}`, { enforce: true });
      if (way === 'a new connection') {
        await addOidc(acme, provider, { name: 'Second', enforce: true, domains: ['else.test'] });
      }

      const ends = way !== 'a new connection'; // nobody has signed in there
      expect((await own('GET', '/v1/principal/grants')).statusCode).toBe(ends ? 401 : 200);
      expect((await other('GET', '/v1/principal/grants')).statusCode).toBe(200);
    },
  );

  test('M12: takes no session of another connection, though the same person has signed in there', async () => {
    const { provider, service, acme, connection, org, ask } = await startCustomer({ scimManaged: true });
    const elsewhere = await startAccountsServer();
    const other = await addOidc(acme, elsewhere, { name: 'Second', scimManaged: true });
    const directory = await provisionerOf(service, acme);
    await directory('POST', '/Users', { userName: 'ada@upstream.test', externalId: 'ada' });
    await signOn(service, provider, { org, connection: connection.id }); // links the user
    await acme('PATCH', `/v1/sso/connections/${connection.id}`, { enforce: true });
    const { id, consentUrl } = await ask();
    const person = personOn(service);
    await person.open(consentUrl);
    const signInAt = async (there: AccountsServer, connectionId: string) => {
      const query = new URLSearchParams({ org, connection: connectionId, mode: 'redirect' });
      const sent = await person.call('GET', `/sso/login?${query}`);
      const back = await there.visit(String(sent.headers.location));
      await person.call('GET', back.pathname + back.search);
      return (await person.see(id)).json().verification;
    };

    const another = await signInAt(elsewhere, other.id);
    const refused = await person.approve(id);
    const own = await signInAt(provider, connection.id);

    const { sessions } = (await acme('GET', '/v1/sso/sessions')).json();
    const signedIn = sessions.map(({ principalId }: { principalId: string }) => principalId);
    expect(signedIn).toEqual(['ada', 'ada', 'ada']); // one person at both
    expect(another).toMatchObject({ satisfied: false, methods: ['sso'] });
    expect(another).not.toHaveProperty('otherPerson');
    expect(refusalOf(refused)).toBe('403 SSO_REQUIRED');
    expect(own).toMatchObject({ satisfied: true });
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('M12: leaves a policy no approval in the person’s place', async () => {
    const { acme, ask, logIn, enforce } = await startCustomer();
    await logIn();
    await acme('PATCH', '/v1/me', { policyAutoApproval: true });
    await acme('POST', '/v1/policies', { name: 'All', effect: 'allow', scopes: ['*'], priority: 1 });
    expect((await ask({ scopes: ['calendar:read'] })).status).toBe('approved'); // the control

    await enforce();

    expect((await ask({ scopes: ['calendar:read'] })).status).toBe('pending');
    expect((await ask({ scopes: ['calendar:read'], principalId: 'user_42' })).status).toBe('approved');
  });
});
