import { describe, expect, test } from 'vitest';
import { failingStatements } from '../../../../test/app/failing-statements.ts';
import { entriesOf, grantTo, openSession } from '../../../../test/app/flow.ts';
import { threeLevels } from '../../../../test/app/scim.ts';
import { addOidc, signOn } from '../../../../test/app/signing-on.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';
import { CAEP, linked, RISC, type Started, startSignalling } from '../../../../test/app/transmitter.ts';

/** As after a proof by the DNS, which the tests of domains go through. */
async function ownDomain({ db, clock }: Service, { developerId }: Developer, domain: string) {
  const id = `dom_${domain}`;
  const at = { createdAt: clock(), verifiedAt: clock() };
  await db
    .insertInto('customDomains')
    .values({ developerId, id, domain, token: 't', status: 'verified', ...at })
    .execute();
  await db.insertInto('verifiedDomains').values({ developerId, domain, domainId: id }).execute();
}

const sessionsOf = async (developer: Developer): Promise<string[]> =>
  (await developer('GET', '/v1/sso/sessions')).json().sessions.map(({ id }: { id: string }) => id);
const isValid = async (developer: Developer, token: string) =>
  (await developer('POST', '/v1/tokens/verify', { token })).json().valid;
const isActive = async ({ scim, userId }: Pick<Started, 'scim' | 'userId'>) =>
  (await scim('GET', `/scim/v2/Users/${userId}`)).json().active;

test('M13: a signal that is not the transmitter’s has no effect, and says which rule it broke', async () => {
  const { service, acme, source, transmitter, sessionId, provider } = await linked(await startSignalling());
  const { send, seconds, newSet, issuer } = transmitter;
  const event = `${CAEP}/session-revoked`;
  const cases: readonly (readonly [string, Parameters<typeof send>[2]])[] = [
    ['authentication_failed', { authorization: 'Bearer bh_ssfi_other' }],
    ['authentication_failed', { authorization: null }],
    ['authentication_failed', { to: '/ssf/receive/sso_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' }],
    ['authentication_failed', { to: '/ssf/receive/nothing' }],
    ['invalid_request', { type: 'application/json' }],
    ['invalid_request', { set: 'no token' }],
    ['invalid_request', { header: { typ: 'JWT' } }],
    ['invalid_request', { header: { typ: 'at+jwt' } }],
    ['invalid_request', { header: { jku: 'https://mallory.test' } }],
    ['invalid_request', { claims: { sub: 'ada' } }],
    ['invalid_request', { claims: { exp: seconds() + 60 } }],
    ['invalid_request', { claims: { events: { [event]: {}, [`${RISC}/account-enabled`]: {} } } }],
    ['invalid_request', { claims: { events: {} } }],
    ['invalid_request', { claims: { jti: '' } }],
    ['invalid_request', { claims: { iat: seconds() - 7 * 86_400 - 1 } }],
    ['invalid_request', { claims: { iat: seconds() + 61 } }],
    ['invalid_key', { signedBy: 'stranger' }],
    ['invalid_key', { header: { kid: 'another' } }],
    ['invalid_issuer', { claims: { iss: `${issuer}/` } }],
    ['invalid_audience', { claims: { aud: 'https://auth.test/ssf/receive/other' } }],
    [
      'invalid_state',
      {
        claims: {
          events: { 'https://schemas.openid.net/secevent/ssf/event-type/verification': { state: 'x' } },
        },
      },
    ],
  ];
  for (const [err, changes] of cases) {
    const answer = await send(source, event, changes);
    expect({ changes, status: answer.statusCode, err: answer.json().err }).toEqual({
      changes,
      status: 400,
      err,
    });
    expect(answer.headers['content-language']).toBe('en');
  }
  const unsigned = (await newSet(source, event)).split('.');
  unsigned[0] = Buffer.from('{"alg":"none","kid":"signals","typ":"secevent+jwt"}').toString('base64url');
  const none = await send(source, event, { set: `${unsigned[0]}.${unsigned[1]}.` });
  expect(none.json().err).toBe('invalid_key');
  expect(await sessionsOf(acme)).toEqual([sessionId]);
  expect(await entriesOf(acme, 'signal.refused')).toMatchObject([{ status: 'blocked' }]);

  // A verification without a state is one that nobody asked for, and ends nothing.
  const verification = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
  for (const iat of [seconds() - 7 * 86_400, seconds() + 60]) {
    expect((await send(source, verification, { claims: { iat } })).statusCode).toBe(202); // the oldest, and the newest
  }

  const set = await newSet(source, event);
  const taken = await send(source, event, { set });
  expect([taken.statusCode, taken.body]).toEqual([202, '']);
  expect(await sessionsOf(acme)).toEqual([]);
  await signOn(service, provider, { org: acme.developerId });
  expect((await send(source, event, { set })).statusCode).toBe(202);
  expect(await sessionsOf(acme)).toHaveLength(1);
  expect(await entriesOf(acme, 'signal.received')).toHaveLength(1);
});

