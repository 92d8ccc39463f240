import type { AuditEntry } from '@behest/protocol/audit-chain';
import { type OffboardingStatement, readOffboardingStatement } from '@behest/protocol/offboarding-statement';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import {
  addProvider,
  askToConnect,
  besideUpstream,
  connectAccount,
} from '../../../../test/app/connecting.ts';
import {
  authorize,
  entriesOf,
  grantTo,
  mailer,
  openSession,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
  signedBy,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { entriesOfAccount, readStatement, verdictOn } from '../../../../test/app/offboarded.ts';
import { provisionerOf, threeLevels } from '../../../../test/app/scim.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import { storeCredential } from '../../../../test/app/vault.ts';
import { verifySignature } from '../../service/keys/index.ts';

const start = sharedSandbox();
const PERSON = 'ada@acme.test';
const PATH = `/v1/principals/${PERSON}`;

/** A person with something of each kind. */
async function withPerson(acme: Developer) {
  const levels = await threeLevels(acme, PERSON);
  await authorize(acme, levels.root.agentId, { principalId: PERSON, autoApprove: false });
  await openSession(acme, PERSON);
  await storeCredential(acme, { principalId: PERSON });
  await registerPasskey(acme, authenticator(), { principalId: PERSON });
  return levels;
}

test('an offboarding is stated so that an auditor can check it with the export and the published keys alone', async () => {
  const { service, acme } = await start();
  await withPerson(acme);
  await grantTo(acme, { principalId: 'grace' });

  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();
  await grantTo(acme, { principalId: 'grace' });

  expect(partsOf(statement).header.typ).toBe('offboarding-statement+jwt');
  const said = await readStatement(service, statement);
  expect(said).toMatchObject({
    kind: 'principal',
    subjectId: PERSON,
    developerId: acme.developerId,
    ended: { grants: 3, requests: 1, sessions: 1, vaultCredentials: 1, passkeys: 1 },
    upstream: [],
  });
  expect(Object.keys(said.remaining)).toEqual(
    expect.arrayContaining([
      'standing',
      'grants',
      'delegatedGrants',
      'requests',
      'sessions',
      'vaultCredentials',
    ]),
  );
  expect(Object.values(said.remaining).every((count) => count === 0)).toBe(true);
  const entries = await entriesOfAccount(acme);
  expect(verdictOn(said, entries)).toEqual({
    valid: true,
    fault: null,
    entryId: null,
    grants: 3,
    entriesAfter: entries.length - said.seq,
    erasedEntries: 0,
    pending: 0,
    failedDeliveries: 0,
  });
  const again = (await acme('GET', `${PATH}/offboarding`)).json();
  expect(again).toMatchObject({ seq: said.seq, hash: said.hash, isClosed: true, ended: said.ended });
  expect(await readStatement(service, again.statement)).toEqual(said);
});

test('a statement about another chain, of another count, or with something left is refused', async () => {
  const { service, acme } = await start();
  await withPerson(acme);
  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();
  const said = await readStatement(service, statement);
  const entries = await entriesOfAccount(acme);
  const faultOf = (changed: Partial<OffboardingStatement>, of = entries) =>
    verdictOn({ ...said, ...changed }, of).fault;
  const [upstream] = [{ credentialId: 'vc_1', service: 'x', state: 'failed', at: null } as const];

  expect(faultOf({})).toBeNull();
  expect(faultOf({ hash: '0'.repeat(64) })).toBe('other_chain');
  expect(faultOf({ developerId: 'dev_other' })).toBe('other_chain');
  expect(faultOf({ ended: { ...said.ended, grants: 2 } })).toBe('other_counts');
  expect(faultOf({ remaining: { ...said.remaining, grants: 1 } })).toBe('something_remained');
  expect(faultOf({ upstream: [upstream] })).toBe('upstream_failed');
  expect(faultOf({ upstreamStates: { ...said.upstreamStates, failed: 1 } })).toBe('upstream_failed');
  expect(faultOf({}, entries.toSpliced(3, 1))).toBe('chain_broken');
  expect(faultOf({}, entries.with(2, { ...entries[2], status: 'blocked' } as AuditEntry))).toBe(
    'chain_broken',
  );
  expect(faultOf({}, entries.slice(0, said.seq - 1))).toBe('other_chain');
});

test('a grant that survived, and a use after the end, are found and named', async () => {
  const { service, acme } = await start();
  const other = await grantTo(acme, { principalId: 'grace' });
  await withPerson(acme);
  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();
  const said = await readStatement(service, statement);
  const before = await entriesOfAccount(acme);
  await acme('POST', '/v1/tokens/verify', { token: other.grantToken });
  await authorize(acme, other.agentId, { principalId: 'grace' });
  const entries = await entriesOfAccount(acme);
  const of = (subject: Partial<OffboardingStatement>, list = entries) => {
    const { fault, entryId } = verdictOn({ ...said, ...subject }, list);
    return [fault, entries.find(({ id }) => id === entryId)?.action];
  };

  // The same statement about somebody who was not offboarded.
  expect(of({ subjectId: 'grace' }, before)).toEqual(['grant_survived', 'grant.created']);
  expect(of({ kind: 'agent', subjectId: other.agentId }, before)).toEqual([
    'grant_survived',
    'grant.created',
  ]);
  await acme('DELETE', `/v1/grants/${other.grantId}`);
  const later = { subjectId: 'grace', endedAt: '2099-01-01T00:00:00.000Z' };
  expect(of(later)).toEqual(['used_after', 'authorization.requested']);
  expect(of({ subjectId: 'nobody' })).toEqual([null, undefined]);
});

test('a statement that another service, another key or nobody signed is not read', async () => {
  const { service, acme } = await start();
  await withPerson(acme);
  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();
  const { payload } = partsOf(statement);
  const keys = () => service.keyRing.verificationKeys();
  const readAs = async (jws: string, issuer = String(payload.iss)) => {
    const read = await readOffboardingStatement(jws, { keys, verifySignature, issuer, now: service.clock() });
    return read.ok ? read.statement : undefined;
  };

  expect((await readAs(statement))?.subjectId).toBe(PERSON);
  expect(await readAs(statement, 'https://elsewhere.test')).toBeUndefined();
  expect(await readAs(`${statement.slice(0, -8)}AAAAAAAA`)).toBeUndefined();
  expect(await readAs(await signedBy(service, payload, { typ: 'audit-checkpoint+jwt' }))).toBeUndefined();
  const typ = 'offboarding-statement+jwt';
  expect((await readAs(await signedBy(service, payload, { typ })))?.subjectId).toBe(PERSON);
  for (const wrong of [
    { kind: 'all' },
    { seq: 0 },
    { remaining: [] },
    { ended: { a: 'b' } },
    { upstream: 1 },
    { upstreamStates: { pending: 1 } },
    { deliveries: null },
    { isClosed: 1 },
    { principalIds: [1] },
    { principalIdsInAnyCase: 'ada' },
  ]) {
    expect(await readAs(await signedBy(service, { ...payload, ...wrong }, { typ }))).toBeUndefined();
  }
});

test('nothing is given to an offboarded principal until they are admitted again', async () => {
  const { service, acme } = await start();
  const { root } = await withPerson(acme);
  const { code } = await authorize(acme, root.agentId, { principalId: PERSON });
  await acme('POST', `${PATH}/offboard`, {});
  const asked = { agentId: root.agentId, principalId: PERSON, scopes: ['calendar:read'] };
  const credential = { principalId: PERSON, service: 'github', accessToken: 'x', credentialType: 'api_key' };

  expect(refusalOf(await acme('POST', '/v1/authorize', asked))).toBe('409 PRINCIPAL_INACTIVE');
  expect((await acme('POST', '/v1/token', { code, agentId: root.agentId })).statusCode).toBe(409);
  expect(refusalOf(await openSession(acme, PERSON))).toBe('404 NOT_FOUND');
  expect(refusalOf(await acme('POST', '/v1/vault/credentials', credential))).toBe('409 PRINCIPAL_INACTIVE');
  const passkey = await acme('POST', '/v1/webauthn/register/options', { principalId: PERSON });
  expect(refusalOf(passkey)).toBe('409 PRINCIPAL_INACTIVE');
  expect((await grantTo(acme, { principalId: 'ADA@acme.test' })).grantId).toBeDefined(); // another id

  expect((await acme('DELETE', `${PATH}/offboarding`)).statusCode).toBe(204);

  expect(refusalOf(await acme('DELETE', `${PATH}/offboarding`))).toBe('404 NOT_FOUND');
  expect((await grantTo(acme, { principalId: PERSON })).grantId).toBeDefined();
  expect(await entriesOf(acme, 'principal.admitted')).toHaveLength(1);
  const { statement, isClosed } = (await acme('GET', `${PATH}/offboarding`)).json();
  expect(isClosed).toBe(false);
  const verdict = verdictOn(await readStatement(service, statement), await entriesOfAccount(acme));
  expect(verdict).toMatchObject({ valid: true, grants: 3 });
});

test('an offboarding ends sign-ons, open connections and the place among approvers, too', async () => {
  const { acme, service } = await startSandbox(besideUpstream());
  const upstream = await startAccountsServer();
  await addProvider(acme, upstream);
  await grantTo(acme, { principalId: PERSON });
  const session = await askToConnect(acme, { principalId: PERSON });
  const idp = await provisionerOf(service, acme);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  await idp('POST', '/Users', { schemas, userName: PERSON, emails: [{ value: PERSON, primary: true }] });
  const approver = await acme('POST', '/v1/approvers', { principalId: PERSON });
  expect(approver.statusCode, approver.body).toBe(201);
  await sql`insert into sso_connections (developer_id, id, name, protocol, status, settings, domains, enforce, is_default,
      version, created_at, updated_at)
    values (${acme.developerId}, 'sso_1', 'x', 'oidc', 'active', '{}', '{}', false, false, 1, now(), now())`.execute(
    service.db,
  );
  await sql`insert into sso_sessions (developer_id, id, connection_id, principal_id, subject, groups, mapped_scopes,
      secret_hash, created_at, expires_at)
    values (${acme.developerId}, 'ssos_1', 'sso_1', ${PERSON}, 's', '{}', '{}', 'x', now(), now() + interval '1 day')`.execute(
    service.db,
  );

  await acme('POST', `${PATH}/offboard`, {});

  const { ended, remaining } = (await acme('GET', `${PATH}/offboarding`)).json();
  expect(ended).toMatchObject({ grants: 1, connectSessions: 1, ssoSessions: 1, approvers: 1 });
  expect(remaining).toMatchObject({ connectSessions: 0, ssoSessions: 0, approvers: 0 });
  const shown = (await acme('GET', `/v1/vault/connect-sessions/${session.id}`)).json();
  expect(shown).toMatchObject({ status: 'cancelled', reason: 'offboarded' });
});

test('the tokens of connected accounts are taken back at their upstream, and the next statement says so', async () => {
  const { acme, service } = await startSandbox(besideUpstream());
  const upstream = await startAccountsServer();
  await addProvider(acme, upstream);
  const { credentialId } = await connectAccount(service, acme, upstream, { principalId: PERSON });
  const proof = async () => (await acme('GET', `${PATH}/offboarding`)).json();

  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();

  const pending = { credentialId, service: 'files', state: 'pending', at: null };
  expect((await readStatement(service, statement)).upstream).toEqual([pending]);
  expect((await acme('GET', '/v1/vault/credentials')).json().credentials).toEqual([]);
  expect(upstream.calls.filter((call) => call.includes('revocation'))).toEqual([]);
  await service.runJob('end of disconnections');
  expect(upstream.calls.filter((call) => call.includes('revocation'))).not.toEqual([]);
  const at = expect.stringMatching(/Z$/);
  expect((await proof()).upstream).toEqual([{ ...pending, state: 'revoked', at }]);
  const verdict = verdictOn(
    await readStatement(service, (await proof()).statement),
    await entriesOfAccount(acme),
  );
  expect(verdict).toMatchObject({ valid: true, pending: 0 });
  const [disconnected] = await entriesOf(acme, 'vault.connection.disconnected');
  expect(disconnected?.metadata).toMatchObject({ credentialId, upstream: 'revoked' });
  expect(await entriesOf(acme, 'vault.credential.deleted')).toHaveLength(1);
});

test('an upstream that keeps its tokens is named in the statement, and fails the check', async () => {
  const { acme, service } = await startSandbox(besideUpstream());
  const upstream = await startAccountsServer();
  await addProvider(acme, upstream);
  await connectAccount(service, acme, upstream, { principalId: PERSON });
  await acme('POST', `${PATH}/offboard`, {});
  upstream.behaviour.instead = (_request, respond) => {
    respond(500, {});
    return true;
  };
  await service.runJob('end of disconnections');

  const { statement, upstream: told } = (await acme('GET', `${PATH}/offboarding`)).json();

  expect(told).toMatchObject([{ service: 'files', state: 'failed' }]);
  const verdict = verdictOn(await readStatement(service, statement), await entriesOfAccount(acme));
  expect(verdict).toMatchObject({ valid: false, fault: 'upstream_failed' });
});

test('an account that was disconnected just before waits in the statement too', async () => {
  const { acme, service } = await startSandbox(besideUpstream());
  const upstream = await startAccountsServer();
  await addProvider(acme, upstream);
  const { credentialId } = await connectAccount(service, acme, upstream, { principalId: PERSON });
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  upstream.behaviour.instead = ({ url }, respond) => {
    if (!url?.includes('revocation')) return false;
    asked.resolve();
    void answered.promise.then(() => respond(200, {}));
    return true;
  };
  const cut = acme('DELETE', `/v1/vault/credentials/${credentialId}`);
  await asked.promise;

  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();

  const said = await readStatement(service, statement);
  expect(said.upstream).toEqual([{ credentialId, service: 'files', state: 'pending', at: null }]);
  expect(verdictOn(said, await entriesOfAccount(acme))).toMatchObject({ valid: true, pending: 1 });
  answered.resolve();
  expect((await cut).statusCode).toBe(204);
  const { upstream: told, upstreamStates } = (await acme('GET', `${PATH}/offboarding`)).json();
  expect(told).toMatchObject([{ credentialId, state: 'revoked' }]);
  expect(upstreamStates).toEqual({ pending: 0, revoked: 1, failed: 0, unsupported: 0 });
});

test('upstreams that the list leaves out are counted, and one of them that kept its tokens fails the check', async () => {
  const { acme, service } = await startSandbox(besideUpstream());
  const upstream = await startAccountsServer();
  await addProvider(acme, upstream);
  const { credentialId } = await connectAccount(service, acme, upstream, { principalId: PERSON });
  await sql`insert into vault_credentials select (jsonb_populate_record(one, jsonb_build_object('id', 'vault_' || n,
      'service', 'a' || n))).* from vault_credentials one, generate_series(1, 600) n where one.id = ${credentialId}`.execute(
    service.db,
  );

  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();

  const said = await readStatement(service, statement);
  expect(said.upstream).toHaveLength(500);
  expect(said.upstreamStates).toEqual({ pending: 601, revoked: 0, failed: 0, unsupported: 0 });
  expect(verdictOn(said, await entriesOfAccount(acme))).toMatchObject({ valid: true, pending: 601 });
  // The one that is left out: the rest are taken out of the job's reach.
  expect(said.upstream.map((one) => one.credentialId)).not.toContain(credentialId);
  await sql`update vault_credentials set disconnecting_at = now() + interval '1 day' where id <> ${credentialId}`.execute(
    service.db,
  );
  upstream.behaviour.instead = (_request, respond) => {
    respond(500, {});
    return true;
  };
  await service.runJob('end of disconnections');
  const later = await readStatement(service, (await acme('GET', `${PATH}/offboarding`)).json().statement);
  expect(later.upstream.every(({ state }) => state === 'pending')).toBe(true);
  expect(later.upstreamStates).toEqual({ pending: 600, revoked: 0, failed: 1, unsupported: 0 });
  expect(verdictOn(later, await entriesOfAccount(acme))).toMatchObject({ fault: 'upstream_failed' });
});

test('the webhooks that are told of an offboarding are named with what they took', async () => {
  const { acme, service } = await startSandbox({ env: { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' } });
  await grantTo(acme, { principalId: PERSON });
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['principal.offboarded', 'grant.revoked'] };
  const { id } = (await acme('POST', '/v1/webhooks', hook)).json();

  const { statement } = (await acme('POST', `${PATH}/offboard`, {})).json();

  const said = await readStatement(service, statement);
  const deliveries = { pending: 2, delivered: 0, failed: 0 };
  expect(said).toMatchObject({ receivers: [{ webhookId: id, ...deliveries }], deliveries });
  const verdict = verdictOn(said, await entriesOfAccount(acme));
  expect(verdict).toMatchObject({ valid: true, pending: 2, failedDeliveries: 0 });
  await acme('DELETE', `/v1/webhooks/${id}`);
  expect((await acme('GET', `${PATH}/offboarding`)).json().receivers).toEqual([]);
});

test('the revocation of an agent has a statement of its own, with all that it had delegated', async () => {
  const { service, acme } = await start();
  const { root } = await withPerson(acme);
  const { agentId } = root;
  expect(refusalOf(await acme('GET', `/v1/agents/${agentId}/offboarding`))).toBe('404 NOT_FOUND');

  await acme('DELETE', `/v1/agents/${agentId}`);

  const { statement, ...proof } = (await acme('GET', `/v1/agents/${agentId}/offboarding`)).json();
  expect(proof).toMatchObject({
    kind: 'agent',
    subjectId: agentId,
    ended: { grants: 3, requests: 1 },
    remaining: { standing: 0, grants: 0, delegatedGrants: 0, requests: 0, connectSessions: 0 },
    isClosed: true,
  });
  const verdict = verdictOn(await readStatement(service, statement), await entriesOfAccount(acme));
  expect(verdict).toMatchObject({ valid: true, grants: 3 });
});

test('a connection for which a revoked agent has asked cannot be gone on with', async () => {
  const { acme } = await startSandbox(besideUpstream());
  await addProvider(acme, await startAccountsServer());
  const { agentId } = await registerAgent(acme);
  const session = await askToConnect(acme, { agentId });

  await acme('DELETE', `/v1/agents/${agentId}`);

  const shown = (await acme('GET', `/v1/vault/connect-sessions/${session.id}`)).json();
  expect(shown).toMatchObject({ status: 'cancelled', reason: 'offboarded' });
  expect((await acme('GET', `/v1/agents/${agentId}/offboarding`)).json().ended).toEqual({
    connectSessions: 1,
  });
});

test('a call that is asked about during an offboarding is judged again after it', async () => {
  const { service, acme } = await start();
  const { question } = await mailer(acme, { principalId: PERSON });
  const ask = () => acme('POST', '/access/v1/evaluation', question);
  expect((await ask()).json().decision).toBe(true);

  const asked = await service.db.transaction().execute(async (tx) => {
    await sql`select close_person(${acme.developerId}, ${PERSON}, array[${PERSON}], array[false], now())`.execute(
      tx,
    );
    const asked = ask();
    const waiting = () =>
      sql`select from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and not granted`.execute(
        tx,
      );
    await expect.poll(async () => (await waiting()).rows.length).toBeGreaterThan(0);
    return { answer: asked };
  });

  expect((await asked.answer).json().decision).toBe(false);
  expect((await entriesOf(acme, 'tool.enforce')).map(({ status }) => status)).toEqual(['success', 'blocked']);
});

test('nobody reads or lifts the offboarding of another account', async () => {
  const { service, acme } = await start();
  const { root } = await withPerson(acme);
  await acme('POST', `${PATH}/offboard`, {});
  await acme('DELETE', `/v1/agents/${root.agentId}`);
  const eve = await service.asDeveloper({ mode: 'sandbox' });

  for (const path of [`${PATH}/offboarding`, `/v1/agents/${root.agentId}/offboarding`]) {
    expect(refusalOf(await eve('GET', path))).toBe('404 NOT_FOUND');
    expect((await service.calling('none')('GET', path)).statusCode).toBe(401);
    expect((await acme('GET', path)).statusCode).toBe(200);
  }
  expect(refusalOf(await eve('DELETE', `${PATH}/offboarding`))).toBe('404 NOT_FOUND');
  expect((await acme('GET', `${PATH}/offboarding`)).json().isClosed).toBe(true);
});

/** Tables that name principals or agents and give them nothing, each with the reason. */
const GIVE_NOTHING: Readonly<Record<string, string>> = {
  anomalies: 'a record of what was seen',
  anomaly_counts: 'counts',
  anomaly_sightings: 'a record of what was seen',
  agent_index: 'finds the developer of an agent',
  agent_workloads: 'identify an agent, whose standing is counted',
  assertion_clients:
    'rules about an agent, whose standing is counted; a person’s standing is held by write_assertion',
  assertion_grants: 'name grants, which are counted',
  audit_entries: 'the record itself',
  audit_erasures: 'a record',
  closed_principals: 'the closing itself',
  decisions: 'judged by their grant, which is counted',
  enforced_calls: 'a record of calls',
  failed_requests: 'a record of requests',
  legal_holds: 'keep records',
  oauth_clients: 'credentials of an agent, whose standing is counted',
  outbox_events: 'events',
  passkey_challenges: 'lead to a passkey, which nobody closed may have',
  passkey_users: 'handles of passkeys, which are counted',
  policies: 'rules, which give nothing to those who are closed',
  policy_revisions: 'records of rules',
  principal_pseudonyms: 'names in passports, which are judged by their grant',
  scim_principals: 'names of a directory',
  vault_proxy_calls: 'records of calls, which hold their grant',
  wallet_authorizations: 'judged by their grant, which is counted',
};

test('each table that names a principal or an agent is counted, or gives nothing', async () => {
  const { service } = await start();
  const { rows } = await sql<{
    name: string;
  }>`select distinct c.table_name as name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and c.column_name in ('principal_id', 'agent_id', 'owner_id') order by 1`.execute(service.db);
  const [counting] = (
    await sql<{ text: string }>`select prosrc as text from pg_proc where proname = 'usable_of'`.execute(
      service.db,
    )
  ).rows;

  const uncounted = rows.map(({ name }) => name).filter((name) => !counting?.text.includes(` ${name} `));

  expect(uncounted).toEqual(Object.keys(GIVE_NOTHING).toSorted());
});
