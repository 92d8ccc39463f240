import { type Selectable, sql } from 'kysely';
import { isWithin, type Reach, type Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hotCall, mayMixDevelopers, type Records } from '../../../platform/db/hot-writes.ts';
import { type PageRows, readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import { sharedPrincipals } from '../../../platform/db/principals.ts';
import { gathering, lookUp, type Placed } from '../../../platform/db/statement.ts';
import type { Agents, AuthRequests, Developers } from '../../../platform/db/types.gen.ts';
import { row } from '../../../platform/db/values.ts';
import { sharedAgents } from '../../accounts/agents/agents.queries.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';

import type { AuthorizationRequestStatus, RequestQuery } from './authorization.schema.ts';

export type RequestRow = Selectable<AuthRequests>;

type Developer = Selectable<Developers>;
type Agent = Selectable<Agents>;

/** The facts that decide whether a request is accepted. */
export interface AuthorizationFacts
  extends Pick<
    Developer,
    'redirectUris' | 'enforceAgentScopes' | 'consentMode' | 'consentKeys' | 'policyAutoApproval'
  > {
  /** These three are null when the developer has no such agent. */
  readonly agentDid: Agent['did'] | null;
  readonly agentStatus: Agent['status'] | null;
  readonly agentScopes: Agent['scopes'] | null;
  readonly activeGrants: string | null;
  readonly openRequests: string | null;
  readonly policiesVersion: string;
  readonly isPrincipalActive: boolean;
}

const asker = `redirect_uris as "redirectUris", enforce_agent_scopes as "enforceAgentScopes",
  consent_mode as "consentMode", consent_keys as "consentKeys", agent_did as "agentDid",
  agent_status as "agentStatus", agent_scopes as "agentScopes", active_grants as "activeGrants",
  open_requests as "openRequests", policy_auto_approval as "policyAutoApproval",
  policies_version as "policiesVersion"`;

/** An agent that the caller may not see is null. */
type Asking = readonly [developerId: string, agentId: string | null, principalId: string];

const facts = lookUp<AuthorizationFacts, Asking>(
  'find_asker',
  `select ${asker}, principal_active($1, $3) as "isPrincipalActive" from find_asker($1, $2)`,
);

const factsTogether = lookUp<
  AuthorizationFacts & Placed,
  [developerIds: string[], agentIds: (string | null)[], principalIds: string[]]
>(
  'find_askers',
  `select k.place, ${asker}, principal_active(k.developer_id, k.principal_id) as "isPrincipalActive"
   from unnest($1::text[], $2::text[], $3::text[]) with ordinality k (developer_id, agent_id, principal_id, place)
     cross join lateral find_asker(k.developer_id, k.agent_id)`,
);

const factsInTurn = gathering<Asking, AuthorizationFacts>(
  (db, all) =>
    factsTogether(
      db,
      all.map(([developerId]) => developerId),
      all.map(([, agentId]) => agentId),
      all.map(([, , principalId]) => principalId),
    ),
  mayMixDevelopers,
);

/** Reads them in one trip, together with those of other requests of the turn. */
export async function getAuthorizationFacts(
  db: Executor,
  { tenant: { developerId }, agentIds }: Reach,
  { agentId, principalId }: { readonly agentId: string; readonly principalId: string },
): Promise<AuthorizationFacts> {
  const asking = [developerId, isWithin({ agentIds }, agentId) ? agentId : null, principalId] as const;
  const found = await factsInTurn(db, asking, async () => (await facts(db, ...asking))[0]);
  if (!found) throw new Error('A caller has no developer.');
  return found;
}

export interface Opening {
  readonly request: Omit<RequestRow, 'developerId'>;
  readonly openLimit: number | null;
  /** The most requests of a calendar month. */
  readonly monthLimit: number | null;
  /** The version of the policies that let the request pass. */
  readonly policiesVersion: string;
  readonly records: Records;
}

type OpeningRefusal =
  | 'suspended'
  | 'revoked'
  | 'over_quota'
  | 'over_month'
  | 'policies_changed'
  | 'principal_inactive'
  | null;

/** A hot write. @returns why it wrote nothing: the agent's status, or that the plan has no room, or that policies have changed */
export function requestAuthorization(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { request, records, ...bounds }: Opening,
): Promise<OpeningRefusal> {
  const { developerId } = tenant;
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('write_request', row({ ...request, developerId, ...bounds })),
    locks: [
      [sharedAgents, [request.agentId]],
      [sharedPrincipals, [request.principalId]],
    ],
    // After the exchanges of the group, which lock this counter after that of grants.
    turn: 'quota open_requests',
  });
}

