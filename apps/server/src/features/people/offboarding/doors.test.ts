import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { authenticator } from '../../../../test/app/authenticator.ts';
import { addProvider, askToConnect, besideUpstream, browserOf } from '../../../../test/app/connecting.ts';
import {
  authorize,
  grantTo,
  mailer,
  openSession,
  refusalOf,
  registerAgent,
} from '../../../../test/app/flow.ts';
import { basic, newClient } from '../../../../test/app/oauth.ts';
import { entriesOfAccount, readStatement, verdictOn } from '../../../../test/app/offboarded.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider, signOn } from '../../../../test/app/signing-on.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { exchange, storeCredential } from '../../../../test/app/vault.ts';

let service: Service;
beforeAll(async () => {
  const env = { ...besideProvider().env, ...besideUpstream().env };
  service = await startApp({ ...besideProvider(env), isShared: true });
});
afterAll(() => service.stop());

const PRINCIPAL = 'urn:behest:params:scim:schemas:extension:principal:2.0:User';

/** An account with a directory, a provider of its people, and an upstream to connect. */
async function newWorld() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const idp = await provisionerOf(service, acme);
  const provider = await startAccountsServer();
  const connection = await addOidc(acme, provider, { scimManaged: true });
  await addProvider(acme, provider);
  const user = {
    userName: 'Ada@acme.test',
    externalId: 'ada', // the subject at the provider, too
    emails: [{ value: 'ada.king@acme.test', primary: true }],
    [PRINCIPAL]: { principalIds: ['crm-7'] },
  };
  const { id: userId } = (await idp('POST', '/Users', user)).json();
  const signIn = () => signOn(service, provider, { org: acme.developerId });
  await signIn();
  const { agentId } = await registerAgent(acme);
  const client = await newClient(acme);
  return { acme, idp, user, userId: String(userId), connection, signIn, agentId, client };
}

type World = Awaited<ReturnType<typeof newWorld>>;

/** Every id of the person: of the directory in any case, of the person's own address, and of single sign-on. */
const idsOf = ({ userId, connection }: World) => [
  ...['ADA@acme.test', 'ada@acme.test', 'ada', 'crm-7', 'Ada.King@acme.test'],
  ...[userId, `${connection.id}|ada`],
];

const offboard = ({ acme }: World, id: string) =>
  acme('POST', `/v1/principals/${encodeURIComponent(id)}/offboard`, {});
const admit = ({ acme }: World, id: string) =>
  acme('DELETE', `/v1/principals/${encodeURIComponent(id)}/offboarding`);
const scopes = ['calendar:read'];
let made = 0;
const newName = () => {
  made += 1;
  return `service-${made}`;
};

/** Ways to give something new to somebody, by an id of theirs. */
const ASKING: Readonly<
  Record<string, (world: World, principalId: string) => Promise<LightMyRequestResponse>>