describe('M13: what a signal does', () => {
  test('account-disabled leaves no live token in a delegation tree, whichever statement fails first', async () => {
    const { dbAs, failEach } = failingStatements();
    const started = await linked(await startSignalling({}, { dbAs }));
    const { acme, source, transmitter, sessionId } = started;
    const { tokens } = await threeLevels(acme, 'ada');
    const set = await transmitter.newSet(source, `${RISC}/account-disabled`);
    const send = () => transmitter.send(source, '', { set });

    const { answer, failures } = await failEach(send, async ({ statusCode }) => {
      expect(statusCode).toBe(503);
      expect(await sessionsOf(acme)).toEqual([sessionId]);
      for (const token of tokens) expect(await isValid(acme, token)).toBe(true);
    });

    expect(answer.statusCode).toBe(202);
    expect(failures).toBeGreaterThan(10);
    for (const token of tokens) expect(await isValid(acme, token)).toBe(false);
    expect(await sessionsOf(acme)).toEqual([]);
    expect(await isActive(started)).toBe(false);
    const [received] = await entriesOf(acme, 'signal.received');
    expect(received?.metadata).toMatchObject({ effect: 'deactivated', grantsRevoked: 3, sessionsEnded: 1 });
    expect(await entriesOf(acme, 'principal.offboarded')).toHaveLength(1);
    const refused = await acme('POST', '/v1/authorize', {
      agentId: (await grantTo(acme)).agentId,
      principalId: 'ada',
      scopes: ['calendar:read'],
    });
    expect(refused.json().code).toBe('PRINCIPAL_INACTIVE');
  });

  test.each([
    ['sessions', [true, true]],
    ['idp', [false, true]],
    ['all', [false, false]],
  ] as const)('session-revoked under `%s` ends the sessions, and these grants', async (setting, valid) => {
    const started = await linked(await startSignalling());
    const { service, acme, connection, transmitter } = started;
    const bySso = await grantTo(acme, { principalId: 'ada' });
    const other = await grantTo(acme, { principalId: 'ada' });
    const strangers = await grantTo(acme, { principalId: 'grace' });
    await service.db
      .updateTable('grants')
      .set({ consentMethod: 'sso' })
      .where('developerId', '=', acme.developerId)
      .where('id', '=', bySso.grantId)
      .execute();
    await transmitter.listen(acme, connection.id, { onSessionRevoked: setting });

    expect((await transmitter.send(started.source, `${CAEP}/session-revoked`)).statusCode).toBe(202);

    expect(await sessionsOf(acme)).toEqual([]);
    expect([await isValid(acme, bySso.grantToken), await isValid(acme, other.grantToken)]).toEqual(valid);
    expect(await isValid(acme, strangers.grantToken)).toBe(true);
    expect(await isActive(started)).toBe(true);
  });

  test('a signal about nobody here, or about everybody, is recorded and ends nothing', async () => {
    const started = await linked(await startSignalling({ domains: ['upstream.test'] }));
    const { service, acme, connection, source, transmitter, sessionId, scim } = started;
    await scim('POST', '/scim/v2/Users', { userName: 'ada@else.test' });
    const event = `${RISC}/account-disabled`;
    const { issuer } = transmitter;
    const user = { format: 'iss_sub', iss: issuer, sub: 'ada' };
    const tenant = { format: 'opaque', id: 'org-1' };
    const ignored: readonly object[] = [
      { format: 'complex', tenant },
      { format: 'complex', device: { format: 'opaque', id: 'd' } },
      { format: 'opaque', id: 'unknown session' },
      { format: 'email', email: 'ada@else.test' },
      { format: 'email', email: 'ada@upstream.test' },
      { format: 'iss_sub', iss: 'https://mallory.test', sub: 'ada' },
    ];
    for (const sub_id of ignored) {
      expect((await transmitter.send(source, event, { claims: { sub_id } })).statusCode).toBe(202);
    }
    expect(await entriesOf(acme, 'signal.ignored')).toHaveLength(ignored.length);
    expect(await sessionsOf(acme)).toEqual([sessionId]);
    await transmitter.listen(acme, connection.id, { tenant: 'org-1' });
    await transmitter.send(source, event, { claims: { sub_id: { format: 'complex', user } } });
    expect(await isActive(started)).toBe(true);

    await scim('POST', '/scim/v2/Users', { userName: 'bob@upstream.test' });
    await ownDomain(service, acme, 'upstream.test');
    await transmitter.listen(acme, connection.id);
    const byMail = { format: 'email', email: 'bob@upstream.test' };
    await transmitter.send(source, event, { claims: { sub_id: byMail } });
    await transmitter.send(source, event, { claims: { sub_id: { format: 'complex', user, tenant } } });
    const received = await entriesOf(acme, 'signal.received');
    expect(received.map(({ metadata }) => Object(metadata).effect)).toEqual(['deactivated', 'deactivated']);
    expect(await isActive(started)).toBe(false);
  });

  test('a user of another connection is never meant', async () => {
    const started = await linked(await startSignalling({ domains: ['upstream.test'] }));
    const { service, acme, scim, transmitter, provider } = started;
    await service.db.deleteFrom('verifiedDomains').where('domain', '=', 'upstream.test').execute();
    await ownDomain(service, acme, 'upstream.test').catch(() => undefined);
    await scim('PATCH', `/scim/v2/Users/${started.userId}`, {
      Operations: [{ op: 'replace', value: { userName: 'ada@upstream.test' } }],
    });
    const second = await addOidc(acme, provider, { name: 'Second', domains: [] });
    const source = await transmitter.listen(acme, second.id);

    await transmitter.send(source, `${RISC}/account-disabled`);
    const byMail = { sub_id: { format: 'email', email: 'ada@upstream.test' } };
    await transmitter.send(source, `${RISC}/account-disabled`, { claims: byMail });

    expect(await isActive(started)).toBe(true);
    await transmitter.send(started.source, `${RISC}/account-disabled`, { claims: byMail });
    expect(await isActive(started)).toBe(false);
  });
});