export function findRequest(db: Executor, { tenant, agentIds }: Reach, requestId: string) {
  return db
    .selectFrom('authRequests')
    .selectAll()
    .where('developerId', '=', tenant.developerId)
    .where('id', '=', requestId)
    .$if(agentIds !== null, (requests) => requests.where('agentId', 'in', agentIds ?? []))
    .executeTakeFirst();
}

/**
 * The most requests that a page looks at where no index finds those that its reader wants. A status changes too often to have
 * one.
 */
const WALK = 2000;

const isExact = ({ agentIds }: Reach, { agentId, principalId, status }: RequestQuery) =>
  agentIds === null && status === undefined && (agentId === undefined || principalId === undefined);

/** Of one agent or one principal an index has the order of the list. It asks for those with a count, which all have. */
function requestsIn(db: Executor, { tenant, agentIds }: Reach, query: RequestQuery) {
  const { principalId, since, until, cursor } = query;
  const agentId = query.agentId ?? (agentIds?.length === 1 ? agentIds[0] : undefined);
  let all = db
    .selectFrom('authRequests')
    .where('developerId', '=', tenant.developerId)
    .where(sql<boolean>`wrong_verifiers >= 0`); // a constant, as in the indexes
  if (principalId !== undefined) all = all.where('principalId', '=', principalId);
  else if (agentId !== undefined) all = all.where('agentId', '=', agentId);
  if (since) all = all.where('id', '>=', firstIdAt(since));
  if (until) all = all.where('id', '<', firstIdAt(until));
  if (cursor) all = all.where('id', '<', cursor);
  return all.orderBy('id', 'desc');
}

const firstIdAt = (time: string) => sql<string>`'areq_' || ulid_time(${new Date(time)})`;

/** The requests of a reader, newest first, among the next that a page looks at. */
export function listRequestRows(
  db: Executor,
  reach: Reach,
  query: RequestQuery,
  now: Date,
): Promise<PageRows<RequestRow>> {
  const { agentId, principalId, status } = query;
  let page = requestsIn(db, reach, query);
  if (reach.agentIds) page = page.where('agentId', 'in', reach.agentIds);
  if (principalId !== undefined && agentId !== undefined) page = page.where('agentId', '=', agentId);
  if (status) page = page.where(hasStatus(status, now));
  if (!isExact(reach, query)) {
    page = page.where('id', '>=', ({ fn, val }) => fn.coalesce(walkEnd(db, reach, query), val('')));
  }
  return readPage(db, page.selectAll(), query.limit);
}

/** @returns the last of the requests that the page has looked at, if there may be others after it */
export async function endOfWalk(db: Executor, reach: Reach, query: RequestQuery): Promise<string | null> {
  if (isExact(reach, query)) return null;
  return (await walkEnd(db, reach, query).executeTakeFirst())?.id ?? null;
}

const walkEnd = (db: Executor, reach: Reach, query: RequestQuery) =>
  requestsIn(db, reach, query)
    .select('id')
    .offset(WALK - 1)
    .limit(1);

/** As `statusAt`. */
function hasStatus(status: AuthorizationRequestStatus, now: Date) {
  const isOver = sql<boolean>`(status in ('pending', 'approved') and ${dueAt} <= ${now})`;
  if (status === 'expired') return sql<boolean>`(status = 'expired' or ${isOver})`;
  return sql<boolean>`(status = ${status} and not ${isOver})`;
}

