import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { censusOf } from '../../../../test/app/census.ts';
import { failingStatements } from '../../../../test/app/failing-statements.ts';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  openSession,
  refusalOf,
  registerAgent,
  sharedSandbox,
} from '../../../../test/app/flow.ts';
import { provisionerOf, threeLevels } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider, signOn } from '../../../../test/app/signing-on.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';

const start = sharedSandbox();

const statusOf = async (developer: Developer, grantId: string) =>
  (await developer('GET', `/v1/grants/${grantId}`)).json().status;

const deactivation = { Operations: [{ op: 'replace', path: 'active', value: false }] };

async function startProvisioned() {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const { id } = (await idp('POST', '/Users', { userName: 'Ada@acme.test', externalId: '00u1' })).json();
  return { service, acme, idp, userId: String(id) };
}

test('C4: a person who leaves takes everything along: grants at every depth, requests and sessions', async () => {
  const { service, acme, idp, userId } = await startProvisioned();
  const { root, tokens, grantIds } = await threeLevels(acme, 'ada@ACME.test');
  const asked = await authorize(acme, root.agentId, { principalId: '00u1', autoApprove: false });
  const { code } = await authorize(acme, root.agentId, { principalId: userId });
  const { sessionToken } = (await openSession(acme, 'ada@ACME.test')).json();
  const other = await grantTo(acme, { principalId: 'grace' });

  const changed = await idp('PATCH', `/Users/${userId}`, deactivation);

  expect(changed.json()).toMatchObject({ active: false, meta: { version: 'W/"2"' } });
  for (const grantId of grantIds) expect(await statusOf(acme, grantId)).toBe('revoked');
  for (const token of tokens) {
    expect((await acme('POST', '/v1/tokens/verify', { token })).json()).toMatchObject({ valid: false });
  }
  expect((await acme('GET', `/v1/authorize/${asked.id}`)).json().status).toBe('cancelled');
  const redeemed = await acme('POST', '/v1/token', { code, agentId: root.agentId });
  expect(refusalOf(redeemed)).toBe('409 PRINCIPAL_INACTIVE');
  expect((await service.calling(sessionToken)('GET', '/v1/principal/grants')).statusCode).toBe(401);
  expect(await statusOf(acme, other.grantId)).toBe('active');
  const [offboarded] = await entriesOf(acme, 'principal.offboarded');
  expect(offboarded?.metadata).toEqual({
    userId,
    principalIds: expect.arrayContaining(['00u1', 'ada@ACME.test', userId]),
    grantsRevoked: 3,
    actor: `scim:${idp.tokenId}`,
  });
  expect(await actionsOf(acme)).toContain('scim.user.deactivated');
});

test('nothing new begins for a person who is inactive, and all of it again once they are active', async () => {
  const { acme, idp, userId } = await startProvisioned();
  const held = await grantTo(acme, { principalId: '00u1' });
  const asked = await authorize(acme, held.agentId, { principalId: '00u1' });
  await idp('PATCH', `/Users/${userId}`, deactivation);
  const { agentId, refreshToken, grantToken } = held;
  const { agentId: subAgentId } = await registerAgent(acme, 'sub');
  const delegation = { parentGrantToken: grantToken, subAgentId, scopes: ['calendar:read'], expiresIn: '1h' };
  const request = { agentId, principalId: '00u1', scopes: ['calendar:read'] };
  const credential = { principalId: '00u1', service: 'github', credentialType: 'oauth2', accessToken: 'x' };

  const answers = [
    await acme('POST', '/v1/authorize', request),
    await acme('POST', '/v1/token', { code: asked.code, agentId }),
    await acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
    await acme('POST', '/v1/grants/delegate', delegation),
    await acme('POST', '/v1/vault/credentials', credential),
  ];

  expect(answers.map(refusalOf)).toEqual(answers.map(() => '409 PRINCIPAL_INACTIVE'));
  await idp('PUT', `/Users/${userId}`, { userName: 'ada@acme.test', externalId: '00u1', active: true });
  expect((await acme('POST', '/v1/authorize', request)).statusCode).toBe(201);
  expect((await acme('POST', '/v1/vault/credentials', credential)).statusCode).toBe(201);
  expect(await statusOf(acme, held.grantId)).toBe('revoked');
});

test('a person who was renamed is still the one whom the grants under the old name are of', async () => {
  const { acme, idp, userId } = await startProvisioned();
  const held = await grantTo(acme, { principalId: 'ada@acme.test' });
  await idp('PUT', `/Users/${userId}`, { userName: 'ada.king@acme.test' });

  expect(await statusOf(acme, held.grantId)).toBe('active');
  await idp('DELETE', `/Users/${userId}`);

  expect(await statusOf(acme, held.grantId)).toBe('revoked');
  expect(await actionsOf(acme)).toContain('scim.user.deleted');
});