test('M13: account-enabled brings back whom a signal disabled, and nobody whom SCIM did', async () => {
  const started = await linked(await startSignalling());
  const { scim, userId, source, transmitter, acme } = started;
  const disable = () => transmitter.send(source, `${RISC}/account-disabled`);
  const enable = () => transmitter.send(source, `${RISC}/account-enabled`);
  const patch = (active: boolean) =>
    scim('PATCH', `/scim/v2/Users/${userId}`, {
      Operations: [{ op: 'replace', path: 'active', value: active }],
    });
  const held = await grantTo(acme, { principalId: 'ada' });

  await disable();
  expect(await isActive(started)).toBe(false);
  await enable();
  expect(await isActive(started)).toBe(true);
  expect(await isValid(acme, held.grantToken)).toBe(false);

  await patch(false);
  await enable();
  expect(await isActive(started)).toBe(false);
  await patch(true);
  await disable();
  await patch(false); // says what is so already
  await enable();
  expect(await isActive(started)).toBe(false);
});

test('M13: where SCIM manages the people, a signal brings nobody back', async () => {
  const started = await linked(await startSignalling({ scimManaged: true }));
  const { source, transmitter, acme } = started;

  await transmitter.send(source, `${RISC}/account-disabled`);
  expect(await isActive(started)).toBe(false);
  await transmitter.send(source, `${RISC}/account-enabled`);

  expect(await isActive(started)).toBe(false);
  const [enabled] = (await entriesOf(acme, 'signal.received')).toReversed();
  expect(enabled?.metadata).toMatchObject({ effect: 'none' });
});

test('account-purged takes credentials and memberships too, and the user stays known as inactive', async () => {
  const started = await linked(await startSignalling());
  const { acme, scim, userId, source, transmitter } = started;
  const credential = { principalId: 'ada', service: 'github', credentialType: 'oauth2', accessToken: 'x' };
  await acme('POST', '/v1/vault/credentials', credential);
  const group = { displayName: 'Admirals', members: [{ value: userId }] };
  const { id } = (await scim('POST', '/scim/v2/Groups', group)).json();

  await transmitter.send(source, `${RISC}/account-purged`);

  expect((await acme('GET', '/v1/vault/credentials?principalId=ada')).json().credentials).toEqual([]);
  expect((await scim('GET', `/scim/v2/Groups/${id}`)).json()).toMatchObject({ meta: { version: 'W/"2"' } });
  expect((await scim('GET', `/scim/v2/Groups/${id}`)).json().members ?? []).toEqual([]);
  expect(await isActive(started)).toBe(false);
});

