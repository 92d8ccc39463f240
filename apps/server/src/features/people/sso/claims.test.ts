import { describe, expect, test } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { startForger } from '../../../../test/app/forging-provider.ts';
import { GROUPS_ADVICE } from './advice.rules.ts';
import {
  addressAmong,
  claimAt,
  type GroupsFault,
  groupsOfAttributes,
  groupsOfClaims,
} from './claims.rules.ts';
import { mappedScopes } from './sso.rules.ts';

const mapping = {
  groupAttribute: 'groups',
  groupMappings: { Editors: ['email:send'], Readers: ['calendar:read'] },
  defaultScopes: ['files:read'],
};

const reasonsOf = async (acme: Parameters<typeof entriesOf>[0]) =>
  (await entriesOf(acme, 'sso.login_failed')).map(({ metadata }) => Object(metadata));

describe('groups', () => {
  const unreadable: Readonly<Record<string, readonly [fault: GroupsFault, claims: object]>> = {
    'named elsewhere, as Entra ID does': [
      'overage',
      { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.test' } } },
    ],
    'named elsewhere, with an empty list': ['overage', { groups: [], _claim_names: { groups: 'src1' } }],
    'said to be there': ['overage', { hasgroups: true }],
    'said to be there, as text': ['overage', { hasgroups: 'true' }],
    'said to be there, in other letters': ['overage', { hasGroups: 'True' }],
    'a link': ['overage', { 'groups:src1': 'https://graph.test' }],
    'an object': ['form', { groups: { Editors: true } }],
    'a list of objects': ['form', { groups: [{ name: 'Editors' }] }],
    'more than 1,000': [
      'too_many',
      { groups: ['Editors', ...Array.from({ length: 1000 }, (_, n) => `g${n}`)] },
    ],
    'a name of 1,025 characters': ['too_long', { groups: ['Editors', 'g'.repeat(1025)] }],
  };

  test('K3: that could not be read sign nobody in, and the refusal says what to set at the provider', async () => {
    const { service, acme, signIn } = await startForger(mapping);
    for (const [name, [fault, claims]] of Object.entries(unreadable)) {
      const answer = await signIn(claims);
      const { code, message, details } = answer.json();
      expect({ name, code, message, details }).toEqual({
        name,
        code: 'SSO_AUTH_FAILED',
        message: GROUPS_ADVICE[fault],
        details: { sub_reason: 'groups_unreadable', cause: fault },
      });
      service.advance(60); // the log has the first refusal of each minute
    }
    expect((await acme('GET', '/v1/sso/sessions')).json().sessions).toEqual([]);
    const reasons = await reasonsOf(acme);
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['groups_unreadable']));
    expect((await signIn({ groups: ['Editors'], _claim_names: { groups: 'src1' } })).json()).toMatchObject({
      mappedScopes: ['email:send'], // they are there all the same
    });
  });

  test('K3: the default is for a person whose groups were read, and of whose groups none is mapped', async () => {
    const { signIn } = await startForger(mapping);
    const scopes = async (claims: object) => (await signIn(claims)).json().mappedScopes;

    expect(await scopes({})).toEqual(['files:read']);
    expect(await scopes({ groups: [] })).toEqual(['files:read']);
    expect(await scopes({ groups: ['Else'] })).toEqual(['files:read']);
    expect(await scopes({ groups: ['Else', 'Readers'] })).toEqual(['calendar:read']);
    expect(await scopes({ groups: ['Readers', 'Editors'] })).toEqual(['calendar:read', 'email:send']);
    expect(await scopes({ groups: ' Readers ' })).toEqual(['calendar:read']);
    expect(await scopes({ groups: '["Readers","Else"]' })).toEqual(['calendar:read']);
  });

  test('31 ruling 3: of which there are too many refuse a connection that reads them, and none that reads roles', async () => {
    const { service, signIn } = await startForger({ ...mapping, groupAttribute: 'roles' });
    const overages = [
      { _claim_names: { groups: 'src1' } },
      { hasgroups: true },
      { 'groups:src1': 'https://graph.test' },
    ];
    for (const overage of overages) {
      expect((await signIn({ ...overage, roles: ['Readers'] })).json().mappedScopes).toEqual([
        'calendar:read',
      ]);
      expect((await signIn(overage)).json().mappedScopes).toEqual(['files:read']);
    }
    for (const own of [{ _claim_names: { roles: 'src1' } }, { 'roles:src1': 'https://graph.test' }]) {
      expect((await signIn(own)).json().details).toEqual({
        sub_reason: 'groups_unreadable',
        cause: 'overage',
      });
      service.advance(60);
    }
  });

  test('31 ruling 3: of which there are too many count under the name that the connection has for them', () => {
    const entra = { _claim_names: { groups: 'src1' } };
    const link = 'http://schemas.microsoft.com/claims/groups.link';
    const read = (attribute: string) => groupsOfClaims([entra], attribute);
    const asserted = (attribute: string) =>
      groupsOfAttributes({ all: new Map([[link, ['https://graph.test']]]), valuesOf: () => [] }, attribute);

    for (const attribute of ['groups', 'memberOf', 'app.user_groups', `http://schemas.test/claims/groups`]) {
      expect([attribute, read(attribute)]).toEqual([attribute, { fault: 'overage' }]);
      expect([attribute, asserted(attribute)]).toEqual([attribute, { fault: 'overage' }]);
    }
    for (const attribute of ['roles', 'realm_access.roles', 'department', 'http://groups.test/claims/role']) {
      expect([attribute, read(attribute)]).toEqual([attribute, { groups: [] }]);
      expect([attribute, asserted(attribute)]).toEqual([attribute, { groups: [] }]);
    }
  });

  test('K3, o07: are read in a nested claim, by the path to it', async () => {
    const groupAttribute = 'realm_access.roles';
    const { signIn } = await startForger({ ...mapping, groupAttribute });
    const scopes = async (claims: object) => (await signIn(claims)).json().mappedScopes;

    expect(await scopes({ realm_access: { roles: ['Readers'] } })).toEqual(['calendar:read']);
    expect(await scopes({ 'realm_access.roles': ['Readers'] })).toEqual(['calendar:read']);
    expect(await scopes({ realm_access: { roles: [] } })).toEqual(['files:read']);
    expect((await signIn({ realm_access: { roles: { Readers: {} } } })).json().details).toEqual({
      sub_reason: 'groups_unreadable',
      cause: 'form',
    });
  });

  test('K3, K4: come from userinfo where the ID token has none, and a userinfo that fails tells nothing of them', async () => {
    const { signIn, userinfo } = await startForger(mapping);

    userinfo.body = { sub: 'ada', groups: ['Readers'] };
    expect((await signIn()).json()).toMatchObject({ groups: ['Readers'], mappedScopes: ['calendar:read'] });
    expect((await signIn({ groups: ['Editors'] })).json()).toMatchObject({ mappedScopes: ['email:send'] });
    userinfo.body = { sub: 'grace', groups: ['Readers'] };
    expect((await signIn()).json().details).toEqual({ sub_reason: 'groups_unreadable', cause: 'userinfo' });
    userinfo.status = 500;
    expect((await signIn()).json().details).toEqual({ sub_reason: 'groups_unreadable', cause: 'userinfo' });
    expect((await signIn({ groups: [] })).json()).toMatchObject({ mappedScopes: ['files:read'] });
  });

  test('K9: of a directory are mapped in any case and spacing, and those of a token in their own', () => {
    const groupMappings = { 'CN=Staff,OU=Groups,DC=corp': ['a:read'], readers: ['b:read'] };
    const settings = { groupMappings, defaultScopes: ['c:read'] };
    const groups = ['cn=staff, ou=groups,dc=corp', 'Readers'];

    expect(mappedScopes({ ...settings, ldapUrl: 'ldaps://corp.test' }, groups)).toEqual(['a:read', 'b:read']);
    expect(mappedScopes(settings, groups)).toEqual(['c:read']);
    expect(mappedScopes(settings, ['readers'])).toEqual(['b:read']);
    expect(mappedScopes(settings, ['toString', 'constructor'])).toEqual(['c:read']);
  });
});

