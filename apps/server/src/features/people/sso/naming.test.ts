import { describe, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { ownDomain } from '../../../../test/app/asserting.ts';
import { authorize, entriesOf, openSession, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import {
  addSaml,
  beginSaml,
  postSaml,
  responseOf,
  samlKeys,
  signed,
} from '../../../../test/app/saml-provider.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider, bringBack, startLogin } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { providerOf } from './sso.rules.ts';

const BOSS = { userName: 'boss@upstream.test', externalId: 'employee-1' };

/** A directory with a boss, and a provider whose verified domain is hers. */
async function startNaming(members: object = {}) {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await ownDomain(service, acme, 'upstream.test');
  const connection = await addOidc(acme, provider, { domains: ['upstream.test'], ...members });
  const scim = await provisionerOf(service, acme);
  await scim('POST', '/Users', BOSS);
  /** Signs in as an account at the provider, with these claims. */
  const signIn = async (account: string, claims: object = { email: BOSS.userName }) => {
    Object.assign(provider.behaviour, { account, claims });
    const { authorizeUrl } = (
      await startLogin(service, { org: acme.developerId, connection: connection.id })
    ).json();
    return bringBack(service, await provider.visit(authorizeUrl));
  };
  const path = `/v1/sso/connections/${connection.id}`;
  const issuer = `${provider.issuer}|`;
  return { provider, service, acme, connection, scim, signIn, path, issuer };
}

describe('an address', () => {
  test.each([false, 'false', 'False', '0', 0])(
    '31 H4, o16: that the provider calls unverified (%s) makes nobody the person',
    async (verified) => {
      const { acme, path, connection, scim, signIn } = await startNaming({ jitProvisioning: true });
      const claims = { email: BOSS.userName, email_verified: verified };

      expect(refusalOf(await signIn('mallory', claims))).toBe('403 SSO_DOMAIN_NOT_ALLOWED');
      expect(await entriesOf(acme, 'sso.login_failed')).toMatchObject([
        { metadata: { reason: 'email_unverified' } },
      ]);
      await acme('PATCH', path, { domains: null });
      expect((await signIn('mallory', claims)).json()).toMatchObject({
        principalId: `${connection.id}|mallory`,
        email: null,
      });
      const { Resources } = (await scim('GET', `/Users?filter=emails pr`)).json();
      expect(Resources).toEqual([]);
    },
  );

  test.each([true, 'true', undefined, null])('o12: counts where the provider says %s', async (verified) => {
    const { signIn } = await startNaming();
    const answer = await signIn('owner', { email: BOSS.userName, email_verified: verified });
    expect(answer.json()).toMatchObject({ principalId: 'employee-1', email: BOSS.userName });
  });

  test('31 H4: of the userinfo endpoint counts for nothing either, where that calls it unverified', async () => {
    const { provider, signIn } = await startNaming();
    let verified: unknown = 'false';
    provider.behaviour.instead = ({ url }, respond) => {
      if (url !== '/me') return false;
      respond(200, { sub: 'mallory', email: BOSS.userName, email_verified: verified });
      return true;
    };
    const claims = { email: undefined, email_verified: undefined };

    expect(refusalOf(await signIn('mallory', claims))).toBe('403 SSO_DOMAIN_NOT_ALLOWED');
    verified = true;
    expect((await signIn('mallory', claims)).json().principalId).toBe('employee-1'); // the control
  });

  test('31 H4: of a SAML assertion counts for nothing, where an attribute calls it unverified', async () => {
    const { service, acme, scim } = await startNaming();
    await scim('POST', '/Users', { userName: 'ada@acme.test' });
    await ownDomain(service, acme, 'acme.test');
    const { id: connection } = await addSaml(acme, { domains: ['acme.test'] });
    const bring = async (attribute: string, value: string) => {
      const { relayState, requestId } = await beginSaml(service, acme.developerId, { connection });
      const said = `<saml:Attribute Name="${attribute}"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`;
      const xml = responseOf(service.clock(), { inResponseTo: requestId });
      const statement = '<saml:AttributeStatement>';
      return postSaml(service, signed(xml.replace(statement, statement + said)), relayState);
    };

    for (const name of [
      'email_verified',
      'email-verified',
      'emailVerified',
      'http://schemas.auth0.com/email_verified',
      'User.email-verified',
      'urn:oid:1.3.6.1.4.1.1" FriendlyName="email_verified',
    ]) {
      expect([name, refusalOf(await bring(name, 'false'))]).toEqual([name, '403 SSO_DOMAIN_NOT_ALLOWED']);
    }
    expect((await bring('email_verified', 'true')).json().principalId).toBe('ada@acme.test');
  });
});

test('31 H4: a name that folds to that of somebody else is no address of the domain', async () => {
  const { scim, signIn } = await startNaming();
  await scim('POST', '/Users', { userName: 'kate@upstream.test' });
  expect(refusalOf(await signIn('mallory', { email: '\u212Aate@upstream.test' }))).toBe(
    '403 SSO_DOMAIN_NOT_ALLOWED',
  );
  expect((await signIn('kate', { email: 'Kate@upstream.test' })).json().principalId).toBe(
    'kate@upstream.test',
  );
});

test('31 H5: an external id finds nobody whose address is of another connection', async () => {
  const { service, acme, scim, signIn } = await startNaming({ scimManaged: true });
  const other = await startAccountsServer();
  const connection = await addOidc(acme, other, { scimManaged: true });
  await scim('POST', '/Users', { userName: 'own', externalId: 'employee-9' });
  const signInThere = async (account: string) => {
    Object.assign(other.behaviour, { account });
    const begun = await startLogin(service, { org: acme.developerId, connection: connection.id });
    return bringBack(service, await other.visit(begun.json().authorizeUrl));
  };

  expect(refusalOf(await signInThere('employee-1'))).toBe('403 SSO_NOT_PROVISIONED');
  expect((await signInThere('employee-9')).json().principalId).toBe('employee-9');
  expect((await signIn('employee-1')).json().principalId).toBe('employee-1');
});

describe('a person without an address that counts', () => {
  test('31 H5: is nobody for whom the application has asked', async () => {
    const { acme, connection, signIn } = await startNaming({ jitProvisioning: true, domains: [] });
    const { agentId } = await registerAgent(acme);
    await authorize(acme, agentId, { principalId: 'user_42', autoApprove: false });

    const { principalId } = (await signIn('user_42')).json();

    expect(principalId).toBe(`${connection.id}|user_42`);
    const asked = await authorize(acme, agentId, { principalId, autoApprove: false });
    expect(asked).toMatchObject({ status: 'pending' }); // the application speaks of the person by this id
  });

  test('31 H5: has an id that no directory gives, and no domain', async () => {
    const { acme, connection, scim, signIn } = await startNaming({ jitProvisioning: true, domains: [] });
    const { principalId } = (await signIn('boss@upstream.test')).json();
    const other = await addOidc(acme, await startAccountsServer(), {
      domains: ['upstream.test'],
      enforce: true,
    });

    expect(principalId).toBe(`${connection.id}|boss@upstream.test`);
    expect(refusalOf(await openSession(acme, principalId))).toBe('404 NOT_FOUND'); // no grant, and no sign-on demanded
    expect((await openSession(acme, 'boss@upstream.test')).json().details).toMatchObject({
      connectionId: other.id,
    });
    const foreign = `${connection.id}|victim`;
    for (const body of [{ userName: foreign }, { userName: 'v', externalId: foreign.toUpperCase() }]) {
      expect((await scim('POST', '/Users', body)).json()).toMatchObject({ scimType: 'invalidValue' });
    }
    const { Resources } = (await scim('GET', '/Users?filter=userName co "|"')).json();
    const replaced = { userName: Resources[0].userName, displayName: 'Boss' };
    expect((await scim('PUT', `/Users/${Resources[0].id}`, replaced)).statusCode).toBe(200);
    const renamed = { Operations: [{ op: 'replace', path: 'userName', value: foreign }] };
    expect((await scim('PATCH', `/Users/${Resources[0].id}`, renamed)).json().scimType).toBe('invalidValue');
  });
});

describe('a second subject', () => {
  test('31 M1: with the address of a linked person is refused until an administrator moves the link', async () => {
    const { acme, path, connection, signIn, issuer } = await startNaming();
    expect((await signIn('owner')).json().principalId).toBe('employee-1');

    const refused = await signIn('successor');
    expect(refused.json()).toMatchObject({
      code: 'SSO_ACCOUNT_CONFLICT',
      details: { sub_reason: 'other_subject' },
    });
    expect(await entriesOf(acme, 'sso.login_failed')).toMatchObject([
      {
        status: 'failure',
        metadata: {
          ...{ connectionId: connection.id, reason: 'other_subject' },
          ...{ subject: `${issuer}successor`, address: BOSS.userName },
        },
      },
    ]);
    expect((await signIn('owner')).json().principalId).toBe('employee-1');

    const move = { principalId: 'employee-1', subject: `${issuer}successor` };
    const list = async () =>
      (await acme('GET', `${path}/identities?principalId=employee-1`)).json().identities;
    expect(await list()).toMatchObject([{ subject: `${issuer}owner`, provider: issuer.slice(0, -1) }]);
    expect(refusalOf(await acme('PUT', `${path}/identities`, { ...move, subject: 'successor' }))).toBe(
      '400 BAD_REQUEST',
    );
    expect(refusalOf(await acme('PUT', `${path}/identities`, { ...move, principalId: 'x' }))).toBe(
      '404 NOT_FOUND',
    );
    expect((await acme('PUT', `${path}/identities`, move)).json()).toMatchObject({
      ...move,
      connectionId: connection.id,
    });

    expect((await acme('GET', '/v1/sso/sessions')).json().sessions).toEqual([]);
    expect(await list()).toMatchObject([{ subject: `${issuer}successor` }]);
    expect((await signIn('successor')).json().principalId).toBe('employee-1');
    expect(refusalOf(await signIn('owner'))).toBe('409 SSO_ACCOUNT_CONFLICT');
    expect(await entriesOf(acme, 'sso.identity.moved')).toMatchObject([
      { metadata: { connectionId: connection.id, userId: expect.stringMatching(/^scimuser_/) } },
    ]);
  });

  test('31 M1: of a person of their own loses that person, when it becomes the link of another', async () => {
    const { acme, path, scim, signIn, issuer } = await startNaming({ jitProvisioning: true });
    await signIn('owner');
    await signIn('eve', { email: 'eve@upstream.test' });
    await scim('POST', '/Users', { userName: 'unlinked' });

    const moved = await acme('PUT', `${path}/identities`, {
      principalId: 'unlinked',
      subject: `${issuer}eve`,
    });

    expect(moved.json()).toMatchObject({ principalId: 'unlinked' });
    const { sessions } = (await acme('GET', '/v1/sso/sessions')).json();
    expect(sessions).toMatchObject([{ principalId: 'employee-1' }]); // of nobody else
    expect((await signIn('eve', { email: 'eve@upstream.test' })).json().principalId).toBe('unlinked');
  });
});

describe('another provider on a connection', () => {
  async function startSaml() {
    const started = await startNaming();
    const { service, acme, scim } = started;
    await scim('POST', '/Users', { userName: 'ada@acme.test', externalId: 'employee-2' });
    await ownDomain(service, acme, 'acme.test');
    const { id } = await addSaml(acme, { domains: ['acme.test'] });
    const path = `/v1/sso/connections/${id}`;
    const change = (body: object) => acme('PATCH', path, body);
    const signInAt = async (issuer?: string, by?: 'mallory') => {
      const { relayState, requestId } = await beginSaml(service, acme.developerId, { connection: id });
      const xml = responseOf(service.clock(), { inResponseTo: requestId, ...(issuer && { issuer }) });
      return (await postSaml(service, signed(xml, by ? { by } : {}), relayState)).json().principalId;
    };
    expect(await signInAt()).toBe('employee-2');
    await change({ domains: null });
    expect(await signInAt()).toBe('employee-2'); // by the subject
    return { ...started, id, change, signInAt };
  }

  test('31 M2: inherits no identity of the one before, and the one before finds its own again', async () => {
    const { change, signInAt } = await startSaml();
    await change({ idpEntityId: 'https://other.test/entity' });
    expect(await signInAt('https://other.test/entity')).toBeNull();
    await change({ idpEntityId: 'https://idp.test/entity' });
    expect(await signInAt()).toBe('employee-2');
  });

  test('31 M2: is not there after the rollover of a certificate alone', async () => {
    const { change, signInAt } = await startSaml();
    await change({ idpCertificate: samlKeys.mallory.cert });
    expect(await signInAt(undefined, 'mallory')).toBe('employee-2');
  });

  test('31 M2: inherits no identity that an instance of the release before has written', async () => {
    const { service, acme, change, signInAt } = await startSaml();
    await service.db
      .updateTable('ssoIdentities')
      .set({ provider: null })
      .where('developerId', '=', acme.developerId)
      .execute();
    expect(await signInAt()).toBe('employee-2');
    await change({ idpEntityId: 'https://other.test/entity' });
    expect(await signInAt('https://other.test/entity')).toBeNull();
  });

  test('31 M2: is another directory, and not another way to the same one', () => {
    const none = {
      ...{ redirectUris: [], jitProvisioning: false, scimManaged: false },
      ...{ groupAttribute: null, groupMappings: {}, defaultScopes: [] },
    };
    const at = (ldapUrl: string, ldapSearchBase = 'ou=people,dc=acme,dc=test') =>
      providerOf({ ...none, ldapUrl, ldapSearchBase });
    const own = at('ldaps://ldap.acme.test');
    expect(own).toBe('ldap.acme.test/ou=people,dc=acme,dc=test');
    expect(at('ldap://LDAP.acme.test:389/', 'OU=People, DC=acme ,dc=test')).toBe(own);
    expect(at('ldaps://ldap.acme.test:636')).toBe(own);
    expect(at('ldaps://ldap.acme.test:1636')).not.toBe(own);
    expect(at('ldaps://ldap.acme.test', 'o=other,dc=test')).not.toBe(own);
    expect(at('ldaps://ldap.other.test')).not.toBe(own);
  });
});