/** Locks the row, so that the second of two simultaneous decisions sees the first. */
export function lockRequest(tx: Tx, { tenant, agentIds }: Reach, requestId: string) {
  return tx
    .selectFrom('authRequests')
    .selectAll()
    .where('developerId', '=', tenant.developerId)
    .where('id', '=', requestId)
    .$if(agentIds !== null, (requests) => requests.where('agentId', 'in', agentIds ?? []))
    .forUpdate()
    .executeTakeFirst();
}

type Decision = Partial<Omit<RequestRow, 'authorizationDetails'>> & {
  readonly authorizationDetails?: string | null;
};

export function updateRequest(tx: Tx, { developerId }: Tenant, requestId: string, decision: Decision) {
  return tx
    .updateTable('authRequests')
    .set(decision)
    .where('developerId', '=', developerId)
    .where('id', '=', requestId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Counts in the database, so that two simultaneous guesses count as two. */
export async function countWrongVerifier(tx: Tx, { developerId }: Tenant, requestId: string): Promise<void> {
  await tx
    .updateTable('authRequests')
    .set(({ eb }) => ({ wrongVerifiers: eb('wrongVerifiers', '+', 1) }))
    .where('developerId', '=', developerId)
    .where('id', '=', requestId)
    .where('status', '=', 'approved')
    .execute();
}

/** The parties whose requests end: at least one of the two. */
export interface Parties {
  readonly agentId?: string;
  readonly principalId?: string;
}

/** Cancels their pending requests, and approved ones with an unused code, unless they have expired. */
export function cancelRequestsOf(tx: Tx, { developerId }: Tenant, parties: Parties, at: Date) {
  const { agentId, principalId } = parties;
  return tx
    .updateTable('authRequests')
    .set({ status: 'cancelled', decidedAt: at })
    .where('developerId', '=', developerId)
    .$if(agentId !== undefined, (query) => query.where('agentId', '=', String(agentId)))
    .$if(principalId !== undefined, (query) => query.where('principalId', '=', String(principalId)))
    .where(({ and, eb, or }) =>
      or([
        and([eb('status', '=', 'pending'), eb('expiresAt', '>', at)]),
        and([eb('status', '=', 'approved'), eb('codeExpiresAt', '>', at)]),
      ]),
    )
    .returning(['id', 'agentId', 'principalId', 'purpose'])
    .execute();
}

const dueAt = sql<Date>`coalesce(code_expires_at, expires_at)`;

/** Requests that have expired and are not recorded as expired yet, oldest first. */
export function listDueAcrossTenants(db: Executor, at: Date, limit: number) {
  return db
    .selectFrom('authRequests as request')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'request.developerId')
    .select(['request.id', 'request.developerId', 'developer.mode', 'developer.plan'])
    .where('request.status', 'in', ['pending', 'approved'])
    .where(dueAt, '<=', at)
    .orderBy(dueAt)
    .limit(limit)
    .execute();
}

/** Marks overdue requests as expired. When two instances do so at once, each request goes to one of them. */
export function expireRequests(tx: Tx, { developerId }: Tenant, requestIds: readonly string[], at: Date) {
  return tx
    .updateTable('authRequests')
    .set({ status: 'expired' })
    .where('developerId', '=', developerId)
    .where('id', 'in', [...requestIds].sort())
    .where('status', 'in', ['pending', 'approved'])
    .where(dueAt, '<=', at)
    .returning(['id', 'agentId', 'principalId', 'purpose'])
    .execute();
}

/** Erases rows of a closed account. */
export const eraseRequests = eraserOf('auth_requests');

export const tellRequests = exportOf('authorization_request', 'auth_requests', [
  ...['agent_id', 'scopes', 'audience', 'authorization_details', 'status', 'consent_method'],
  ...['created_at', 'expires_at', 'decided_at'],
]);