describe('a person', () => {
  test('K4: is read as providers write them', async () => {
    const { signIn, userinfo } = await startForger({ domains: ['xn--bcher-kva.example'] });
    const inDomain = 'ada@bücher.example';
    const read = async (claims: object) => {
      const { email, name, code } = (await signIn(claims)).json();
      return code ?? [email, name];
    };

    expect(await read({ email: inDomain, name: 'Ada King' })).toEqual([inDomain, 'Ada King']); // o03
    expect(await read({ email: 'ada@BÜCHER.example' })).toEqual(['ada@BÜCHER.example', null]);
    expect(await read({ email: ` ${inDomain}\n`, name: ' Ada ' })).toEqual([inDomain, 'Ada']);
    expect(await read({ emails: ['ada@old.test', inDomain] })).toEqual([inDomain, null]);
    expect(await read({ email: inDomain, given_name: 'Ada', family_name: 'King' })).toEqual([
      inDomain,
      'Ada King', // o08
    ]);
    expect(await read({ email: inDomain, name: 'ada#EXT#@acme.test', given_name: 'Ada' })).toEqual([
      inDomain,
      'Ada',
    ]);
    expect(await read({ email: inDomain, name: '😀'.repeat(300) })).toEqual([inDomain, '😀'.repeat(256)]);
    expect(await read({ preferred_username: inDomain })).toBe('SSO_DOMAIN_NOT_ALLOWED');
    userinfo.body = { sub: 'ada', email: inDomain, name: 'Ada of userinfo' };
    expect(await read({})).toEqual([inDomain, 'Ada of userinfo']);
    expect(await read({ name: 'Ada' })).toEqual([inDomain, 'Ada']);
    userinfo.body = { sub: 'grace', email: inDomain };
    expect(await read({})).toBe('SSO_DOMAIN_NOT_ALLOWED'); // userinfo of somebody else
  });

  test('K4: has the claims that the connection names', async () => {
    const members = { emailAttribute: 'contact.mail', nameAttribute: 'nick' };
    const { acme, connection, signIn } = await startForger(members);
    const claims = { contact: { mail: 'ada@acme.test' }, nick: 'Ada', email: 'x@acme.test', name: 'X' };

    expect(connection).toMatchObject(members);
    expect((await signIn(claims)).json()).toMatchObject({ email: 'ada@acme.test', name: 'Ada' });
    await acme('PATCH', `/v1/sso/connections/${connection.id}`, {
      emailAttribute: null,
      nameAttribute: null,
    });
    expect((await signIn(claims)).json()).toMatchObject({ email: 'x@acme.test', name: 'X' });
  });

  test('K4, l07: has the address that the connection admits, among several', () => {
    const addresses = ['ada', 'ada@old.test', 'SMTP:Ada@Acme.test', 7, ''];
    expect(addressAmong(addresses, ['acme.test'])).toBe('Ada@Acme.test');
    expect(addressAmong(addresses, [])).toBe('ada@old.test');
    expect(addressAmong([`${'a'.repeat(312)}@acme.test`], [])).toBeNull();
    expect(addressAmong(['ada@acme.test/evil'], ['acme.test'])).toBe('ada@acme.test/evil'); // and in no domain
    expect(claimAt({ 'a.b': { c: 1 }, a: { b: 2 } }, 'a.b.c')).toBe(1);
    expect(claimAt({ a: [{ b: 1 }] }, 'a.b')).toBeUndefined();
    expect(claimAt({}, 'constructor.name')).toBeUndefined();
  });
});

