import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { good, JWT_BEARER, startAsserting, told, trustingDeveloper } from '../../../../test/app/asserting.ts';
import { partsOf } from '../../../../test/app/flow.ts';
import { discover, newResource, toPresent } from '../../../../test/app/oauth.ts';

const TOOLS = 'urn:service:tools:v1';

test('M15: claim, rule, groups and resource narrow a token, and what is within all four is granted whole', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, {
    connection: {
      groupAttribute: 'groups',
      groupMappings: { staff: ['calendar:*', 'mail:read'] },
      defaultScopes: ['calendar:read'],
    },
    rule: { scopes: ['calendar:*', 'files:read'], defaultScopes: ['calendar:read'] },
  });
  const resource = 'http://localhost/limits';
  const { id } = await newResource(own.acme, resource);
  await good(own.acme, 'PATCH', `/v1/resources/${id}`, { scopes: ['calendar:read', 'calendar:write'] });
  const scopesOf = async (claims: object, form?: Record<string, string>) =>
    (await own.token({ groups: ['staff'], ...claims }, form)).scope;
  const all = 'calendar:read calendar:write calendar:share files:read mail:read admin:all';

  expect(await scopesOf({ scope: all })).toBe('calendar:read calendar:write calendar:share');
  expect(await scopesOf({ scope: all, resource })).toBe('calendar:read calendar:write');
  expect(await scopesOf({ scope: 'calendar:read' }, { scope: all })).toBe('calendar:read');
  expect(await scopesOf({})).toBe('calendar:read');
  expect(await scopesOf({ scope: all, groups: ['guests'] })).toBe('calendar:read');
  expect(await own.outcome({ claims: { scope: 'files:read', groups: ['staff'] } })).toBe(
    'invalid_scope scope',
  );
  expect(await own.outcome({ claims: { scope: 'offline_access', groups: ['staff'] } })).toBe(
    'invalid_scope scope',
  );
  expect(await scopesOf({ scope: 'calendar:read calendar:write', resource })).toBe(
    'calendar:read calendar:write',
  );
});

test('31 H3: tool scopes of a rule and of groups that overlap in too many ways are refused with the reason', async () => {
  const { service, provider } = await startAsserting();
  const scopes = Array.from({ length: 20 }, (_, index) => `tool:c${index}:write`);
  const mapped = (count: number) => Array.from({ length: count }, (_, index) => `tool:*:admin:r${index}`);
  const own = await trustingDeveloper(service, provider, {
    connection: { groupAttribute: 'groups', groupMappings: { few: mapped(15), many: mapped(16) } },
    rule: { scopes, defaultScopes: ['tool:c0:write'] },
  });
  const outcome = (group: string) =>
    own.outcome({ claims: { scope: 'tool:c0:write:r1 tool:c0:write', groups: [group] } });

  expect(await outcome('many')).toBe(
    "invalid_scope The tool scopes of the rule and of the person's groups overlap in too many ways. Map the groups to fewer or wider ones.",
  );
  expect((await own.token({ scope: 'tool:c0:write:r1 tool:c0:write', groups: ['few'] })).scope).toBe(
    'tool:c0:write:r1',
  );
});

test('details are within those of the rule, and many assertions count against one cap', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, {
    rule: {
      scopes: ['tool:crm:write', 'tool:pay:read'],
      defaultScopes: ['tool:crm:write'],
      authorizationDetails: [
        { type: TOOLS, connector: 'crm', tools: ['find', 'send'], caps: { send: { per_day: 10 } } },
      ],
    },
  });
  const tools = { find: 'read', send: 'write' };
  await good(own.acme, 'PUT', '/v1/manifests/crm', { $schema: 'x', connector: 'crm', version: '1', tools });
  const details = async (asked: unknown) =>
    (await own.token({ authorization_details: asked })).authorization_details;
  const narrow = [{ type: TOOLS, connector: 'crm', tools: ['send'] }];

  expect(await details(narrow)).toEqual([{ ...narrow[0], caps: { send: { per_day: 10 } } }]);
  const wide = [{ type: TOOLS, connector: 'crm', tools: ['send', 'erase'] }];
  for (const asked of [
    wide,
    [{ type: 'other', connector: 'crm' }],
    [{ ...narrow[0], caps: { send: { per_day: 11 } } }],
  ]) {
    expect(await own.outcome({ claims: { authorization_details: asked } })).toBe(
      'invalid_authorization_details authorization_details',
    );
  }
  expect((await own.token({ scope: 'tool:pay:read' })).authorization_details).toBeUndefined();

  let allowed = 0;
  const call = async (claims: object = {}) => {
    const { access_token: token } = await own.token(claims);
    const body = { grantToken: token, connector: 'crm', tool: 'send' };
    return (await good(own.acme, 'POST', '/v1/enforce', body)).reason_code;
  };
  for (let hour = 0; hour < 12; hour += 1) if ((await call()) === null) allowed += 1;
  expect(allowed).toBe(10);
  expect(await call({ sub: 'bob', email: 'bob@upstream.test' })).toBeNull(); // a cap of another person's grant
});