test('a name that another person takes goes with its grants to that person', async () => {
  const { acme, idp, userId } = await startProvisioned();
  const held = await grantTo(acme, { principalId: 'ada@acme.test' });
  await idp('PUT', `/Users/${userId}`, { userName: 'ada.king@acme.test' });
  const second = (await idp('POST', '/Users', { userName: 'ADA@acme.test' })).json();

  await idp('DELETE', `/Users/${userId}`);
  expect(await statusOf(acme, held.grantId)).toBe('active');

  await idp('DELETE', `/Users/${second.id}`);
  expect(await statusOf(acme, held.grantId)).toBe('revoked');
});

test('a person who is deleted leaves no credential in the vault, and the next person is new', async () => {
  const { acme, idp, userId } = await startProvisioned();
  const body = { principalId: '00u1', service: 'github', credentialType: 'oauth2', accessToken: 'x' };
  await acme('POST', '/v1/vault/credentials', body);

  expect((await idp('DELETE', `/Users/${userId}`)).statusCode).toBe(204);

  expect((await acme('GET', '/v1/vault/credentials?principalId=00u1')).json().credentials).toEqual([]);
  expect((await idp('GET', `/Users/${userId}`)).statusCode).toBe(404);
  expect((await acme('POST', '/v1/vault/credentials', body)).statusCode).toBe(201);
});

test('the credentials of a person who is deleted give their places in the plan back', async () => {
  const { service, acme, idp, userId } = await startProvisioned();
  for (const principalId of ['00u1', 'bob']) {
    await acme('POST', '/v1/vault/credentials', {
      ...{ principalId, service: 'github', credentialType: 'oauth2', accessToken: 'x' },
    });
  }
  // The counter itself: at the limit of a plan the rows are counted, so no refusal shows that it is too high.
  const counted = () =>
    service.db
      .selectFrom('quotaCounters')
      .select('used')
      .where('developerId', '=', acme.developerId)
      .where('resource', '=', 'vault_credentials')
      .executeTakeFirstOrThrow();
  const before = Number((await counted()).used);

  await idp('DELETE', `/Users/${userId}`);

  expect([before, Number((await counted()).used)]).toEqual([2, 1]);
});

test('a person who comes inactive has no valid token, though a grant was given before', async () => {
  const { service, acme } = await start();
  const held = await grantTo(acme, { principalId: 'bob' });
  const idp = await provisionerOf(service, acme);

  await idp('POST', '/Users', { userName: 'bob', active: 'False' });

  const verified = await acme('POST', '/v1/tokens/verify', { token: held.grantToken });
  expect(verified.json()).toMatchObject({ valid: false });
});

test('a replacement without `active` leaves the person as they are', async () => {
  const { idp, userId } = await startProvisioned();
  await idp('PATCH', `/Users/${userId}`, deactivation);

  const replaced = await idp('PUT', `/Users/${userId}`, { userName: 'ada@acme.test', title: 'Countess' });

  expect(replaced.json()).toMatchObject({ active: false, title: 'Countess' });
});

test('a person who has nothing but a session is offboarded by the spelling under which it was opened', async () => {
  const { service, acme, idp, userId } = await startProvisioned();
  const held = await grantTo(acme, { principalId: 'ADA@acme.test' });
  const { sessionToken } = (await openSession(acme, 'ADA@acme.test')).json();
  await acme('DELETE', `/v1/grants/${held.grantId}`);
  const shown = () => service.calling(sessionToken)('GET', '/v1/principal/grants');
  expect((await shown()).statusCode).toBe(200); // the control

  await idp('PATCH', `/Users/${userId}`, deactivation);

  expect((await shown()).statusCode).toBe(401);
  const [offboarded] = await entriesOf(acme, 'principal.offboarded');
  expect(offboarded?.metadata).toMatchObject({
    principalIds: ['00u1', 'ADA@acme.test', 'ada@acme.test', userId].sort(),
    grantsRevoked: 0,
  });
});