> = {
  'a request': ({ acme, agentId }, principalId) =>
    acme('POST', '/v1/authorize', { agentId, principalId, scopes }),
  'a request by backchannel': ({ client }, principalId) =>
    service.app.inject({
      method: 'POST',
      url: '/oauth/bc-authorize',
      headers: {
        ...basic(client.clientId, client.clientSecret),
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: new URLSearchParams({ scope: 'calendar:read', login_hint: principalId }).toString(),
    }),
  'a session of their own page': async ({ acme }, principalId) => {
    const { agentId } = await registerAgent(acme);
    await acme('POST', '/v1/authorize', { agentId, principalId, scopes });
    return openSession(acme, principalId);
  },
  'a stored credential': ({ acme }, principalId) =>
    acme('POST', '/v1/vault/credentials', {
      ...{ principalId, service: newName(), credentialType: 'api_key', accessToken: 'x' },
    }),
  'a passkey': ({ acme }, principalId) => acme('POST', '/v1/webauthn/register/options', { principalId }),
  'a link to connect an account': ({ acme }, principalId) =>
    acme('POST', '/v1/vault/connect-sessions', { principalId, service: 'files' }),
};

test.each(Object.entries(ASKING))(
  'no id of an offboarded person opens %s, until one of them is admitted',
  async (_, ask) => {
    const world = await newWorld();
    const ids = idsOf(world);
    const statuses = async () => {
      const answers = [];
      for (const id of ids) answers.push((await ask(world, id)).statusCode);
      return answers;
    };
    // A person sees their page once they have given something.
    for (const principalId of ids) await grantTo(world.acme, { principalId });
    for (const status of await statuses()) expect(status).toBeLessThan(300);

    const ended = await offboard(world, 'crm-7');

    expect(ended.json()).toMatchObject({ grantsRevoked: ids.length });
    for (const status of await statuses()) expect(status).toBeGreaterThanOrEqual(400);
    expect((await admit(world, 'ADA@acme.test')).statusCode).toBe(204);
    for (const principalId of ids) await grantTo(world.acme, { principalId });
    for (const status of await statuses()) expect(status).toBeLessThan(300);
  },
);

interface Held {
  /** What was handed out before. @returns its use */
  readonly prepare: (world: World) => Promise<() => Promise<LightMyRequestResponse>>;
  /** The act that the use records. */
  readonly records?: string;
  /** It is the person's own, and outlives every agent. */
  readonly isOwn?: true;
  /** Whether the answer opens the door, where its status does not say so. */
  readonly opens?: (body: Record<string, unknown>) => boolean;
}

/** Things that are handed out, and used later. */
const HELD: Readonly<Record<string, Held>> = {
  'a code': {
    async prepare({ acme, agentId }) {
      const { code } = await authorize(acme, agentId, { principalId: 'crm-7', scopes });
      return () => acme('POST', '/v1/token', { code, agentId });
    },
    records: 'grant.created',
  },
  'a request that waits': {
    async prepare({ acme, agentId }) {
      const { id } = await authorize(acme, agentId, {
        principalId: 'Ada@acme.test',
        scopes,
        autoApprove: false,
      });
      return () => acme('POST', `/v1/authorize/${id}/approve`, {});
    },
    records: 'authorization.approved',
  },
  'a refresh token': {
    async prepare({ acme }) {
      const { agentId, refreshToken } = await grantTo(acme, { principalId: 'crm-7' });
      return () => acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    },
    records: 'token.issued',
  },
  'a grant to delegate': {
    async prepare({ acme, agentId: subAgentId }) {
      const { grantToken } = await grantTo(acme, { principalId: 'ada', scopes });
      return () => acme('POST', '/v1/grants/delegate', { parentGrantToken: grantToken, subAgentId, scopes });
    },
    records: 'grant.created',
  },
  'a grant token': {
    async prepare({ acme }) {
      const { grantToken: token } = await grantTo(acme, { principalId: 'ADA@acme.test' });
      return () => acme('POST', '/v1/tokens/verify', { token });
    },
    opens: ({ valid }) => valid === true,
  },
  'a call': {
    async prepare({ acme }) {
      const { question } = await mailer(acme, { principalId: 'ada' });
      return () => acme('POST', '/access/v1/evaluation', question);
    },
    records: 'tool.enforce',
    opens: ({ decision }) => decision === true,
  },
  'a verifiable credential': {
    async prepare({ acme }) {
      const { grantId } = await grantTo(acme, { principalId: 'ada' });
      return () => acme('POST', '/v1/credentials', { grantId, format: 'sd-jwt' });
    },
    records: 'sd-jwt.issued',
  },
  'a credential in the vault': {
    async prepare({ acme }) {
      const name = newName();
      await storeCredential(acme, { principalId: 'ada', service: name });
      const { grantToken } = await grantTo(acme, { principalId: 'ada', scopes: [`vault:${name}:read`] });
      return () => exchange(service, grantToken, { service: name });
    },
    records: 'vault.credential.exchanged',
  },
  'a link to connect an account': {
    isOwn: true,
    async prepare({ acme }) {
      const session = await askToConnect(acme, { principalId: 'Ada.King@acme.test' });
      const browser = browserOf(service);
      await browser.open(session);
      return () => browser.start(session.id);
    },
  },
  'a session of their own page': {
    isOwn: true,
    async prepare({ acme }) {
      await grantTo(acme, { principalId: 'crm-7' });
      const { sessionToken } = (await openSession(acme, 'crm-7')).json();
      return () => service.calling(String(sessionToken))('GET', '/v1/principal/grants');
    },
  },
  'a passkey under way': {
    isOwn: true,
    async prepare({ acme }) {
      const asked = await acme('POST', '/v1/webauthn/register/options', { principalId: 'crm-7' });
      const { challengeId, publicKey } = asked.json();
      const body = { challengeId, response: authenticator().create(publicKey) };
      return () => acme('POST', '/v1/webauthn/register/verify', body);
    },
    records: 'fido.registered',
  },
};

test.each(Object.entries(HELD))(
  'what was handed out before an offboarding is of no use after it: %s',
  async (_, { prepare, records, opens = () => true }) => {
    const world = await newWorld();
    const isOpen = (answer: LightMyRequestResponse) => answer.statusCode < 300 && opens(answer.json());
    const before = (await entriesOfAccount(world.acme)).length;
    const control = await (await prepare(world))();
    expect(isOpen(control), control.body).toBe(true);
    const use = await prepare(world);

    const { statement } = (await offboard(world, 'ada@ACME.test')).json();

    const answer = await use();
    expect(isOpen(answer), answer.body).toBe(false);
    const said = await readStatement(service, statement);
    expect(said.remaining).toEqual(Object.fromEntries(Object.keys(said.remaining).map((kind) => [kind, 0])));
    const entries = await entriesOfAccount(world.acme);
    expect(verdictOn(said, entries)).toMatchObject({ valid: true });
    if (records === undefined) return;
    // The same statement, as if they had been offboarded before they used it.
    const used = entries.findIndex(({ seq, action }) => seq > before && action === records);
    const [last] = entries.slice(used - 1);
    const early = { seq: last?.seq ?? 0, firstSeq: last?.seq ?? 0, hash: last?.hash ?? '' };
    const verdict = verdictOn({ ...said, ...early, ended: {}, endedAt: '2099' }, entries);
    expect(verdict).toMatchObject({ fault: 'used_after', entryId: entries[used]?.id });
  },
);

test.each(Object.entries(HELD).filter(([, { isOwn }]) => !isOwn))(
  'what an agent held is of no use after the agent was revoked: %s',
  async (_, { prepare, opens = () => true }) => {
    const { acme, ...world } = await newWorld();
    const isOpen = (answer: LightMyRequestResponse) => answer.statusCode < 300 && opens(answer.json());
    const control = await (await prepare({ acme, ...world }))();
    expect(isOpen(control), control.body).toBe(true);
    const use = await prepare({ acme, ...world });
    const { agents } = (await acme('GET', '/v1/agents')).json();

    for (const { agentId } of agents) await acme('DELETE', `/v1/agents/${agentId}`);

    const answer = await use();
    expect(isOpen(answer), answer.body).toBe(false);
    const entries = await entriesOfAccount(acme);
    for (const { agentId } of agents) {
      const { statement } = (await acme('GET', `/v1/agents/${agentId}/offboarding`)).json();
      expect(verdictOn(await readStatement(service, statement), entries)).toMatchObject({ valid: true });
    }
  },
);

test('a person who was offboarded does not sign on, also not when the directory has deleted the user', async () => {
  const world = await newWorld();
  const { acme, idp, userId, connection, signIn } = world;
  expect((await signIn()).principalId).toBe('crm-7');

  const { statement } = (await offboard(world, 'ada@acme.test')).json();

  const said = await readStatement(service, statement);
  expect(said.ended).toMatchObject({ ssoSessions: 2 });
  await expect(signIn()).rejects.toThrow('SSO_USER_INACTIVE');
  await idp('DELETE', `/Users/${userId}`);
  const change = { scimManaged: false, jitProvisioning: true };
  const changed = await acme('PATCH', `/v1/sso/connections/${connection.id}`, change);
  expect(changed.statusCode, changed.body).toBe(200);
  await expect(signIn()).rejects.toThrow('SSO_USER_INACTIVE');
  expect(verdictOn(said, await entriesOfAccount(acme))).toMatchObject({ valid: true });

  await admit(world, `${connection.id}|ada`);

  expect((await signIn()).principalId).toBe(`${connection.id}|ada`);
  expect(verdictOn(said, await entriesOfAccount(acme))).toMatchObject({ valid: true });
});

test('a directory sees an offboarded person as inactive, and learns why it cannot activate or add them', async () => {
  const world = await newWorld();
  const { acme, idp, user, userId } = world;
  const activity = async () => (await idp('GET', `/Users/${userId}`)).json().active;
  const refusal = {
    status: '400',
    scimType: 'invalidValue',
    detail: expect.stringContaining('was offboarded'),
  };

  await offboard(world, 'crm-7');

  expect(await activity()).toBe(false);
  const active = { Operations: [{ op: 'replace', path: 'active', value: true }] };
  expect((await idp('PATCH', `/Users/${userId}`, active)).json()).toMatchObject(refusal);
  expect((await idp('PUT', `/Users/${userId}`, { ...user, active: true })).json()).toMatchObject(refusal);
  const renamed = { Operations: [{ op: 'replace', path: 'userName', value: 'countess@acme.test' }] };
  expect((await idp('PATCH', `/Users/${userId}`, renamed)).statusCode).toBe(200);
  expect(await activity()).toBe(false);
  await idp('DELETE', `/Users/${userId}`);
  expect((await idp('POST', '/Users', { userName: 'Countess@acme.test' })).json()).toMatchObject(refusal);
  expect((await idp('POST', '/Users', user)).json()).toMatchObject(refusal);
  const added = (await idp('POST', '/Users', { ...user, externalId: 'new', active: false })).json();
  expect(added).toMatchObject({ active: false });
  for (const principalId of ['new', added.id, 'COUNTESS@acme.test']) {
    const asked = await acme('POST', '/v1/authorize', { agentId: world.agentId, principalId, scopes });
    expect(refusalOf(asked)).toBe('409 PRINCIPAL_INACTIVE');
  }

  await admit(world, 'new');

  expect((await idp('PATCH', `/Users/${added.id}`, active)).json()).toMatchObject({ active: true });
  expect(await grantTo(acme, { principalId: 'countess@acme.test' })).toHaveProperty('grantId');
});

test('an admission activates the user whom the offboarding made inactive, and no other', async () => {
  const world = await newWorld();
  const { idp, userId } = world;
  const activity = async () => (await idp('GET', `/Users/${userId}`)).json().active;
  const leaves = { Operations: [{ op: 'replace', path: 'active', value: false }] };

  await offboard(world, 'ada');
  await admit(world, 'crm-7');
  expect(await activity()).toBe(true);

  await idp('PATCH', `/Users/${userId}`, leaves);
  await offboard(world, 'ada');
  await admit(world, 'ada');
  expect(await activity()).toBe(false);
});

test('an approver goes with the person, by any id, and by the word of their provider alone', async () => {
  const world = await newWorld();
  const { acme, userId } = world;
  const invite = () => acme('POST', '/v1/approvers', { principalId: 'ADA@acme.test' });
  const byAddress = { email: 'someone@elsewhere.test', displayName: 'Ada' };
  const { approverId } = (await acme('POST', '/v1/approvers', byAddress)).json();
  expect((await invite()).statusCode).toBe(201);
  // As after an enrolment in a browser in which the provider of a verified domain vouches for the user.
  await service.db
    .updateTable('approvers')
    .set({ ssoUserId: userId, ssoSub: 'sso:x:ada', status: 'active' })
    .where('id', '=', approverId)
    .execute();

  const { statement } = (await offboard(world, 'crm-7')).json();

  expect(await readStatement(service, statement)).toMatchObject({
    ended: { approvers: 2 },
    remaining: { approvers: 0 },
  });
  expect((await acme('GET', '/v1/approvers')).json().approvers).toEqual([]);
  expect(refusalOf(await invite())).toBe('409 CONFLICT');
});

test('the statement names every id of the person, and is found and lifted by each', async () => {
  const world = await newWorld();
  const { acme, idp, userId, connection } = world;
  await idp('POST', '/Users', { userName: 'grace@acme.test', externalId: 'grace' });
  await grantTo(acme, { principalId: 'grace' });
  await offboard(world, 'crm-7');
  const proofOf = (id: string) => acme('GET', `/v1/principals/${encodeURIComponent(id)}/offboarding`);

  const proof = (await proofOf('ADA@ACME.test')).json();

  expect(proof).toMatchObject({
    subjectId: 'crm-7',
    principalIds: expect.arrayContaining([
      'ada',
      'ada@acme.test',
      'ada.king@acme.test',
      'crm-7',
      userId,
      `${connection.id}|ada`,
    ]),
    principalIdsInAnyCase: expect.arrayContaining(['ada@acme.test', 'ada.king@acme.test']),
    isClosed: true,
  });
  expect(await readStatement(service, proof.statement)).toMatchObject({
    isClosed: true,
    principalIds: proof.principalIds,
  });
  for (const id of idsOf(world)) expect((await proofOf(id)).json().offboardingId).toBe(proof.offboardingId);
  expect(refusalOf(await proofOf('grace'))).toBe('404 NOT_FOUND');
  expect((await offboard(world, 'ada')).json().statement).toBeTruthy();
  expect((await proofOf('ada')).json().offboardingId).toBe(proof.offboardingId); // nothing was left to end

  await admit(world, userId);

  const later = (await proofOf('ada')).json();
  expect(later).toMatchObject({ offboardingId: proof.offboardingId, isClosed: false });
  const entries = await entriesOfAccount(acme);
  expect(verdictOn(await readStatement(service, later.statement), entries)).toMatchObject({ valid: true });
  const claimed = {
    ...(await readStatement(service, later.statement)),
    isClosed: true,
    signedAt: new Date('2099-01-01'),
  };
  const admitted = entries.find(({ action }) => action === 'principal.admitted');
  expect(verdictOn(claimed, entries)).toMatchObject({ fault: 'admitted_before', entryId: admitted?.id });
});
