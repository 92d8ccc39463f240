import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { censusOf } from '../../../../test/app/census.ts';
import { failingStatements } from '../../../../test/app/failing-statements.ts';
import {
  authorize,
  entriesOf,
  grantTo,
  openSession,
  refusalOf,
  sharedSandbox,
} from '../../../../test/app/flow.ts';
import { provisionerOf, threeLevels } from '../../../../test/app/scim.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';
import { storeCredential } from '../../../../test/app/vault.ts';

const start = sharedSandbox();

const PERSON = 'Ada/1@acme.test';
const PATH = `/v1/principals/${encodeURIComponent(PERSON)}`;

/** A person with something of each kind. */
async function withPerson(acme: Developer) {
  const levels = await threeLevels(acme, PERSON);
  const asked = await authorize(acme, levels.root.agentId, { principalId: PERSON, autoApprove: false });
  const { sessionToken } = (await openSession(acme, PERSON)).json();
  await storeCredential(acme, { principalId: PERSON });
  await registerPasskey(acme, authenticator(), { principalId: PERSON });
  return { acme, ...levels, asked, sessionToken: String(sessionToken) };
}

async function startWithPerson() {
  const { service, acme } = await start();
  return { service, ...(await withPerson(acme)) };
}

const found = async (acme: Developer, query = '') => {
  const { principals } = (await acme('GET', `/v1/principals?${query}`)).json();
  return principals.map(({ principalId }: { principalId: string }) => principalId);
};

test('a principal is found by the beginning of the id in any case, with what they hold, page by page', async () => {
  const { service, acme } = await startWithPerson();
  const eve = await service.asDeveloper({ mode: 'sandbox' });
  await grantTo(eve, { principalId: 'ada of Eve' });
  for (const principalId of ['adam', 'ADA-2', 'bob', 'a%da']) await grantTo(acme, { principalId });
  const idp = await provisionerOf(service, acme);
  await idp('POST', '/Users', { userName: 'adele@acme.test' });

  const [first] = (await acme('GET', '/v1/principals?query=aDa%2F')).json().principals;
  const page = (await acme('GET', '/v1/principals?query=ad&limit=2')).json();
  const rest = (await acme('GET', `/v1/principals?query=ad&limit=2&cursor=${page.nextCursor}`)).json();

  expect(first).toEqual({ principalId: PERSON, holds: ['grants', 'passkeys', 'vault'] });
  expect(page.principals.map(({ principalId }: { principalId: string }) => principalId)).toEqual([
    'ADA-2',
    PERSON,
  ]);
  expect(rest.principals).toEqual([
    { principalId: 'adam', holds: ['grants'] },
    { principalId: 'adele@acme.test', holds: ['directory'] },
  ]);
  expect(rest.nextCursor).toBeNull();
  expect(await found(acme, 'query=a%25')).toEqual(['a%da']);
  expect(await found(acme, 'query=nobody')).toEqual([]);
  expect(await found(acme)).toEqual(expect.arrayContaining([PERSON, 'bob', 'adele@acme.test']));
  expect(await found(eve)).toEqual(['ada of Eve']);
});

test('a principal is listed once, however many grants they have', async () => {
  const { service, acme } = await start();
  const { grantId } = await grantTo(acme, { principalId: 'many' });
  await grantTo(acme, { principalId: 'more' });
  await sql`insert into grants select (jsonb_populate_record(one, jsonb_build_object('id', 'grnt_' || n,
      'auth_request_id', null))).* from grants one, generate_series(1, 500) n where one.id = ${grantId}`.execute(
    service.db,
  );

  expect(await found(acme, 'query=m&limit=2')).toEqual(['many', 'more']);
});

test('a principal is shown with counts of everything that an offboarding ends', async () => {
  const { acme, grantIds } = await startWithPerson();
  await acme('DELETE', `/v1/grants/${grantIds.at(-1)}`);

  const { lastActivityAt, ...shown } = (await acme('GET', PATH)).json();

  expect(shown).toEqual({
    principalId: PERSON,
    grants: { active: 2, revoked: 1, expired: 0 },
    openRequests: 1,
    sessions: 1,
    services: ['github'],
    passkeys: 1,
    hasAddress: false,
    directory: null,
    offboarding: null,
    truncated: false,
  });
  expect(Date.parse(lastActivityAt)).not.toBeNaN();
});

