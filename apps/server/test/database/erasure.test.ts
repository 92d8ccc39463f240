import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { eraseClosedAccounts } from '../../src/features/accounts/developers/close.ts';
import { capsFunctions } from '../../src/features/calls/caps/caps.repo.ts';
import { rememberAddress } from '../../src/features/people/principals/index.ts';
import { features } from '../../src/features.ts';
import { systemCaller } from '../../src/platform/caller.ts';
import { tenantErased } from '../../src/platform/db/personal-data.ts';
import { listenersIn } from '../../src/platform/hooks.ts';
import { eraseAnswers } from '../../src/platform/http/idempotency/answers.ts';
import { verifyAddress } from '../app/every-caller.ts';
import { possessionsOf } from '../app/every-route.ts';
import { authorize, grantTo } from '../app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../app/person.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';

/** The audit chain and its log, which outlive an account. */
const KEPT = [
  'audit_checkpoints',
  'audit_entries',
  'audit_erased',
  'audit_heads',
  'tlog_checkpoints',
  'tlog_index',
  'tlog_logs',
  'tlog_tiles',
  'tlog_witnesses',
];

const erasers = [eraseAnswers, ...listenersIn(features.flatMap(({ listens = [] }) => listens))(tenantErased)];

const erase = ({ db, clock }: Service, order = erasers) =>
  eraseClosedAccounts({ db, clock, erasers: order }, new AbortController().signal);

const close = (developer: Developer) => developer('POST', '/v1/me/close', { confirm: developer.developerId });

/** The rows of a developer by table, for each table that has rows. */
async function rowsOf({ db }: Service, developerId: string) {
  const { rows: tables } = await sql<{ name: string }>`
    select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attname = 'developer_id' and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`.execute(
    db,
  );
  const counted = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ count: string }>`
        select count(*) from ${sql.table(name)} where developer_id = ${developerId}`.execute(db);
      return [name, Number(rows[0]?.count)] as const;
    }),
  );
  const found = counted.filter(([, count]) => count > 0).map(([name]) => name);
  return { tables: tables.map(({ name }) => name).sort(), found: found.sort() };
}

