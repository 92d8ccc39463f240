import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { entriesOf, grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';

const urlOf = (principalId: string) =>
  `/v1/compliance/export/principal?principalId=${encodeURIComponent(principalId)}`;

async function exported(developer: Developer, principalId: string) {
  const { body, headers } = await developer('GET', urlOf(principalId));
  const lines = body.split('\n').filter(Boolean);
  const records = lines.map((line) => JSON.parse(line));
  return { body, headers, records: records.slice(0, -1), end: records.at(-1) };
}

test('a person gets everything that is kept about them, without a secret, and nothing of others', async () => {
  const { asDeveloper } = await startApp();
  const [acme, other] = [await asDeveloper({ mode: 'sandbox' }), await asDeveloper({ mode: 'sandbox' })];
  const { grantId } = await grantTo(acme, { principalId: 'user_42' });
  await grantTo(acme, { principalId: 'user_7' });
  await grantTo(other, { principalId: 'user_42' });
  const { sessionToken } = (
    await acme('POST', '/v1/principal-sessions', { principalId: 'user_42', expiresIn: '1h' })
  ).json();
  const secret = 'upstream-token-of-user-42';
  const credential = {
    principalId: 'user_42',
    service: 'files',
    credentialType: 'oauth2',
    accessToken: secret,
  };
  expect((await acme('POST', '/v1/vault/credentials', credential)).statusCode).toBe(201);
  await acme('POST', '/v1/policies', { name: 'No', effect: 'deny', principalId: 'user_42', scopes: ['x:y'] });
  await acme('POST', '/v1/compliance/holds', { name: 'Case', principalId: 'user_42' });

  const { body, headers, records, end } = await exported(acme, 'user_42');

  expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  const types = [...new Set(records.map(({ type }) => type))].sort();
  expect(types).toEqual([
    ...[
      'audit_entry',
      'authorization_request',
      'grant',
      'legal_hold',
      'policy',
      'policy_version',
      'session',
      'vault_credential',
    ],
  ]);
  expect(records.filter(({ type }) => type === 'grant')).toMatchObject([
    { id: grantId, principalId: 'user_42' },
  ]);
  expect(records.find(({ type }) => type === 'vault_credential')).toMatchObject({ service: 'files' });
  expect(body).not.toMatch(/user_7/);
  for (const hidden of [secret, sessionToken, sessionToken.split('.')[2]]) expect(body).not.toContain(hidden);
  const lines = body.slice(0, body.lastIndexOf('{"type":"end"'));
  const sha256 = createHash('sha256').update(lines).digest('hex');
  expect(end).toEqual({ type: 'end', total: records.length, sha256 });
  expect(await entriesOf(acme, 'compliance.exported')).toMatchObject([
    { principalId: 'user_42', metadata: { kind: 'principal', total: records.length, format: 'ndjson' } },
  ]);
  expect((await exported(acme, 'nobody')).records).toEqual([]);
});

test('alerts, provisioned users and single sign-on sessions of a person are told, in more than one portion', async () => {
  const service = await startApp();
  const { db } = service;
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  const { developerId } = acme;
  await sql`insert into anomalies (developer_id, id, rule_id, rule_name, severity, status, agent_id, principal_id,
      description, metadata, occurrences, detected_at, last_seen_at, resolved_at)
    select ${developerId}, 'anm_' || n, 'r', 'R', 'low', 'resolved', ${agentId}, 'user_42', '', '{}', 1, now(), now(), now()
    from generate_series(1001, 1120) n`.execute(db);
  const provision = await provisionerOf(service, acme);
  const provisioned = await provision('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'ann@example.com',
    externalId: 'user_42',
    active: true,
  });
  expect(provisioned.statusCode).toBe(201);
  for (const [id, principalId] of [
    ['1', 'user_42'],
    ['2', 'user_7'],
  ]) {
    await sql`with approver as (
        insert into approvers (developer_id, id, kind, principal_id, email, mailbox, email_verified, display_name, groups,
          assurance, status, enrolled_by, invite_mailed, created_at)
        values (${developerId}, ${`apv_${id}`}, 'principal', ${principalId}, '', ${`m${id}`}, true, '', '{}',
          'single', 'active', '', true, now())
      ) insert into approver_subscriptions values (${developerId}, ${`apsub_${id}`}, ${`apv_${id}`}, ${`h${id}`}::bytea, '', '', '', now())`.execute(
      db,
    );
  }

  const { records } = await exported(acme, 'user_42');

  expect(records.filter(({ type }) => type === 'approver_notifications')).toMatchObject([{ id: 'apsub_1' }]);
  const ids = records.filter(({ type }) => type === 'alert').map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([120, 120]);
  expect(records.filter(({ type }) => type === 'scim_user')).toMatchObject([
    { attributes: { userName: 'ann@example.com' } },
  ]);
});

