import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  deleteDecidedAcrossTenants,
  listExpiredAcrossTenants,
} from '../../src/features/accounts/changes/changes.repo.ts';
import { listClosedAcrossTenants } from '../../src/features/accounts/developers/developers.repo.ts';
import {
  listForgottenAcrossTenants,
  listUncheckedAcrossTenants,
} from '../../src/features/accounts/domains/domains.repo.ts';
import { deleteActivityBeforeAcrossTenants } from '../../src/features/accounts/insights/insights.repo.ts';
import {
  findRecoveryCodeAcrossTenants,
  lockMemberOfSso,
} from '../../src/features/accounts/members/members.repo.ts';
import { deleteFailuresBeforeAcrossTenants } from '../../src/features/accounts/requests/requests.repo.ts';
import { listSubscriptionRows } from '../../src/features/calls/approvers/approvers.repo.ts';
import { listDueAcrossTenants as listDueDecisionsAcrossTenants } from '../../src/features/calls/decisions/lists.repo.ts';
import { gatheredUntil } from '../../src/features/calls/decisions/notices.repo.ts';
import { deleteOldCallsAcrossTenants } from '../../src/features/calls/enforcement/enforcement.repo.ts';
import { listGraceOverAcrossTenants } from '../../src/features/extras/billing/billing.repo.ts';
import { findVersion } from '../../src/features/extras/bundles/bundles.repo.ts';
import {
  deleteOldTokensAcrossTenants,
  findReceiverAcrossTenants,
} from '../../src/features/extras/transmitter/receivers.repo.ts';
import {
  listFailingAcrossTenants,
  listInactiveAcrossTenants,
} from '../../src/features/extras/transmitter/streams.repo.ts';
import { findFlipsAcrossTenants } from '../../src/features/extras/verifiable-credentials/verifiable-credentials.repo.ts';
import { tellAuthorizations } from '../../src/features/extras/wallet-authorizations/wallet-authorizations.repo.ts';
import { listDueAcrossTenants } from '../../src/features/grants/authorization/authorization.repo.ts';
import { principalsWithGrants } from '../../src/features/grants/grants/grants.queries.ts';
import { listUnannouncedExpiriesAcrossTenants } from '../../src/features/grants/grants/grants.repo.ts';
import { eraseRevisionsOf } from '../../src/features/grants/policies/versions.repo.ts';
import { resourceServerAcrossTenants } from '../../src/features/grants/resources/resources.queries.ts';
import { listReplaced } from '../../src/features/grants/tokens/tokens.repo.ts';
import {
  findRuleOfClient,
  isStopped,
  listAssertionGrantIds,
  useOnce,
} from '../../src/features/oauth/assertions/assertions.repo.ts';
import {
  deleteUnusedClientsAcrossTenants,
  findClientAtDeveloper,
} from '../../src/features/oauth/oauth/oauth.repo.ts';
import { findOffboarding } from '../../src/features/people/offboarding/offboarding.repo.ts';
import {
  findDiscoveredAcrossTenants,
  principalsWithPasskeys,
} from '../../src/features/people/passkeys/passkeys.repo.ts';
import {
  principalsWithAddresses,
  principalsWithSessions,
} from '../../src/features/people/principals/principals.queries.ts';
import { listPeopleAcrossTenants } from '../../src/features/people/principals/principals.repo.ts';
import { openPerson } from '../../src/features/people/scim/principals.repo.ts';
import { findLinkAcrossTenants } from '../../src/features/people/setup/setup.repo.ts';
import {
  findSourceAcrossTenants,
  listDueAcrossTenants as listDueStreams,
  takeSignal,
} from '../../src/features/people/signals/signals.repo.ts';
import {
  deleteSessionsNamed,
  deleteSessionsOfUser,
  insertSession,
  useAssertion,
} from '../../src/features/people/sso/sessions.repo.ts';
import { connectionsOfUser, userOfIdpSession } from '../../src/features/people/sso/sso.queries.ts';
import {
  findConnectionAcrossTenants,
  listConnectionsUnderAcrossTenants,
  writeDomains,
} from '../../src/features/people/sso/sso.repo.ts';
import { listErasedOf } from '../../src/features/record/audit/erase.repo.ts';
import {
  listRetainingAcrossTenants,
  listRunningAcrossTenants,
} from '../../src/features/record/erasures/erasures.repo.ts';
import { findBeginnings } from '../../src/features/record/events/events.repo.ts';
import {
  claimSharesAcrossTenants,
  deleteOldAcrossTenants,
} from '../../src/features/record/webhooks/deliveries.repo.ts';
import { dropSets, hasWaiting } from '../../src/features/record/webhooks/queues.repo.ts';
import {
  cancelSessionsFor,
  listDueSessionsAcrossTenants,
  listWaitingSessions,
} from '../../src/features/vault/connections/connections.repo.ts';
import { principalsWithCredentials } from '../../src/features/vault/credentials/credentials.queries.ts';
import { listDisconnectingAcrossTenants } from '../../src/features/vault/credentials/credentials.repo.ts';
import { findExchangeable } from '../../src/features/vault/credentials/exchange.repo.ts';
import { listSealedUnderAcrossTenants } from '../../src/features/vault/credentials/rotate.repo.ts';
import { isConnectable } from '../../src/features/vault/providers/providers.queries.ts';
import {
  findClientAcrossTenants,
  listProvidersUnderAcrossTenants,
} from '../../src/features/vault/providers/providers.repo.ts';
import { deleteOldProxyCallsAcrossTenants } from '../../src/features/vault/proxy/calls.repo.ts';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { isPrincipalActive } from '../../src/platform/db/principals.ts';
import { deleteDueAcrossTenants } from '../../src/platform/http/idempotency/answers.ts';
import { listDueMessagesAcrossTenants } from '../../src/platform/outbound/queue.ts';
import { possessionsOf } from '../app/every-route.ts';
import { writtenColumns } from '../app/namesakes.ts';
import { newDatabase, startApp } from '../app/start-app.ts';