test('a changed credential ends sessions and no grant; an enforced connection ends the person’s own sessions too', async () => {
  const started = await linked(await startSignalling({ enforce: true }));
  const { service, acme, source, transmitter } = started;
  const held = await grantTo(acme, { principalId: 'ada' });
  const { sessionToken } = (await openSession(acme, 'ada')).json();
  const own = () => service.calling(sessionToken)('GET', '/v1/principal/grants');
  const change = (change_type: string) =>
    transmitter.send(source, `${CAEP}/credential-change`, {}, { change_type, credential_type: 'password' });

  await change('create');
  expect([(await own()).statusCode, await sessionsOf(acme)]).toMatchObject([200, [started.sessionId]]);
  await change('revoke');

  expect([(await own()).statusCode, await sessionsOf(acme)]).toEqual([401, []]);
  expect(await isValid(acme, held.grantToken)).toBe(true);
});

test('a source has one secret, shown once, and none takes signals after its end', async () => {
  const started = await linked(await startSignalling());
  const { acme, connection, source, transmitter, service } = started;
  const path = `/v1/sso/connections/${connection.id}/signals`;
  const again = await acme('PUT', path, { requireHeader: false });
  expect(again.json()).not.toHaveProperty('authorizationHeader');
  expect((await acme('GET', path)).json()).toEqual(again.json());
  expect(again.json()).toMatchObject({
    transmitter: transmitter.issuer,
    delivery: 'push',
    requireHeader: false,
  });
  const verification = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
  expect((await transmitter.send(source, verification, { authorization: null })).statusCode).toBe(202);
  expect((await acme('GET', path)).json().verifiedAt).toBe(service.clock().toISOString());

  expect((await acme('DELETE', path)).statusCode).toBe(204);
  expect((await acme('GET', path)).statusCode).toBe(404);
  const late = await transmitter.send(source, `${CAEP}/session-revoked`);
  expect(late.json()).toMatchObject({ err: 'authentication_failed' });
  expect(await sessionsOf(acme)).toEqual([started.sessionId]);
});

test('a transmitter that describes itself wrongly is not taken', async () => {
  const { acme, connection, transmitter } = await startSignalling();
  const put = (body: object = {}) => acme('PUT', `/v1/sso/connections/${connection.id}/signals`, body);
  const { issuer } = transmitter.metadata;
  const wrong: readonly (readonly [object, string])[] = [
    [{ issuer: `${issuer}/` }, 'issuer'],
    [{ jwks_uri: 'ftp://keys.test' }, 'jwks_uri'],
    [{ jwks_uri: undefined }, 'jwks_uri'],
  ];
  for (const [members, step] of wrong) {
    const kept = { ...transmitter.metadata };
    Object.assign(transmitter.metadata, members);
    const { code, details } = (await put()).json();
    expect({ code, step: details.step }).toEqual({ code: 'DISCOVERY_FAILED', step });
    Object.assign(transmitter.metadata, kept);
  }
  expect((await put({ transmitter: 'https://user@idp.test' })).json().code).toBe('DISCOVERY_FAILED');
  expect((await put()).statusCode).toBe(200);
});

test('a session that the provider names ends alone, by itself or beside its person', async () => {
  const started = await linked(await startSignalling());
  const { service, acme, source, transmitter, sessionId: first } = started;
  service.advance(1);
  const second = String((await started.signIn()).sessionId);
  service.advance(1);
  const third = String((await started.signIn()).sessionId);
  for (const [id, idpSession] of [
    [first, 'sid-1'],
    [second, 'sid-2'],
  ] as const) {
    await service.db.updateTable('ssoSessions').set({ idpSession }).where('id', '=', id).execute();
  }
  const revoke = (sub_id: object) =>
    transmitter.send(source, `${CAEP}/session-revoked`, { claims: { sub_id } });

  await revoke({ format: 'opaque', id: 'sid-1' });
  expect(await sessionsOf(acme)).toEqual([third, second]);
  const user = { format: 'iss_sub', iss: transmitter.issuer, sub: 'ada' };
  await revoke({ format: 'complex', user, session: { format: 'opaque', id: 'sid-2' } });
  expect(await sessionsOf(acme)).toEqual([third]);
});