test('each change of people and groups has its entry and its event', async () => {
  const { acme, idp, userId } = await startProvisioned();
  const group = { displayName: 'Crew', externalId: 'g1' };
  const { id: groupId } = (await idp('POST', '/Groups', group)).json();
  await idp('PATCH', `/Groups/${groupId}`, { Operations: [{ op: 'add', path: 'members', value: [userId] }] });
  await idp('DELETE', `/Groups/${groupId}`);
  await idp('PATCH', `/Users/${userId}`, { Operations: [{ op: 'add', path: 'title', value: 'Countess' }] });
  await idp('PATCH', `/Users/${userId}`, deactivation);
  await idp('PATCH', `/Users/${userId}`, { Operations: [{ op: 'replace', path: 'active', value: true }] });
  await idp('DELETE', `/Users/${userId}`);
  await acme('DELETE', `/v1/scim/tokens/${idp.tokenId}`);

  const person = { userId, userName: 'Ada@acme.test', externalId: '00u1' };
  const ofGroup = { groupId, ...group };
  const token = { tokenId: idp.tokenId, label: 'Okta' };
  const expected = {
    'scim.token.created': token,
    'scim.user.created': person,
    'scim.group.created': ofGroup,
    'scim.group.updated': ofGroup,
    'scim.group.deleted': ofGroup,
    'scim.user.updated': person,
    'scim.user.deactivated': { ...person, grantsRevoked: 0 },
    'scim.user.reactivated': person,
    'scim.user.deleted': { ...person, grantsRevoked: 0 },
    'scim.token.deleted': token,
  };
  for (const [action, data] of Object.entries(expected)) {
    const [entry, second] = await entriesOf(acme, action);
    expect(entry?.metadata, action).toMatchObject(data);
    expect(second).toBeUndefined();
    const { events } = (await acme('GET', `/v1/events?types=${action}`)).json();
    expect(events, action).toMatchObject([{ data }]);
  }
});

/** Ada, who is in a group and has all that a person can leave behind. */
async function startLeaving() {
  const { dbAs, failEach } = failingStatements();
  const provider = await startAccountsServer();
  const service = await startApp({ ...besideProvider(), dbAs });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await addOidc(acme, provider, { scimManaged: true });
  const idp = await provisionerOf(service, acme);
  const { id } = (await idp('POST', '/Users', { userName: 'ada', externalId: '00u1' })).json();
  const group = await idp('POST', '/Groups', { displayName: 'Admirals', members: [{ value: id }] });
  await idp('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path: 'externalId', value: 'ada' }] });

  const { root, tokens } = await threeLevels(acme, 'ada');
  await authorize(acme, root.agentId, { principalId: 'ada', autoApprove: false });
  await authorize(acme, root.agentId, { principalId: '00u1' });
  await openSession(acme, 'ada');
  await signOn(service, provider, { org: acme.developerId });
  const credential = { principalId: 'ada', service: 'github', credentialType: 'oauth2', accessToken: 'x' };
  await acme('POST', '/v1/vault/credentials', credential);

  const held = () => censusOf(service.db, acme.developerId);
  /** Sends a request of the provider until no statement of it fails, as a provider does. */
  async function insist(...request: Parameters<typeof idp>) {
    const before = await held();
    return failEach(
      () => idp(...request),
      async (answer, statement) => {
        expect({ statement, status: answer.statusCode }).toEqual({ statement, status: 500 });
        expect(answer.json().schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error']);
        expect(await held()).toEqual(before);
      },
    );
  }
  const isValid = async (token: string) =>
    (await acme('POST', '/v1/tokens/verify', { token })).json().valid === true;
  const valid = async () => (await Promise.all(tokens.map(isValid))).filter(Boolean).length;
  return { acme, idp, userId: String(id), groupId: String(group.json().id), insist, valid };
}

test.each(['PATCH', 'PUT', 'DELETE'] as const)(
  'C4: a person leaves by %s whole, or not at all, whichever statement fails',
  async (method) => {
    const { acme, userId, insist, valid } = await startLeaving();
    const bodies = {
      PATCH: { Operations: [{ op: 'replace', path: 'active', value: false }] },
      PUT: { userName: 'ada', externalId: 'ada', active: false },
      DELETE: undefined,
    };
    expect(await valid()).toBe(3); // the control

    const { answer, failures } = await insist(method, `/Users/${userId}`, bodies[method]);

    expect(answer.statusCode).toBe(method === 'DELETE' ? 204 : 200);
    expect(failures).toBeGreaterThan(20);
    expect(await valid()).toBe(0);
    expect((await acme('GET', '/v1/sso/sessions')).json().sessions).toEqual([]);
    expect(await entriesOf(acme, 'principal.offboarded')).toHaveLength(1);
    const credentials = (await acme('GET', '/v1/vault/credentials?principalId=ada')).json().credentials;
    expect(credentials).toHaveLength(method === 'DELETE' ? 0 : 1);
  },
);

test.each(['one member', 'the group'])(
  'C2: %s goes from the directory whole, or not at all, whichever statement fails',
  async (leaving) => {
    const { idp, userId, groupId, insist, valid } = await startLeaving();
    const path = `/Groups/${groupId}`;
    const removal = { Operations: [{ op: 'remove', path: `members[value eq "${userId}"]` }] };

    const { answer, failures } = await (leaving === 'the group'
      ? insist('DELETE', path)
      : insist('PATCH', path, removal));

    expect(answer.statusCode).toBe(leaving === 'the group' ? 204 : 200);
    expect(failures).toBeGreaterThan(4);
    const { groups = [] } = (await idp('GET', `/Users/${userId}`)).json();
    expect(groups).toEqual([]);
    expect(await valid()).toBe(3); // a group gives no grants, and takes none
  },
);