vi.setConfig({ testTimeout: 120_000 }); // thousands of rows are made, which takes long on a busy machine

/** With an index at this many rows, Postgres uses the index at more. */
const ROWS = 2000;

async function startFilled() {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1); // one session, as it holds the statistics
  onTestFinished(() => db.destroy());
  const service = await startApp({ databaseUrl, dbAs: () => db });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const its = await possessionsOf(acme);
  await acme('POST', `/v1/webhooks/${its.webhookId}/test`, {});
  await acme('POST', `/v1/anomaly/channels/${its.channelId}/test`, {});
  const { agentId } = (await acme('POST', '/v1/agents', { name: 'Stopped' })).json();
  await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' }); // a signal that waits
  await fill(db);
  return { ...service, db, acme, its, at: service.clock() };
}
type World = Awaited<ReturnType<typeof startFilled>>;

const NOBODY = 'apv_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

const get =
  (path: (its: World['its']) => string) =>
  ({ acme, its }: World) =>
    acme('GET', path(its));
const entries = (query: (its: World['its']) => string) => get((its) => `/v1/audit/entries?${query(its)}`);
/** The call of the samples that waits for people. */
const decided = ({ grantToken }: World['its']) => ({
  ...{ connector: 'acme_mail', tool: 'wipe_mail', arguments: { folder: 'spam' } },
  grantToken,
});
const grants = (query: (its: World['its']) => string) => get((its) => `/v1/grants?${query(its)}`);
const people = (path: string, filter: string) => (world: World) =>
  world.calling(String(world.its.scimToken))('GET', `/scim/v2/${path}?filter=${encodeURIComponent(filter)}`);
const changes =
  (of: (its: World['its']) => string, operation: object) =>
  ({ calling, its }: World) =>
    calling(String(its.scimToken))('PATCH', `/scim/v2/${of(its)}`, { Operations: [operation] });
const endsAll = ({ acme, its, calling }: World) =>
  calling(String(its.sessionToken))('DELETE', '/v1/principal/grants').then(() => acme('GET', '/v1/me'));

/**
 * Each index besides the primary keys, and the work that it serves: when the tables are large, the work reads the index.
 * Later works may end what earlier works have read.
 */