/** Tables with a column for a principal that the export leaves out, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  assertion_grants:
    'which grant of the person stands at an identity provider, of which the grant itself tells',
  connect_sessions: 'wishes under way, which end within minutes',
  anomaly_sightings: 'facts of a day that repeat audit entries',
  audit_erasures: 'the order to erase the person, which names them only until it is done',
  scim_principals: 'the ids by which the user is found',
  passkey_challenges: 'proofs under way, which end within minutes',
  principal_pseudonyms: 'the name by which merchants know the person, made by chance',
  passkey_users: 'the handle by which authenticators know the person, made by chance',
};
const TOLD = [
  ...[
    'anomalies',
    'approvers',
    'audit_entries',
    'auth_requests',
    'closed_principals',
    'decisions',
    'grants',
    'legal_holds',
    'passkeys',
    'policies',
    'policy_revisions',
    'principal_addresses',
    'principal_sessions',
  ],
  ...['sso_sessions', 'vault_credentials', 'verifiable_credentials', 'wallet_authorizations'],
];

test('every table that names a principal is told, or left out for a reason', async () => {
  const { db } = await startApp();

  const { rows } = await sql<{
    name: string;
  }>`select distinct table_name as name from information_schema.columns
    where table_schema = 'public' and column_name in ('principal_id', 'owner_id') order by 1`.execute(db);

  expect(rows.map(({ name }) => name)).toEqual([...TOLD, ...Object.keys(LEFT_OUT)].sort());
});

const HOLDS = '/v1/compliance/holds';

test('a legal hold keeps the account open until it is released', async () => {
  const { advance, asDeveloper } = await startApp();
  const [acme, other] = [await asDeveloper(), await asDeveloper()];
  const close = (who: typeof acme) => who('POST', '/v1/me/close', { confirm: who.developerId });

  const placed = await acme('POST', HOLDS, {
    name: 'Case 7',
    reason: 'Letter of 1 May',
    principalId: 'user_42',
  });
  const { id } = placed.json();
  advance(60);
  await acme('POST', HOLDS, { name: 'Case 8' });
  const refused = await close(acme);

  expect(placed.statusCode).toBe(201);
  const hold = {
    id: expect.stringMatching(/^hold_/),
    name: 'Case 7',
    reason: 'Letter of 1 May',
    principalId: 'user_42',
    createdAt: '2026-01-01T00:00:00.000Z',
    releasedAt: null,
  };
  expect(placed.json()).toEqual(hold);
  expect(refused.json()).toMatchObject({ code: 'CONFLICT', details: { field: 'legalHold', standing: 2 } });
  expect((await acme('GET', '/v1/me')).statusCode).toBe(200);
  expect((await close(other)).statusCode).toBe(202);

  const released = await acme('POST', `${HOLDS}/${id}/release`);
  const again = await acme('POST', `${HOLDS}/${id}/release`);
  expect(released.json()).toEqual({ ...hold, releasedAt: '2026-01-01T00:01:00.000Z' });
  expect(again.json()).toEqual(released.json());
  expect((await close(acme)).json().details.standing).toBe(1);
  const { holds, nextCursor } = (await acme('GET', `${HOLDS}?standing=true`)).json();
  expect([holds.map(({ name }: { name: string }) => name), nextCursor]).toEqual([['Case 8'], null]);
  expect((await acme('GET', HOLDS)).json().holds).toHaveLength(2);
  const changes = await entriesOf(acme, 'compliance.hold_changed');
  expect(changes.map(({ metadata }) => [metadata?.id === id, metadata?.change])).toEqual([
    [true, 'placed'],
    [false, 'placed'],
    [true, 'released'],
  ]);
  await acme('POST', `${HOLDS}/${holds[0].id}/release`);
  expect((await close(acme)).statusCode).toBe(202);
});

test('100 holds stand at most, and no other developer sees or releases one', async () => {
  const { asDeveloper } = await startApp();
  const [acme, other] = [await asDeveloper(), await asDeveloper()];
  const ids: string[] = [];
  for (let each = 0; each < 100; each += 1) ids.push((await acme('POST', HOLDS, { name: 'Case' })).json().id);

  expect((await acme('POST', HOLDS, { name: 'Case' })).json().code).toBe('CONFLICT');
  expect((await other('POST', `${HOLDS}/${ids[0]}/release`)).statusCode).toBe(404);
  expect((await other('GET', HOLDS)).json().holds).toEqual([]);
  await acme('POST', `${HOLDS}/${ids[0]}/release`);
  expect((await acme('POST', HOLDS, { name: 'Case' })).statusCode).toBe(201);
});