test('offboarding a principal ends grants at every depth, requests, sessions, credentials and passkeys', async () => {
  const { service, acme, asked, tokens, sessionToken } = await startWithPerson();
  const other = await grantTo(acme, { principalId: 'grace' });

  const answer = await acme('POST', `${PATH}/offboard`, {});

  expect(answer.json()).toEqual({
    principalId: PERSON,
    grantsRevoked: 3,
    requestsCancelled: 1,
    sessionsEnded: 1,
    credentialsDeleted: 1,
    passkeysRemoved: 1,
    addressRemoved: false,
    statement: expect.any(String),
  });
  for (const token of tokens) {
    expect((await acme('POST', '/v1/tokens/verify', { token })).json()).toMatchObject({ valid: false });
  }
  expect((await acme('GET', `/v1/authorize/${asked.id}`)).json().status).toBe('cancelled');
  expect((await service.calling(sessionToken)('GET', '/v1/principal/grants')).statusCode).toBe(401);
  expect((await acme('GET', `/v1/grants/${other.grantId}`)).json().status).toBe('active');
  const [entry] = await entriesOf(acme, 'principal.offboarded');
  expect(entry?.metadata).toMatchObject({ principalIds: [PERSON], grantsRevoked: 3 });
  expect((await acme('POST', `${PATH}/offboard`, {})).json()).toMatchObject({
    grantsRevoked: 0,
    passkeysRemoved: 0,
  });
  expect(await entriesOf(acme, 'principal.offboarded')).toHaveLength(1);
  expect((await acme('GET', PATH)).json()).toMatchObject({ grants: { active: 0, revoked: 3 }, services: [] });
});

test('offboarding keeps credentials and passkeys when asked to', async () => {
  const { acme } = await startWithPerson();

  const answer = await acme('POST', `${PATH}/offboard`, { keepCredentials: true });

  const kept = { grantsRevoked: 3, credentialsDeleted: 0, passkeysRemoved: 0, statement: null };
  expect(answer.json()).toMatchObject(kept);
  expect((await acme('GET', PATH)).json()).toMatchObject({ services: ['github'], passkeys: 1 });
  expect(await grantTo(acme, { principalId: PERSON })).toHaveProperty('grantId');
});

test('offboarding changes nothing at all when one of its statements fails', async () => {
  const { dbAs, failEach } = failingStatements();
  const { db, asDeveloper } = await startApp({ dbAs });
  const { acme } = await withPerson(await asDeveloper({ mode: 'sandbox' }));
  const held = () => censusOf(db, acme.developerId);
  const before = await held();

  const { answer, failures } = await failEach(
    () => acme('POST', `${PATH}/offboard`, {}),
    async ({ statusCode }, statement) => {
      expect(statusCode, `statement ${statement}`).toBe(500);
      expect(await held()).toEqual(before);
    },
  );

  expect(failures).toBeGreaterThan(5);
  expect(answer.json()).toMatchObject({ grantsRevoked: 3, credentialsDeleted: 1 });
});

test('nobody who is unknown, or of another account, is shown or offboarded', async () => {
  const { service, acme } = await startWithPerson();
  const eve = await service.asDeveloper({ mode: 'sandbox' });

  expect(refusalOf(await eve('GET', PATH))).toBe('404 NOT_FOUND');
  expect(refusalOf(await eve('POST', `${PATH}/offboard`, {}))).toBe('404 NOT_FOUND');
  expect((await acme('GET', PATH)).json().grants.active).toBe(3);
  expect(refusalOf(await acme('POST', `${PATH}/offboard`, { reason: 'x' }))).toBe('400 BAD_REQUEST');
  expect(refusalOf(await acme('GET', '/v1/principals?limit=0'))).toBe('400 BAD_REQUEST');
});