const SERVES: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  closed_principals_folded: ({ db, acme }) => isPrincipalActive(db, acme, 'user_42'),
  closed_principals_subject: ({ db, acme, at }) =>
    inTransaction(db, (tx) => openPerson(tx, acme, 'user_42', at)),
  offboardings_subject: ({ db, acme }) =>
    findOffboarding(db, acme, { kind: 'principal', subjectId: 'user_42' }),
  agents_client: ({ db, acme }) =>
    findClientAtDeveloper(db, { developerId: acme.developerId }, 'https://editor.test/client'),
  agents_named: get(() => '/v1/agents?name=stop'),
  agents_not_revoked: get(() => '/v1/agents'),
  agents_of_status: get(() => '/v1/agents?status=suspended'),
  audit_entries_action: entries(() => 'action=token.issued'),
  audit_entries_actor: entries(() => 'actor=principal'),
  audit_entries_agent: entries((its) => `agentId=${its.agentId}`),
  audit_entries_denial: entries(() => 'denial=region_mismatch'),
  audit_entries_developer_id_id_key: get((its) => `/v1/audit/${its.entryId}`),
  audit_entries_grant: entries((its) => `grantId=${its.grantId}`),
  audit_entries_life: get(({ grantId }) => `/v1/grants/${grantId}/receipt?since=2026-01-01T00:00:00Z`),
  audit_entries_principal: entries(() => 'principalId=user_42'),
  audit_entries_purpose: entries(() => 'purpose=travel'),
  audit_entries_request: entries(() => 'requestId=unknown'),
  audit_entries_status: entries(() => 'status=blocked'),
  audit_erased_of: ({ db, acme }) => listErasedOf(db, acme, 'erasure_1', '0', 10),
  audit_erasures_open: ({ db }) => listRunningAcrossTenants(db, { developerId: '', id: '' }, 10),
  audit_erasures_aged: async ({ db, acme }) => {
    await acme('PATCH', '/v1/me', { auditRetentionDays: 30 });
    return listRetainingAcrossTenants(db, '', 10);
  },
  developers_retention: ({ db }) => listRetainingAcrossTenants(db, '', 10),
  anomalies_open: get(() => '/v1/anomalies?unacknowledged=true'),
  anomalies_detected: get(() => '/v1/anomaly/metrics?window=1h'),
  anomaly_messages_due: ({ db, at }) => listDueMessagesAcrossTenants(db, { table: 'anomaly_messages' }, at),
  dynamic_clients_expiry: ({ db, at }) => deleteUnusedClientsAcrossTenants(db, at, 10),
  resource_index_hash: ({ db }) => resourceServerAcrossTenants(db, Buffer.alloc(32)),
  auth_requests_agent: get((its) => `/v1/authorize?agentId=${its.agentId}`),
  auth_requests_principal: get(() => '/v1/authorize?principalId=user_42'),
  auth_requests_due: ({ db, at }) => listDueAcrossTenants(db, at, 10),
  caps_call_created: ({ db, acme }) => sql`select caps_prune(${acme.developerId}, 0, 10, 1000)`.execute(db),
  budget_allocations_developer_id_grant_id_key: get((its) => `/v1/budget/balance/${its.grantId}`),
  budget_transactions_allocation: get((its) => `/v1/budget/transactions/${its.grantId}`),
  budget_transactions_source: ({ acme, its }) =>
    acme('POST', '/v1/budget/refund', { transactionId: its.transactionId, amount: '0.1' }),
  activity_counts_old: ({ db, at }) =>
    inTransaction(db, (tx) => deleteActivityBeforeAcrossTenants(tx, at, 10)),
  failed_request_counts_old: ({ db, at }) =>
    inTransaction(db, (tx) => deleteFailuresBeforeAcrossTenants(tx, at, 10)),
  failed_requests_of_request: get((its) => `/v1/requests/${its.requestId}`),
  failed_requests_old: ({ db, at }) =>
    inTransaction(db, (tx) => deleteFailuresBeforeAcrossTenants(tx, at, 10)),
  custom_domains_checked: ({ db, at }) => listUncheckedAcrossTenants(db, at, 10),
  custom_domains_pending: ({ db }) => listForgottenAcrossTenants(db, new Date('2030-01-01'), 10),
  subscriptions_grace: ({ db }) => listGraceOverAcrossTenants(db, new Date('2030-01-01'), 10),
  developers_closed: ({ db, at }) => listClosedAcrossTenants(db, at, 10),
  enforced_calls_old: ({ db }) => deleteOldCallsAcrossTenants(db, new Date(0), 10),
  grants_active: ({ db, acme }) =>
    sql`select count_active_grants(${acme.developerId}, '2026-01-01')`.execute(db),
  grants_agent: grants((its) => `agentId=${its.agentId}`),
  grants_principal: grants(() => 'principalId=user_42'),
  grants_root: grants((its) => `rootGrantId=${its.grantId}`),
  grants_run_out: ({ db, at }) => listUnannouncedExpiriesAcrossTenants(db, at, 10),
  idempotent_answers_due: ({ db, at }) => deleteDueAcrossTenants(db, at, 10),
  manifests_looks: ({ acme }) =>
    acme('PUT', '/v1/manifests/acme-mail', {
      $schema: 'x',
      connector: 'acme-mail',
      tools: { send: 'write' },
    }),
  policy_bundles_active: get(() => '/v1/policies/bundles/active?format=rego'),
  policies_order: get(() => '/v1/policies?limit=2'),
  policy_revisions_principal: ({ db, acme }) =>
    inTransaction(db, (tx) => eraseRevisionsOf(tx, acme, 'user_42')),
  policy_bundles_version: ({ db, acme }) => findVersion(db, acme, 'rego', '1'),
  outbox_events_developer_id_id_key: ({ db, acme }) =>
    findBeginnings(db, { tenant: acme, agentIds: null }, 'evt_1', new Date(0)),
  principal_sessions_expired: ({ acme }) =>
    acme('POST', '/v1/principal-sessions', { principalId: 'user_42', expiresIn: '1h' }),
  grants_principal_folded: ({ db, acme }) => principalsWithGrants(db, acme, ['USER_42']),
  scim_users_user_name: people('Users', 'userName eq "GRACE@acme.test"'),
  scim_users_external_id: people('Users', 'externalId eq "00u1"'),
  scim_users_display_name: people('Users', 'displayName eq "Grace"'),
  scim_users_inactive: people('Users', 'active eq false'),
  scim_users_created: people('Users', 'meta.created gt "2029-01-01T00:00:00Z"'),
  scim_users_updated: people('Users', 'meta.lastModified gt "2029-01-01T00:00:00Z"'),
  scim_groups_display_name: people('Groups', 'displayName eq "ADMIRALS"'),
  scim_groups_external_id: people('Groups', 'externalId eq "00g1"'),
  scim_members_user: ({ calling, its }) =>
    calling(String(its.scimToken))('GET', `/scim/v2/Users/${its.scimUserId}`),
  scim_user_emails_user: changes((its) => `Users/${its.scimUserId}`, {
    op: 'add',
    path: 'emails',
    value: [{ value: 'hopper@acme.test' }],
  }),
  scim_principals_prefix: get(() => '/v1/principals?query=grace'),
  scim_principals_user: changes((its) => `Users/${its.scimUserId}`, { op: 'remove', path: 'externalId' }),
  passkeys_owner: get(() => '/v1/webauthn/credentials?principalId=user_42'),
  passkeys_owner_folded: ({ db, acme }) => principalsWithPasskeys(db, acme, ['USER_42']),
  passkeys_sign_in: ({ db }) => {
    const unknown = Buffer.from('unknown');
    return findDiscoveredAcrossTenants(db, {
      ownerKind: 'approver',
      credentialId: unknown,
      userHandle: unknown,
    });
  },
  passkey_challenges_open: ({ acme }) =>
    acme('POST', '/v1/webauthn/register/options', { principalId: 'user_42' }),
  passkey_challenges_over: ({ acme }) =>
    acme('POST', '/v1/webauthn/register/options', { principalId: 'user_42' }),
  tokens_grant: get((its) => `/v1/grants/${its.grantId}/tokens`),
  webhook_deliveries_failed: get((its) => `/v1/webhooks/${its.webhookId}/deliveries?status=failed`),
  webhook_deliveries_leased: ({ db, at, acme }) =>
    claimSharesAcrossTenants(db, at, false, [{ developerId: acme.developerId, after: '', places: 1 }]),
  webhook_deliveries_old: ({ db, at }) => deleteOldAcrossTenants(db, at, 10),
  webhook_deliveries_sets: ({ db, acme }) =>
    dropSets(db, acme, 'ssfs_1', { before: new Date(0), most: 100_000 }),
  webhook_deliveries_news: async ({ db, acme, at, its }) => {
    const become = (streamState: 'holding' | 'open') =>
      db
        .updateTable('webhookEndpoints')
        .set({ streamState })
        .where('id', '=', String(its.ssfStreamId))
        .execute();
    await become('holding');
    await hasWaiting(db, acme, String(its.ssfStreamId), at);
    await become('open');
  },
  webhook_deliveries_subject: ({ db, acme, at, its }) => hasWaiting(db, acme, String(its.ssfStreamId), at),
  webhook_endpoints_failing: ({ db, at }) =>
    listFailingAcrossTenants(db, { since: at, failures: 10, limit: 100 }),
  ssf_receivers_client: ({ db }) => findReceiverAcrossTenants(db, 'ssfr_1'),
  ssf_streams_inactive: ({ db }) => listInactiveAcrossTenants(db, new Date(0), 100),
  ssf_streams_receiver: get((its) => `/v1/ssf/receivers/${its.ssfReceiverId}/streams`),
  ssf_tokens_hash: ({ calling, its }) => calling(String(its.ssfToken))('GET', '/ssf/streams'),
  ssf_tokens_old: ({ db }) => deleteOldTokensAcrossTenants(db, new Date(0), 10),
  ssf_tokens_receiver: ({ acme, its }) =>
    acme('POST', `/v1/ssf/receivers/${its.ssfReceiverId}/rotate-secret`, {}),
  webhook_deliveries_pending: ({ db, at, acme }) =>
    claimSharesAcrossTenants(db, at, true, [{ developerId: acme.developerId, after: '', places: 1 }]),
  grants_developer_id_auth_request_id_key: ({ acme, its }) =>
    acme('POST', '/v1/token', { code: its.code, agentId: its.agentId }),
  vault_credentials_keys: async ({ db, acme, its }) => {
    const [row] = await db
      .selectFrom('vaultCredentials')
      .select(['keyId'])
      .where('developerId', '=', acme.developerId)
      .where('id', '=', String(its.credentialId))
      .execute();
    await listSealedUnderAcrossTenants(db, String(row?.keyId), { developerId: '', id: '' }, 10);
  },
  vault_credentials_provider: async ({ acme, its }) => {
    await acme('DELETE', `/v1/vault/providers/${its.providerId}`);
  },
  vault_credentials_disconnecting: ({ db, at }) => listDisconnectingAcrossTenants(db, at, 10),
  vault_providers_id: ({ db }) => findClientAcrossTenants(db, 'prov_'),
  vault_providers_service: ({ db, acme }) => isConnectable(db, acme, 'files'),
  vault_providers_keys: ({ db }) =>
    listProvidersUnderAcrossTenants(db, 'a key', { developerId: '', id: '' }, 10),
  connect_sessions_open: ({ db, acme }) =>
    inTransaction(db, (tx) =>
      listWaitingSessions(tx, acme, { principalId: 'user_42', service: 'files', agentId: null }, 9),
    ),
  connect_sessions_agent: ({ db, acme, its, at }) =>
    inTransaction(db, (tx) => cancelSessionsFor(tx, acme, ['agentId', [String(its.agentId)]], at)),
  connect_sessions_due: ({ db, at }) => listDueSessionsAcrossTenants(db, at, 10),
  sso_connections_id: ({ db }) => findConnectionAcrossTenants(db, 'sso_1'),
  sso_connections_keys: ({ db }) =>
    listConnectionsUnderAcrossTenants(db, 'a key', { developerId: '', id: '' }, 10),
  sso_identities_user: ({ db, acme }) => connectionsOfUser(db, acme, 'nobody'),
  sso_sessions_user: ({ db, acme }) => inTransaction(db, (tx) => deleteSessionsOfUser(tx, acme, 'nobody')),
  sso_sessions_expired: ({ db, acme, at, its }) =>
    inTransaction(db, (tx) =>
      insertSession(tx, acme, {
        ...{ id: 'ssosess_new', connectionId: String(its.ssoConnectionId), subject: 'new' },
        ...{ groups: [], mappedScopes: [], secretHash: Buffer.from('x'), createdAt: at, expiresAt: at },
      }),
    ),
  sso_assertions_expired: ({ db, acme, at, its }) =>
    inTransaction(db, (tx) =>
      useAssertion(
        tx,
        acme,
        { connectionId: String(its.ssoConnectionId), assertionId: 'new', expiresAt: at },
        at,
      ),
    ),
  principal_addresses_folded: ({ db, acme }) => principalsWithAddresses(db, acme, ['nobody']),
  principal_addresses_hash: ({ db }) =>
    listPeopleAcrossTenants(db, [Buffer.alloc(32)], { since: new Date(0), most: 5 }),
  principal_sessions_folded: ({ db, acme }) => principalsWithSessions(db, acme, ['nobody']),
  vault_credentials_principal_folded: ({ db, acme }) => principalsWithCredentials(db, acme, ['nobody']),
  setup_links_expired: ({ acme }) => acme('POST', '/v1/sso/setup-links', { name: 'New', purposes: ['sso'] }),
  setup_links_running: ({ acme }) => acme('POST', '/v1/sso/setup-links', { name: 'Next', purposes: ['sso'] }),
  sso_sessions_idp: ({ db, acme, its }) =>
    userOfIdpSession(db, acme, String(its.ssoConnectionId), 'a session'),
  sso_sessions_subject: ({ db, acme, its }) =>
    inTransaction(db, (tx) =>
      deleteSessionsNamed(tx, acme, String(its.ssoConnectionId), { subject: 'nobody' }),
    ),
  status_lists_id: ({ db }) => findFlipsAcrossTenants(db, 'vcsl_1'),
  passports_parent: async ({ acme, its }) => {
    await acme('POST', `/v1/passport/${its.passportId}/revoke`);
  },
  wallet_authorizations_grant: get((its) => `/v1/wallet/authorizations?grantId=${its.grantId}`),
  wallet_authorizations_principal: async ({ db, acme }) => {
    for await (const told of tellAuthorizations(db, acme, 'user_42')) expect(told.length).toBeLessThan(51);
  },
  verifiable_credentials_grant: get((its) => `/v1/credentials?grantId=${its.grantId}`),
  decisions_agent: get((its) => `/v1/decisions?agentId=${its.agentId}`),
  decisions_call: ({ acme, its }) => acme('POST', '/v1/decisions', { ...decided(its), callId: 'call-0001' }),
  decisions_denied: ({ acme, its }) =>
    acme('POST', '/v1/decisions', { ...decided(its), arguments: { folder: 'old' } }),
  decisions_case: ({ acme }) => acme('PUT', '/v1/decisions/cases/other', { caseVersion: '1' }),
  changes_open: get(() => '/v1/changes?status=open'),
  changes_ending: ({ db, at }) => listExpiredAcrossTenants(db, at, 10),
  changes_decided: ({ db, at }) => deleteDecidedAcrossTenants(db, at, 10),
  decisions_due: ({ db, at }) => listDueDecisionsAcrossTenants(db, at, [], 10),
  console_sessions_member: ({ acme }) =>
    acme('POST', '/v1/console/session/key', { displayName: 'Ada', email: 'ada@example.org' }),
  approver_subscriptions_approver: ({ db, acme }) => listSubscriptionRows(db, acme, [NOBODY]),
  decision_notices_due: ({ db, at }) =>
    listDueMessagesAcrossTenants(db, { table: 'decision_notices', skips: 'is_gathered' }, at),
  decision_notices_gathered: ({ db, acme, at }) =>
    gatheredUntil(db, acme, { approverId: NOBODY, channelId: null, subscriptionId: null }, at),
  decision_notices_decision: ({ acme, its }) => acme('POST', `/v1/decisions/${its.decisionId}/cancel`, {}),
  verifiable_credentials_principal: get(() => '/v1/credentials?principalId=user_42'),
  setup_links_id: ({ db }) => findLinkAcrossTenants(db, 'setup_1'),
  setup_links_connection: async ({ acme }) => {
    const provider = { protocol: 'oidc', issuerUrl: 'https://idp.test', clientId: 'c', clientSecret: 's' };
    const { id } = (await acme('POST', '/v1/sso/connections', { name: 'Short-lived', ...provider })).json();
    await acme('DELETE', `/v1/sso/connections/${id}`);
  },
  agent_workloads_agent: get((its) => `/v1/agents/${its.agentId}/workloads`),
  assertion_clients_client: ({ db, acme }) => findRuleOfClient(db, acme, 'sso_1', 'ag_1'),
  assertion_grants_pair: ({ db, acme }) => isStopped(db, acme, { agentId: 'a', principalId: 'p' }),
  assertion_grants_rule: ({ db, acme }) => listAssertionGrantIds(db, acme, { ruleId: 'idc_1' }),
  assertion_uses_expired: ({ db, acme, at, its }) =>
    inTransaction(db, (tx) => {
      const used = { connectionId: String(its.ssoConnectionId), jti: 'new', expiresAt: at };
      return useOnce(tx, acme, used, at);
    }),
  signal_sources_connection: ({ db }) => findSourceAcrossTenants(db, 'sso_1'),
  signal_sources_poll: ({ db, at }) => listDueStreams(db, 'pollDueAt', at, 10),
  signal_sources_check: ({ db, at }) => listDueStreams(db, 'checkDueAt', at, 10),
  signal_receipts_received: ({ db, acme, at, its }) =>
    inTransaction(db, (tx) =>
      takeSignal(tx, acme, { connectionId: String(its.ssoConnectionId), jti: 'new', receivedAt: at }),
    ),
  sso_sessions_connection: ({ acme }) => acme('GET', '/v1/sso/sessions?connectionId=sso_1'),
  sso_sessions_principal: ({ acme }) => acme('GET', '/v1/sso/sessions?principalId=user_42'),
  vault_credentials_named: ({ db, acme }) => findExchangeable(db, acme, 'user_42', 'github'),
  vault_proxy_calls_old: ({ db }) => deleteOldProxyCallsAcrossTenants(db, new Date(0), 10),
  grants_of_token: ({ acme, its }) => acme('POST', '/v1/tokens/revoke', { jti: its.tokenId }),
  grants_children: ({ acme, its }) => acme('DELETE', `/v1/grants/${its.grantId}`),
  auth_requests_open_of_principal: endsAll,
  auth_requests_replacing: ({ db, acme, at }) =>
    inTransaction(db, (tx) => listReplaced(tx, acme, 'grnt_1', at)),
  legal_holds_standing: ({ acme }) => acme('GET', '/v1/compliance/holds?standing=true'),
  auth_requests_open: ({ acme, its }) => acme('DELETE', `/v1/agents/${its.agentId}`),
  members_sso: ({ db, acme }) =>
    inTransaction(db, (tx) => lockMemberOfSso(tx, acme, 'sso_1', Buffer.alloc(32))),
  member_recovery_codes_hash: ({ db }) => findRecoveryCodeAcrossTenants(db, Buffer.alloc(32)),
  sso_connection_domains_connection: ({ db, acme }) =>
    inTransaction(db, (tx) => writeDomains(tx, acme, 'sso_1', [])),
};

