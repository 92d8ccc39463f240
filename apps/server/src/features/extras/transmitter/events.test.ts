import { expect, test } from 'vitest';
import { ownDomain } from '../../../../test/app/asserting.ts';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { authorize, grantTo, openSession, registerAgent, signedBy } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import {
  CAEP,
  eventOf,
  ISSUER,
  newReceiver,
  newStream,
  RISC,
  startPolling,
} from '../../../../test/app/receiving.ts';
import { linked, startSignalling } from '../../../../test/app/transmitter.ts';
import vectors from '../../service/keys/keys.vectors.json' with { type: 'json' };
import { membersOf, SIGNALS, SUPPORTED } from './events.rules.ts';

type Polling = Awaited<ReturnType<typeof startPolling>>;

/** Polls and acknowledges until nothing is left. */
async function signalsOf({ poll }: Pick<Polling, 'poll'>) {
  const all = [];
  for (;;) {
    const { jtis, signals } = await poll();
    if (jtis.length === 0) return all;
    all.push(...signals);
    await poll({ ack: jtis, maxEvents: 0 });
  }
}

const user = { format: 'iss_sub', iss: ISSUER, sub: 'user_42' };
const facts = (started: Polling, of: { did: string; grantId: string }) => ({
  tenant: { format: 'opaque', id: started.acme.developerId },
  application: { format: 'did', url: of.did },
  session: { format: 'opaque', id: of.grantId },
});
const caep = (initiating_entity: string, reason: string) => ({
  event_timestamp: 1_767_225_600,
  initiating_entity,
  reason_admin: { en: reason },
});

test('a revoked agent becomes a signal for its agent, and one for each of its grants', async () => {
  const started = await startPolling();
  const { acme } = started;
  const granted = await grantTo(acme);
  const { tenant, application, session } = facts(started, granted);
  const { agentId: subAgentId } = await registerAgent(acme);
  const body = { parentGrantToken: granted.grantToken, subAgentId, scopes: ['calendar:read'] };
  const child = (await acme('POST', '/v1/grants/delegate', body)).json();

  await acme('DELETE', `/v1/agents/${granted.agentId}`);
  const signals = await signalsOf(started);

  const subjects = signals.map(({ sub_id }) => sub_id);
  expect(signals.map((signal) => eventOf(signal).uri)).toEqual(signals.map(() => `${CAEP}/session-revoked`));
  expect(subjects).toContainEqual({ format: 'complex', tenant, application });
  expect(subjects).toContainEqual({ format: 'complex', user, tenant, session, application });
  expect(subjects.map(({ session: one }) => one?.id)).toContain(child.grantId);
  expect(subjects).toHaveLength(3);
  expect(new Set(signals.map(({ txn }) => txn)).size).toBe(1); // one request, one cause
});

test('a suspended agent is a signal without a person, and its resumption sends nothing', async () => {
  const started = await startPolling();
  const { agentId, did } = await registerAgent(started.acme);

  await started.acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
  await started.acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });
  const signals = await signalsOf(started);

  expect(signals).toHaveLength(1);
  expect(signals[0]?.sub_id).toEqual({
    format: 'complex',
    tenant: { format: 'opaque', id: started.acme.developerId },
    application: { format: 'did', url: did },
  });
  expect(signals[0] && eventOf(signals[0]).members).toEqual(caep('admin', 'agent.suspended'));
});

test('a revoked token names the token, and the request that revoked it', async () => {
  const started = await startPolling();
  const { acme, app } = started;
  const granted = await grantTo(acme);
  const { application, tenant } = facts(started, granted);
  const { jti } = JSON.parse(Buffer.from(granted.grantToken.split('.')[1] ?? '', 'base64url').toString());

  await app.inject({
    method: 'POST',
    url: '/v1/tokens/revoke',
    headers: { authorization: `Bearer ${acme.apiKey}`, 'x-request-id': 'req-of-the-test' },
    body: { token: granted.grantToken },
  });
  const signals = await signalsOf(started);

  expect(signals).toHaveLength(1);
  expect(signals[0]).toMatchObject({
    txn: 'req-of-the-test',
    sub_id: { user, tenant, application, session: { format: 'jwt_id', iss: ISSUER, jti } },
  });
});

test('a person who signs out of their page is a signal about that session, begun by the person', async () => {
  const started = await startPolling();
  const { acme, service } = started;
  await grantTo(acme);
  const { sessionToken } = (await openSession(acme)).json();

  const ended = await service.calling(sessionToken)('DELETE', '/v1/principal/session');
  const signals = await signalsOf(started);

  expect(ended.statusCode).toBe(204);
  expect(signals).toHaveLength(1);
  expect(signals[0]?.sub_id).toEqual({
    format: 'complex',
    user,
    tenant: { format: 'opaque', id: acme.developerId },
    session: { format: 'opaque', id: expect.stringMatching(/^psn_/) },
  });
  expect(signals[0] && eventOf(signals[0]).members).toEqual(caep('user', 'signed_out'));
});