test('K6, o04: no address is told from an address in another domain', async () => {
  const { service, acme, signIn } = await startForger({ domains: ['acme.test'] });

  expect((await signIn({ preferred_username: 'ada@acme.test' })).json()).toMatchObject({
    code: 'SSO_DOMAIN_NOT_ALLOWED',
    message: expect.stringContaining('sent no address'),
    details: { sub_reason: 'no_email' },
  });
  service.advance(60); // the log has the first refusal of each minute
  expect((await signIn({ email: 'ada@other.test' })).json().details).toBeUndefined();
  expect((await reasonsOf(acme)).map(({ reason }) => reason).toSorted()).toEqual([
    'no_email',
    'sso_domain_not_allowed',
  ]);
});

test('K6, o09: each check of an ID token has its own reason, with the value and the repair', async () => {
  const { service, acme, connection, now, signIn } = await startForger();
  const wrong: Readonly<Record<string, readonly [claims: () => object, header?: object]>> = {
    id_token_issuer: [() => ({ iss: 'https://sts.test/tenant/' })],
    id_token_audience: [() => ({ aud: 'other-client' })],
    id_token_nonce: [() => ({ nonce: 'other' })],
    id_token_expired: [() => ({ exp: now() - 61 })],
    id_token_too_old: [() => ({ iat: now() - 661 })],
    id_token_not_yet_valid: [() => ({ iat: now() + 200, nbf: now() + 200, exp: now() + 600 })],
    id_token_claim: [() => ({ sub: undefined })],
    id_token_at_hash: [() => ({ at_hash: 'x' })],
    id_token_signature: [() => ({}), { by: 'stranger' }],
    id_token_algorithm: [() => ({}), { alg: 'HS256' }],
    id_token_key: [() => ({}), { kid: 'other' }],
  };
  for (const [reason, [claims, header]] of Object.entries(wrong)) {
    expect(`${reason}: ${refusalOf(await signIn(claims(), header))}`).toBe(`${reason}: 401 SSO_AUTH_FAILED`);
    service.advance(60); // the log has the first refusal of each minute
  }
  const entries = await reasonsOf(acme);
  expect(entries.map(({ reason }) => reason).toSorted()).toEqual(Object.keys(wrong).toSorted());
  expect(entries.filter(({ message }) => typeof message !== 'string')).toEqual([]);
  expect(entries).toContainEqual(
    expect.objectContaining({ reason: 'id_token_issuer', said: 'https://sts.test/tenant/' }),
  );
  expect(entries).toContainEqual(
    expect.objectContaining({ reason: 'id_token_audience', said: 'other-client' }),
  );
  expect((await signIn({ azp: connection.clientId })).statusCode).toBe(200); // the control
});