/** Unique indexes that hold a rule, and serve no search. */
const RULES: Readonly<Record<string, string>> = {
  assertion_grants_standing: 'one grant stands for a client, a person and an audience at a connection',
  anomalies_unresolved: 'an agent has one alert of a rule that is not resolved',
  anomaly_channels_developer_id_name_key: 'channels of a developer have names of their own',
  developers_seeded: 'a mode has one seeded developer',
  email_verification_index_developer_id_verification_id_key: 'a link has one token',
  vault_credentials_folded: 'services of a principal differ in more than case',
  passkeys_credential: 'a developer has each credential of an authenticator once for a kind of people',
  sso_connections_default: 'a developer has one configuration of older clients',
  refresh_tokens_developer_id_predecessor_id_key: 'a refresh token has one successor',
  verified_emails_developer_id_key: 'an account has one verified address',
  billing_customers_developer_id_key: 'an account has one customer',
  custom_domains_developer_id_domain_key: 'a developer registers a domain once',
  signing_keys_active: 'an algorithm has one active signing key',
  approver_subscriptions_endpoint: 'a browser has the notifications of one approver of an account',
  members_email: 'an address signs in one member of an account',
  approvers_mailbox: 'a person approves for a developer once',
  decisions_open: 'a call has one open request',
  decision_approvals_position: 'of two approvals at once one comes second',
  ssf_receivers_audience: 'a receiver of the installation has an audience of its own',
  tlog_logs_open: 'a developer has one log that grows',
  status_lists_open: 'new credentials take their places in one list',
  verifiable_credentials_place: 'a place in a status list is taken once',
  verified_domains_developer_id_domain_id_key: 'a registration holds its own domain',
};