test('a person whom SCIM disables, enables and deletes is told of by the words of RISC', async () => {
  const started = await startPolling({ receiver: { subjectFormat: 'email' } });
  const { acme, service } = started;
  const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'test' })).json();
  const scim = service.calling(token);
  const emails = [{ value: 'ada@acme.test', primary: true }];
  const { id } = (await scim('POST', '/scim/v2/Users', { userName: 'ada@acme.test', emails })).json();
  const set = (value: boolean) =>
    scim('PATCH', `/scim/v2/Users/${id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value }],
    });
  await grantTo(acme, { principalId: 'ada@acme.test' });
  await openSession(acme, 'ada@acme.test');

  await set(false);
  await set(true);
  const signals = await signalsOf(started);
  await scim('DELETE', `/scim/v2/Users/${id}`);
  const deleted = await signalsOf(started);

  const ada = { format: 'email', email: 'ada@acme.test' };
  const ofUser = signals.filter(({ sub_id }) => sub_id.session === undefined);
  expect(signals.map(({ sub_id }) => sub_id.user)).toEqual(signals.map(() => ada));
  expect(ofUser.map((signal) => eventOf(signal).uri)).toEqual([
    ...[`${CAEP}/session-revoked`, `${RISC}/account-disabled`, `${RISC}/account-enabled`],
  ]);
  // The address of a deleted person is gone, unless the user name is an address.
  expect(deleted.map((signal) => [eventOf(signal).uri, signal.sub_id.user])).toEqual([
    [`${CAEP}/session-revoked`, { format: 'iss_sub', iss: ISSUER, sub: 'ada@acme.test' }],
    [`${RISC}/account-purged`, ada],
  ]);
  expect(ofUser.map((signal) => eventOf(signal).members).slice(1, 3)).toEqual([{}, {}]);
  const ofSessions = signals.filter(({ sub_id }) => sub_id.session !== undefined);
  expect(ofSessions.map((signal) => eventOf(signal).members.reason_admin)).toEqual(
    expect.arrayContaining([{ en: 'principal_offboarded' }, { en: 'offboarded' }]),
  );
});

test('31 H4: a signal names a person by an address of a sign-in only where the provider speaks for its domain', async () => {
  const { service, acme, signIn } = await linked(await startSignalling({ domains: ['upstream.test'] }));
  const receiver = await newReceiver(service, acme, { subjectFormat: 'email' });
  const { stream_id } = await newStream(receiver);
  const toldOf = async () => {
    const first = await signIn();
    await signIn(); // a session that stays, by which the person is known
    await acme('DELETE', `/v1/sso/sessions/${first.sessionId}`);
    const answer = await receiver.call('POST', `/ssf/poll/${stream_id}`, { returnImmediately: true });
    const sets = Object.entries<string>(answer.json().sets);
    await receiver.call('POST', `/ssf/poll/${stream_id}`, {
      ack: sets.map(([jti]) => jti),
      returnImmediately: true,
    });
    return Promise.all(sets.map(async ([, set]) => (await receiver.read(set)).sub_id.user));
  };

  expect(await toldOf()).toMatchObject([{ format: 'iss_sub', sub: 'ada' }]);
  await ownDomain(service, acme, 'upstream.test');
  expect(await toldOf()).toEqual([{ format: 'email', email: 'ada@upstream.test' }]);
});

test('a session at an identity provider that ends is a signal about that session', async () => {
  const { service, acme, sessionId } = await linked(await startSignalling());
  const receiver = await newReceiver(service, acme);
  const { stream_id } = await newStream(receiver);

  const ended = await acme('DELETE', `/v1/sso/sessions/${sessionId}`);
  const answer = await receiver.call('POST', `/ssf/poll/${stream_id}`, { returnImmediately: true });
  const signals = await Promise.all(Object.values<string>(answer.json().sets).map(receiver.read));

  expect(ended.statusCode).toBe(204);
  expect(signals).toHaveLength(1);
  expect(signals[0]?.sub_id.session).toEqual({ format: 'opaque', id: sessionId });
  expect(signals[0]?.sub_id.user).toMatchObject({ format: 'iss_sub', iss: ISSUER });
});

test('passkeys are told of with the authenticator that holds them', async () => {
  const started = await startPolling();
  const { acme } = started;
  const { id } = await registerPasskey(acme, authenticator());
  await acme('DELETE', `/v1/webauthn/credentials/${id}`);

  const signals = await signalsOf(started);

  expect(signals.map(({ sub_id }) => sub_id.user)).toEqual([user, user]);
  expect(signals.map((signal) => eventOf(signal))).toMatchObject([
    {
      uri: `${CAEP}/credential-change`,
      members: {
        change_type: 'create',
        credential_type: 'fido2-platform',
        ...caep('admin', 'fido.registered'),
      },
    },
    { members: { change_type: 'delete', credential_type: 'fido2-platform', ...caep('admin', 'api') } },
  ]);
});

test('a verifiable credential is told of when it is issued and when it is revoked', async () => {
  const started = await startPolling();
  const { acme } = started;
  const { grantId } = await grantTo(acme);
  const { id } = (await acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' })).json();
  const revoked = await acme('POST', `/v1/credentials/${id}/revoke`, {});

  const signals = await signalsOf(started);

  expect(revoked.statusCode).toBeLessThan(300);
  expect(signals.map(({ sub_id }) => sub_id)).toEqual(
    signals.map(() => ({ format: 'complex', user, tenant: { format: 'opaque', id: acme.developerId } })),
  );
  expect(signals.map((signal) => eventOf(signal).members)).toMatchObject([
    { change_type: 'create', credential_type: 'verifiable-credential' },
    { change_type: 'revoke', credential_type: 'verifiable-credential' },
  ]);
});

test('a budget that runs low is a change of claims, with the budget as it is now', async () => {
  const started = await startPolling();
  const { acme, advance } = started;
  const granted = await grantTo(acme);
  const { grantId } = granted;
  const { session, application } = facts(started, granted);
  await acme('POST', '/v1/budget/allocate', { grantId, initialBudget: '10' });

  await acme('POST', '/v1/budget/debit', { grantId, amount: '6' });
  const { signals: low, jtis } = await started.poll();
  await started.poll({ ack: jtis, maxEvents: 0 });
  advance(1);
  await acme('POST', '/v1/budget/debit', { grantId, amount: '4' });
  const empty = await signalsOf(started);

  expect(low.map(({ sub_id }) => sub_id)).toMatchObject([{ user, session, application }]);
  expect(low.map((signal) => eventOf(signal))).toMatchObject([
    {
      uri: `${CAEP}/token-claims-change`,
      members: {
        claims: {
          authorization_details: [{ type: 'urn:service:budget:v1', amount: '4.0000', currency: 'USD' }],
        },
      },
    },
  ]);
  expect(empty.map((signal) => eventOf(signal).members.claims)).toContainEqual({
    authorization_details: [{ type: 'urn:service:budget:v1', amount: '0.0000', currency: 'USD' }],
  });
});

test('a simple subject is the session, else the person, and never a bare person for one grant', async () => {
  const started = await startPolling({ receiver: { subjectShape: 'simple' } });
  const { acme } = started;
  const { grantId, agentId, did } = await grantTo(acme);
  await registerPasskey(acme, authenticator());

  await acme('DELETE', `/v1/grants/${grantId}`);
  await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });

  expect((await signalsOf(started)).map(({ sub_id }) => sub_id)).toEqual(
    expect.arrayContaining([{ format: 'opaque', id: grantId }, user, { format: 'did', url: did }]),
  );
});

test('M18: the ids of two developers stay apart by tenant and audience', async () => {
  const started = await startPolling();
  const { service, acme } = started;
  const other = await service.asDeveloper({ mode: 'sandbox' });
  const theirs = await newReceiver(service, other);
  const { stream_id } = await newStream(theirs);
  for (const developer of [acme, other]) {
    const { grantId } = await grantTo(developer);
    await developer('DELETE', `/v1/grants/${grantId}`);
  }

  const answer = await theirs.call('POST', `/ssf/poll/${stream_id}`, { returnImmediately: true });
  const sets = Object.values<string>(answer.json().sets);

  expect(sets).toHaveLength(1);
  await expect(started.receiver.read(sets[0] ?? '')).rejects.toThrow('aud');
  expect(await theirs.read(sets[0] ?? '')).toMatchObject({
    sub_id: { user, tenant: { format: 'opaque', id: other.developerId } },
  });
});

test('a stream delivers the signals that its receiver asked for, within the ceiling of the developer', async () => {
  const { acme, service } = await startPolling();
  const receiver = await newReceiver(service, acme, { events: [`${CAEP}/session-revoked`] });
  const { stream_id, events_delivered } = await newStream(receiver, { events_requested: SUPPORTED });
  await registerPasskey(acme, authenticator());
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);

  const answer = await receiver.call('POST', `/ssf/poll/${stream_id}`, { returnImmediately: true });

  expect(events_delivered).toEqual([`${CAEP}/session-revoked`]);
  expect(Object.keys(answer.json().sets)).toHaveLength(1);
});

test('M18: signals are RS256 also where other tokens are not, and have neither `sub` nor `exp`', async () => {
  const started = await startPolling({
    env: { JWT_SIGNING_ALG: 'ES256', EC_PRIVATE_KEY: vectors.ec.privateKey },
  });
  const { grantId, grantToken } = await grantTo(started.acme);
  await started.acme('DELETE', `/v1/grants/${grantId}`);

  const { sets } = await started.poll();
  const [set = ''] = Object.values<string>(sets);
  const [header, payload] = set
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));

  expect(JSON.parse(Buffer.from(grantToken.split('.')[0] ?? '', 'base64url').toString()).alg).toBe('ES256');
  expect(header).toEqual({
    alg: 'RS256',
    kid: expect.stringMatching(/^service-rs256-/),
    typ: 'secevent+jwt',
  });
  expect(payload).not.toHaveProperty('sub');
  expect(payload).not.toHaveProperty('exp');
  expect(Object.keys(payload.events)).toHaveLength(1);
});

test('M18: no door takes a signal for a token', async () => {
  const started = await startPolling();
  const { acme, service } = started;
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  const { sets } = await started.poll();
  const [set = ''] = Object.values<string>(sets);
  const good = await grantTo(acme);

  for (const [token, isGood] of [
    [set, false],
    [good.grantToken, true],
  ] as const) {
    const told = (await acme('POST', '/v1/tokens/verify', { token })).json();
    expect([isGood, told.valid ?? told.active]).toEqual([isGood, isGood]);
  }
  for (const url of ['/v1/principal/grants', '/v1/me', '/ssf/streams', '/scim/v2/Users']) {
    expect((await service.calling(set)('GET', url)).statusCode).toBe(401);
  }
  expect(await signedBy(service, {})).toContain('.');
});

test('a consent that has to be renewed is told of when a refresh finds it', async () => {
  const { service } = await startPolling();
  const acme = await service.asDeveloper({ mode: 'live' });
  const voucher = await newVoucher();
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk], reconsentOnAgentChange: true });
  const receiver = await newReceiver(service, acme);
  const { stream_id: streamId } = await newStream(receiver);
  const { agentId, did } = await registerAgent(acme);
  const asked = await authorize(acme, agentId, {});
  const person = personOn(service);
  await person.open(asked.consentUrl, await voucher.hint(hintClaims(service, acme.developerId, asked)));
  const { code } = (await person.approve(String(asked.id))).json();
  const { grantId, refreshToken } = (await acme('POST', '/v1/token', { code, agentId })).json();
  await acme('PATCH', `/v1/agents/${agentId}`, { name: 'Another assistant' });

  const refused = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });

  expect(refused.json()).toMatchObject({ details: { reason: 'reconsent_required' } });
  const answer = await receiver.call('POST', `/ssf/poll/${streamId}`, { returnImmediately: true });
  const signals = await Promise.all(Object.values<string>(answer.json().sets).map(receiver.read));
  expect(signals.map(eventOf)).toEqual([
    {
      uri: `${CAEP}/token-claims-change`,
      members: expect.objectContaining({ claims: { 'urn:service:reconsent_required': true } }),
    },
  ]);
  expect(signals[0]?.sub_id).toMatchObject({
    ...{ application: { format: 'did', url: did }, session: { format: 'opaque', id: grantId } },
  });
});

test('a consent that has to be renewed is a change of claims', () => {
  const told = {
    type: 'grant.reconsent_required',
    createdAt: '2026-01-01T00:00:00Z',
    data: { grantId: 'g' },
  };

  expect(SIGNALS[told.type]).toBe(`${CAEP}/token-claims-change`);
  expect(membersOf(told, 'system', undefined)).toEqual({
    ...caep('system', 'grant.reconsent_required'),
    claims: { 'urn:service:reconsent_required': true },
  });
});

test.for([
  ['developer:key_1', 'admin'],
  ['admin', 'admin'],
  ['setup:link_1', 'admin'],
  ['principal', 'user'],
  ['approver:apr_1', 'user'],
  ['policy:pol_1', 'policy'],
  ['system', 'system'],
  ['idp:sso_1', 'system'],
  [null, 'system'],
] as const)('an act of %s is begun by %s', ([actor, entity]) => {
  const told = { type: 'agent.revoked', createdAt: '2026-01-01T00:00:00Z', data: {} };

  expect(membersOf(told, actor, undefined)).toMatchObject({ initiating_entity: entity });
  const byRule = ['anomaly', 'policy'].map((reason) => ({ ...told, data: { reason } }));
  for (const each of byRule) {
    expect(membersOf(each, actor, undefined)).toMatchObject({ initiating_entity: 'policy' });
  }
});