/** An account with a row in each table. */
async function wholeAccount(service: Service) {
  const { app, db, clock } = service;
  const developer = await service.asDeveloper({ mode: 'sandbox' });
  const decisionId = String((await possessionsOf(developer)).decisionId);
  await verifyAddress(service, developer);
  await developer('POST', '/v1/signup/verify', { email: 'next@acme.test' });
  await app.inject({
    method: 'POST',
    url: '/v1/agents',
    headers: { authorization: `Bearer ${developer.apiKey}`, 'idempotency-key': 'one' },
    body: { name: 'Repeated' },
  });
  const voucher = await newVoucher();
  await developer('PATCH', '/v1/me', { consentMode: 'email', consentKeys: [voucher.jwk] });
  const { agentId } = await grantTo(developer);
  const request = await authorize(developer, agentId, { autoApprove: false });
  const claims = { ...hintClaims(service, developer.developerId, request), email: 'ada@example.org' };
  const person = personOn(service);
  await person.open(request.consentUrl, await voucher.hint(claims));
  await person.call('POST', `/v1/consent/${request.id}/email`);
  await person.call('POST', `/v1/consent/${request.id}/email/verify`, { body: { code: '00000000' } });
  await developer('POST', '/v1/principal-sessions', { principalId: 'user_42' });
  await rememberAddress(service, systemCaller(developer, { mode: 'live', plan: 'free' }, 'test'), {
    ...{ principalId: 'user_42', email: 'ada@example.org' },
    about: { authRequestId: String(request.id) },
  });
  const { developerId } = developer;
  const checkpoint = { developerId, seq: '1', hash: Buffer.alloc(32), jws: 'x', signedAt: clock() };
  await db
    .insertInto('auditCheckpoints')
    .values(checkpoint)
    .onConflict((known) => known.doNothing())
    .execute();
  const signed = { size: '1', note: 'x', signedAt: clock() };
  await db
    .insertInto('tlogCheckpoints')
    .values({ developerId, gen: 1, day: clock(), ...signed })
    .execute();
  await db
    .insertInto('logos')
    .values({ developerId, png: Buffer.alloc(1) })
    .execute();
  const evidence = JSON.stringify({ proof: { mode: 'passkey' } });
  const authRequestId = String(request.id);
  await db
    .insertInto('passkeyEvidence')
    .values({ developerId, authRequestId, passkeyId: 'cred_1', evidence, verifiedAt: clock() })
    .execute();
  await db
    .insertInto('consentRecords')
    .values({ developerId, authRequestId, parts: [], createdAt: clock() })
    .execute();
  const member = {
    developerId,
    memberId: db.selectFrom('members').select('id').where('developerId', '=', developerId).limit(1),
  };
  await db
    .insertInto('memberRecoveryCodes')
    .values({ ...member, codeHash: Buffer.alloc(32), createdAt: clock() })
    .execute();
  const [{ id: domainId, domain }] = (await developer('GET', '/v1/domains')).json().domains;
  await db.insertInto('verifiedDomains').values({ domain, developerId, domainId }).execute();
  await db
    .insertInto('billingCustomers')
    .values({ customerId: `cus_${developerId}`, developerId })
    .execute();
  await db
    .insertInto('billingEvents')
    .values({ developerId, eventId: 'evt_1', createdAt: clock() })
    .execute();
  await db
    .insertInto('subscriptions')
    .values({
      ...{ developerId, subscriptionId: 'sub_1', plan: 'pro', effectivePlan: 'pro', status: 'active' },
      ...{ cancelAtPeriodEnd: false, toldAt: clock(), updatedAt: clock() },
    } as const)
    .execute();
  await db
    .insertInto('decisionApprovals')
    .values({
      ...{
        developerId,
        id: 'dgnt_1',
        approverId: 'a',
        sub: 's',
        position: 1,
        onBehalfOf: null,
        isRelaxed: true,
      },
      ...{
        decisionId,
        credential: 'c',
        deviceHash: Buffer.alloc(32),
        sessionId: 's',
        evidence,
        approvedAt: clock(),
      },
    })
    .execute();
  const { id: approverId } = await db
    .selectFrom('approvers')
    .select('id')
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  await db
    .insertInto('approverSubscriptions')
    .values({
      ...{ developerId, id: 'apsub_1', approverId, endpointHash: Buffer.alloc(32), vapidKey: 'k' },
      ...{ sealed: Buffer.alloc(1), sealKeyId: 'k', createdAt: clock() },
    })
    .execute();
  await db
    .insertInto('vaultProxyCalls')
    .values({
      ...{ developerId, id: 'pcall_1', agentId, grantId: 'g', credentialId: 'c', service: 's' },
      ...{ upstream: 'u', method: 'GET', rule: 'r', createdAt: clock() },
    })
    .execute();
  await db
    .insertInto('memberInvitations')
    .values({
      ...{ developerId, id: 'inv_1', email: 'bob@example.org', role: 'auditor', memberId: 'mem_1' },
      ...{ linkHash: Buffer.alloc(32), invitedBy: 'a', createdAt: clock(), expiresAt: clock() },
    })
    .execute();
  const { id: connectionId } = (await developer('GET', '/v1/sso/connections')).json().connections[0];
  const connected = { developerId, connectionId };
  await db
    .insertInto('ssoConnectionDomains')
    .values({ ...connected, domain: 'acme.test' })
    .execute();
  await db
    .insertInto('ssoIdentities')
    .values({ ...connected, subject: 's', userId: 'u', createdAt: clock() })
    .execute();
  await db
    .insertInto('ssoSessions')
    .values({
      ...{ ...connected, id: 'ssosess_1', subject: 's', groups: [], mappedScopes: [] },
      ...{ secretHash: Buffer.alloc(32), createdAt: clock(), expiresAt: clock() },
    })
    .execute();
  await db
    .insertInto('ssoAssertions')
    .values({ ...connected, assertionId: 'a', expiresAt: clock() })
    .execute();
  await db
    .insertInto('assertionGrants')
    .values({
      ...{ ...connected, id: 'ids_1', ruleId: 'idc_1', agentId: 'a', principalId: 'p', audience: '' },
      ...{ grantId: 'g', createdAt: clock() },
    })
    .execute();
  await db
    .insertInto('assertionUses')
    .values({ ...connected, jti: 'j', expiresAt: clock() })
    .execute();
  await db
    .insertInto('signalSources')
    .values({
      ...{ ...connected, transmitter: 't', jwksUri: 'j', audience: 'a', requiresHeader: true },
      ...{ onSessionRevoked: 'idp', secretHash: Buffer.alloc(32), createdAt: clock(), updatedAt: clock() },
    })
    .execute();
  await db
    .insertInto('signalReceipts')
    .values({ ...connected, jti: 'j', receivedAt: clock() })
    .execute();
  await db
    .insertInto('grantRenewals')
    .values({ developerId, grantId: 'grnt_1', cause: 'age', foundAt: clock() })
    .execute();
  await db
    .insertInto('auditChecks')
    .values({ developerId, seq: '1', beganAt: clock(), checkedAt: clock() })
    .execute();
  await db
    .insertInto('tlogWitnesses')
    .values({ developerId, gen: 1, witness: 'w.example/1', nextAt: clock() })
    .execute();
  await db
    .insertInto('auditErased')
    .values({ developerId, seq: '1', erasureId: 'erasure_1', leaf: Buffer.alloc(32) })
    .execute();
  const counter = { key: 'a', limit: 9, units: 1, windowMs: 3_600_000, grainMs: 1 };
  const metered = { callId: 'call_1', fingerprint: 'f', counters: JSON.stringify([counter]) };
  await capsFunctions(db).reserve(developerId, { ...metered, epoch: 'e1', mayBegin: true, atMs: null });
  await db
    .insertInto('changes')
    .values({
      ...{ developerId, id: 'chg_1', operation: 'o', about: 'a', difference: '{}', hash: Buffer.from('h') },
      ...{ proposedBy: 'member:mem_1', needed: 1, createdAt: clock(), expiresAt: clock() },
    })
    .execute();
  await db.insertInto('activityStarts').values({ developerId, since: clock() }).execute();
  await authorize(developer, agentId, { principalId: 'user_43', autoApprove: false });
  await developer('POST', '/v1/principals/user_43/offboard', {});
  await developer('GET', '/v1/usage'); // writes what was counted in memory, as the next two do
  await developer('GET', '/v1/agents/ag_1');
  await developer('GET', '/v1/requests');
  const day = { from: new Date(clock().getTime() - 86_400_000).toISOString(), to: clock().toISOString() };
  await developer('GET', `/v1/insights/series?metric=grants&${new URLSearchParams(day)}`);
  return developer;
}