test('each index serves a search or holds a rule, and each search is served by its index', async () => {
  const world = await startFilled();
  const { db } = world;
  const { rows } = await sql<{ name: string; isUnique: boolean }>`
    select i.indexrelid::regclass::text as name, i.indisunique as "is_unique" from pg_index i
    join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and not i.indisprimary order by 1`.execute(db);
  expect(rows.map(({ name }) => name).sort()).toEqual([...Object.keys(SERVES), ...Object.keys(RULES)].sort());
  const isUnique = ({ name }: (typeof rows)[number]) => name in RULES;
  expect(rows.filter(isUnique).filter((index) => !index.isUnique)).toEqual([]);

  const faults: string[] = [];
  for (const [name, work] of Object.entries(SERVES)) {
    const before = await readsOf(db, name);
    await work(world);
    const after = await readsOf(db, name);
    if (after.ofIndex === before.ofIndex) faults.push(`${name} was not read`);
    const whole = Object.keys(after.ofTables).filter(
      (table) => after.ofTables[table] !== before.ofTables[table],
    );
    for (const table of whole) faults.push(`the work of ${name} has read the whole of ${table}`);
  }

  expect(faults).toEqual([]);
});

/** How often an index was read, and how often each large table was read from end to end. */
async function readsOf(db: Executor, name: string) {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ ofIndex: string; ofTables: Readonly<Record<string, number>> }>`
    select (select idx_scan from pg_stat_user_indexes where indexrelname = ${name}) as of_index,
      (select jsonb_object_agg(relname, seq_scan) from pg_stat_user_tables where n_live_tup >= ${ROWS}) as of_tables`.execute(
    db,
  );
  const [reads] = rows;
  if (!reads?.ofTables || Object.keys(reads.ofTables).length < Object.keys(COPIES).length)
    throw new Error('The tables are small.');
  return reads;
}