test('a token that is bound to a key needs its proof, and a proof binds the token', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const resource = 'http://localhost/bound';
  const { id } = await newResource(own.acme, resource);
  await good(own.acme, 'PATCH', `/v1/resources/${id}`, { dpopRequired: true });
  toPresent(service);
  const auth = openid.ClientSecretPost(own.client.clientSecret ?? '');
  const config = await discover(service.url, own.client.clientId, auth);
  const [keys, others] = [await openid.randomDPoPKeyPair(), await openid.randomDPoPKeyPair()];
  const jkt = async ({ publicKey }: openid.CryptoKeyPair) => {
    const { calculateJwkThumbprint, exportJWK } = await import('jose');
    return calculateJwkThumbprint(await exportJWK(publicKey));
  };
  const cnf = { jkt: await jkt(keys) };
  const prove = async (pair: openid.CryptoKeyPair, claims: object) =>
    openid.genericGrantRequest(
      config,
      JWT_BEARER,
      { assertion: await own.assertion({ claims }) },
      { DPoP: openid.getDPoPHandle(config, pair) },
    );

  expect(await own.outcome({ claims: { cnf } })).toBe('invalid_grant possession');
  expect(await own.outcome({ claims: { cnf: {} } })).toBe('invalid_grant possession');
  expect(await own.outcome({ claims: { resource } })).toBe('invalid_grant possession');
  await expect(prove(others, { cnf })).rejects.toMatchObject({ error: 'invalid_grant' });
  const bound = await prove(keys, { cnf });
  expect(bound.token_type).toBe('dpop');
  expect(partsOf(bound.access_token).payload.cnf).toEqual(cnf);
  expect(partsOf((await prove(others, { resource })).access_token).payload.cnf).toEqual({
    jkt: await jkt(others),
  });
});

test('an old sign-in and a weak one are not enough where the rule asks for more', async () => {
  const { service, provider } = await startAsserting();
  const rule = { maxAuthAgeSeconds: 600, requireAmr: ['mfa', 'hwk'] };
  const { outcome } = await trustingDeveloper(service, provider, { rule });
  const now = provider.seconds();
  const at = (auth_time: unknown, amr: unknown) => outcome({ claims: { auth_time, amr } });

  expect(await at(now - 601, ['mfa', 'hwk'])).toBe('invalid_grant authentication');
  expect(await at(undefined, ['mfa', 'hwk'])).toBe('invalid_grant authentication');
  expect(await at(now, ['mfa'])).toBe('invalid_grant authentication');
  expect(await at(now, undefined)).toBe('invalid_grant authentication');
  expect(await at(now + 61, ['mfa', 'hwk'])).toBe('invalid_grant authentication');
  expect(await at(now + 60, ['mfa', 'hwk'])).toBe('200');
  expect(await at(now - 600, ['hwk', 'pwd', 'mfa'])).toBe('200');
});

test('a shorter life of grants ends those that last longer, and leaves a longer life alone', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { rule: { grantTtl: '10d' } });
  const grantOf = async () => (await own.token())['urn:service:grant'].grant_id;
  const statusOf = async (grantId: string) => (await own.acme('GET', `/v1/grants/${grantId}`)).json().status;
  const first = await grantOf();

  await good(own.acme, 'PATCH', own.rulePath, { grantTtl: '20d' });
  const longer = await statusOf(first);
  await good(own.acme, 'PATCH', own.rulePath, { grantTtl: '5d' });
  const ended = (await own.acme('GET', `/v1/grants/${first}`)).json();

  expect(longer).toBe('active');
  expect(ended).toMatchObject({ status: 'revoked', revokedReason: 'idp_rule' });
});

/** A developer with a rule, and a clock that stops on both sides of an instant: a millisecond before it, and at it. */
async function startAt(rule: object) {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { rule });
  const began = service.clock().getTime();
  const moveTo = (milliseconds: number) =>
    service.advance((began + milliseconds - service.clock().getTime()) / 1000);
  async function around<Said>(seconds: number, say: () => Promise<Said>): Promise<Said[]> {
    moveTo(seconds * 1000 - 1);
    expect(service.clock().getTime()).toBe(began + seconds * 1000 - 1);
    const before = await say();
    moveTo(seconds * 1000);
    return [before, await say()];
  }
  return { ...own, provider, around };
}

test('an assertion is taken until the instant that it names as its end', async () => {
  const { assertion, show, around } = await startAt({});
  const made = [await assertion(), await assertion()]; // each is taken once, and ends after 300 s

  const said = await around(300, async () => told(await show(made.pop() ?? '')));

  expect(said).toEqual(['200', 'invalid_grant expired']);
});

test('a sign-in is young enough until it is older than the rule says', async () => {
  const { outcome, around, provider } = await startAt({ maxAuthAgeSeconds: 60 });
  const claims = { auth_time: provider.seconds() - 1 };

  // A millisecond later the sign-in is older than a minute.
  expect(await around(59.001, () => outcome({ claims }))).toEqual(['200', 'invalid_grant authentication']);
});

test('the token of an assertion is good until it ends, whatever its standing grant still has', async () => {
  const { acme, token, around } = await startAt({ tokenTtlSeconds: 60 });
  const { access_token: held } = await token();

  const said = await around(
    60,
    async () => (await acme('POST', '/v1/tokens/verify', { token: held })).json().valid,
  );

  expect(said).toEqual([true, false]);
});

test('a standing grant is found again until it ends, and then another is made', async () => {
  const { token, around } = await startAt({ grantTtl: '1h' });
  const grantId = async () => (await token())['urn:service:grant'].grant_id;
  const first = await grantId();

  const [before, ended] = await around(3600, grantId);

  expect(before).toBe(first);
  expect(ended).not.toBe(first);
});