test('an account that was closed leaves its audit chain and nothing else, 30 days later', async () => {
  const service = await startApp();
  const [acme, other] = [await wholeAccount(service), await wholeAccount(service)];
  const { tables, found } = await rowsOf(service, acme.developerId);
  const others = await rowsOf(service, other.developerId);
  expect(
    tables.filter((name) => !found.includes(name)),
    'tables that this test leaves empty',
  ).toEqual([]);

  await close(acme);
  service.advance(30 * 86_400 - 1);
  await erase(service);
  expect((await rowsOf(service, acme.developerId)).found).toContain('agents');
  service.advance(1);
  await erase(service);

  expect((await rowsOf(service, acme.developerId)).found).toEqual(KEPT);
  const row = service.db.selectFrom('developers').select('id').where('id', '=', acme.developerId);
  expect(await row.execute()).toEqual([]);
  expect(await rowsOf(service, other.developerId)).toEqual(others);
});

test('the order in which nouns erase their rows does not matter, and two instances may erase at once', async () => {
  const service = await startApp();
  const acme = await wholeAccount(service);
  await close(acme);
  service.advance(30 * 86_400);

  await Promise.all([erase(service), erase(service, erasers.toReversed())]);

  expect((await rowsOf(service, acme.developerId)).found).toEqual(KEPT);
});