/** By table, the members in which copies of a row differ from it, so that no search above selects the copies. */
const COPIES: Readonly<Record<string, string>> = {
  developers: `'id', one.id || n`,
  agents: `'id', one.id || n, 'status', (array['revoked', 'active'])[1 + n % 2]`,
  anomalies: `'id', one.id || n, 'status', 'resolved', 'resolved_at', '2020-01-01', 'detected_at', '2020-01-01'`,
  anomaly_messages: `'id', one.id || n, 'next_attempt_at', '2030-01-01'`,
  audit_entries: `'id', one.id || n, 'seq', 1000 + n, 'agent_id', n, 'grant_id', n, 'principal_id', n, 'action', n`,
  audit_erased: `'seq', 1000 + n, 'erasure_id', n`,
  audit_erasures: `'id', one.id || n, 'finished_at', '2020-01-01', 'before_at', null`,
  auth_requests: `'id', one.id || n, 'agent_id', n, 'principal_id', n, 'status', 'pending',
    'expires_at', '2030-01-01', 'replaces_grant_id', n`,
  caps_call: `'id', one.id || n, 'created_ms', 2000 + n`,
  dynamic_clients: `'client_id', one.client_id || n, 'expires_at', '2030-01-01'`,
  enforced_calls: `'call_id', one.call_id || n, 'created_at', '2030-01-01'`,
  policies: `'id', one.id || n`,
  policy_revisions: `'policy_id', one.policy_id || n, 'principal_id', n`,
  changes: `'id', one.id || n, 'status', (array['applied', 'open'])[1 + (n % 50 = 0)::int], 'decided_at', '2030-01-01',
    'expires_at', '2030-01-01'`,
  console_sessions: `'id', one.id || n, 'member_id', n`,
  policy_bundles: `'id', one.id || n, 'version', 'v' || n, 'active', false`,
  custom_domains: `'id', one.id || n, 'domain', n, 'status', 'lapsed', 'verified_at', '2026-01-01'`,
  budget_allocations: `'id', one.id || n, 'grant_id', n`,
  budget_transactions: `'id', one.id || n, 'allocation_id', n, 'source_transaction_id', n`,
  budget_entries: `'movement_id', one.movement_id || n`,
  grants: `'id', one.id || n, 'agent_id', n, 'principal_id', n, 'root_grant_id', n,
    'expires_at', '2020-01-01', 'expiry_announced_at', '2020-01-01',
    'auth_request_id', one.id || n, 'parent_grant_id', one.id || n, 'parent_token_id', one.id || n`,
  idempotent_answers: `'answer_key', '\\x' || lpad(n::text, 8, '0'), 'expires_at', '2030-01-01'`,
  legal_holds: `'id', one.id || n`,
  manifests: `'connector', 'c' || n, 'looks', 'c' || n`,
  outbox_events: `'id', one.id || n, 'seq', 1000 + n`,
  passports: `'id', one.id || n, 'parent_id', n`,
  principal_pseudonyms: `'principal_id', n`,
  wallet_authorizations: `'id', one.id || n, 'grant_id', n, 'principal_id', n`,
  passkeys: `'id', one.id || n, 'owner_id', n, 'credential_id', '\\x' || lpad(n::text, 8, '0')`,
  passkey_challenges: `'id', one.id || n, 'owner_id', n, 'expires_at', '2030-01-01'`,
  principal_sessions: `'id', one.id || n, 'principal_id', n, 'expires_at', '2030-01-01'`,
  scim_users: `'id', one.id || n, 'user_name', n, 'external_id', n, 'display_name', n`,
  scim_user_emails: `'address', n, 'user_id', one.user_id || n`,
  scim_principals: `'folded', 'p' || n, 'principal_id', 'p' || n, 'user_id', one.user_id || n`,
  scim_groups: `'id', one.id || n, 'display_name', n, 'external_id', n`,
  scim_members: `'group_id', one.group_id || n, 'user_id', one.user_id || n`,
  passkey_users: `'owner_id', n`,
  decisions: `'id', one.id || n, 'agent_id', n, 'grant_id', n, 'case_id', n, 'expires_at', '2030-01-01', 'due_at', '2030-01-01'`,
  decision_notices: `'id', one.id || n, 'decision_id', one.decision_id || n, 'next_attempt_at', '2030-01-01'`,
  status_lists: `'id', one.id || n, 'is_open', false, 'bits', '\\x00'`,
  tokens: `'id', one.id || n, 'grant_id', n`,
  vault_providers: `'id', one.id || n, 'service', 'p' || n, 'key_id', n, 'client_source', 'cimd'`,
  connect_sessions: `'id', one.id || n, 'service', n, 'status', 'connected'`,
  sso_connections: `'developer_id', n, 'id', one.id || n, 'key_id', n`,
  sso_connection_domains: `'domain', n || '.test', 'connection_id', n`,
  setup_links: `'id', one.id || n, 'connection_id', n, 'expires_at', '2030-01-01', 'finished_at', '2020-01-01'`,
  agent_workloads: `'id', one.id || n, 'agent_id', n`,
  assertion_clients: `'id', one.id || n, 'connection_id', n, 'client_id', n`,
  assertion_grants: `'id', one.id || n, 'connection_id', n, 'rule_id', n, 'principal_id', n`,
  assertion_uses: `'jti', n`,
  signal_sources: `'connection_id', n`,
  signal_receipts: `'jti', n`,
  ssf_receivers: `'id', one.id || n, 'audience', one.audience || n`,
  ssf_tokens: `'hash', sha256(convert_to(n::text, 'UTF8')), 'receiver_id', one.receiver_id || n, 'expires_at', '2030-01-01'`,
  ssf_streams: `'id', one.id || n, 'receiver_id', one.receiver_id || n, 'polled_at', '2030-01-01'`,
  sso_assertions: `'assertion_id', n`,
  sso_identities: `'subject', n, 'user_id', n`,
  sso_sessions: `'id', one.id || n, 'idp_session', n, 'subject', n, 'principal_id', n, 'user_id', n, 'expires_at', '2030-01-01'`,
  verifiable_credentials: `'id', one.id || n, 'grant_id', n, 'principal_id', n, 'status_list_id', n`,
  vault_credentials: `'id', one.id || n, 'principal_id', case when n % 2 = 0 then 'user_42' else 'p' || n end, 'service', n, 'key_id', n`,
  vault_proxy_calls: `'id', one.id || n, 'created_at', '2030-01-01'`,
  vault_proxy_profiles: `'service', n`,
  webhook_endpoints: `'developer_id', n, 'stream_state', 'off'`,
  webhook_deliveries: `'id', one.id || n, 'status', 'delivered', 'leased_until', null, 'created_at', '2030-01-01'`,
};

/** Copies a row of each table many times. */
async function fill(db: Executor): Promise<void> {
  await sql`insert into idempotent_answers
    select id, '\\x01', '\\x02', 200, '\\x03', '2030-01-01' from developers`.execute(db);
  await sql`insert into changes (developer_id, id, operation, about, difference, hash, proposed_by, needed, created_at, expires_at)
    select id, 'chg_1', 'o', 'a', '{}', '\\x01', 'p', 1, '2020-01-01', '2030-01-01' from developers`.execute(
    db,
  );
  await sql`insert into sso_connection_domains select developer_id, 'one.test', id from sso_connections`.execute(
    db,
  );
  await sql`insert into sso_sessions
    (developer_id, id, connection_id, subject, groups, mapped_scopes, secret_hash, created_at, expires_at)
    select developer_id, 'ssosess_1', id, 's', '{}', '{}', '\\x01', '2020-01-01', '2030-01-01'
    from sso_connections`.execute(db);
  await sql`insert into sso_identities (developer_id, connection_id, subject, user_id, created_at)
    select developer_id, id, 's', 'scimuser_1', '2020-01-01' from sso_connections`.execute(db);
  await sql`insert into sso_assertions select developer_id, id, 'a', '2030-01-01' from sso_connections`.execute(
    db,
  );
  await sql`insert into audit_erased select id, 1, 'erasure_1', '\\x01' from developers`.execute(db);
  await sql`insert into signal_sources
    (developer_id, connection_id, transmitter, jwks_uri, audience, requires_header, on_session_revoked, secret_hash,
      created_at, updated_at)
    select developer_id, id, 't', 'j', 'a', true, 'idp', '\\x01', '2020-01-01', '2020-01-01'
    from sso_connections`.execute(db);
  await sql`insert into assertion_grants
    select developer_id, 'ids_1', id, 'idc_0', 'a', 'p0', '', 'g', '2020-01-01' from sso_connections`.execute(
    db,
  );
  await sql`insert into assertion_uses select developer_id, id, 'j', '2040-01-01' from sso_connections`.execute(
    db,
  );
  await sql`insert into signal_receipts select developer_id, id, 'j', '2030-01-01' from sso_connections`.execute(
    db,
  );
  await sql`insert into vault_proxy_calls
    (developer_id, id, agent_id, grant_id, credential_id, service, upstream, method, rule, created_at)
    select id, 'pcall_1', 'a', 'g', 'c', 's', 'u', 'GET', 'r', '2030-01-01' from developers`.execute(db);
  await sql`insert into dynamic_clients values
    ('dcr_1', 'n', '{}', 'none', null, decode(repeat('00', 32), 'hex'), null, true, '{}', '2020-01-01', '2030-01-01')`.execute(
    db,
  );
  await sql`insert into caps_call select id, 'call_1', 'sent', 'f', '[]', 1 from developers`.execute(db);
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx); // without looks at foreign keys
    for (const [table, members] of Object.entries(COPIES)) {
      const columns = sql.join(await writtenColumns(tx, table));
      const copy = sql.raw(
        `select (jsonb_populate_record(one, jsonb_build_object(${members}))).*
         from ${table} one cross join generate_series(1, ${ROWS}) n
         where one.ctid = (select min(ctid) from ${table})`,
      );
      await sql`insert into ${sql.table(table)} (${columns}) select ${columns} from (${copy}) copy`.execute(
        tx,
      );
    }
  });
  await sql.raw(`vacuum analyze ${Object.keys(COPIES).join(', ')}`).execute(db);
}
