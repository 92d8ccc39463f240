import type { Selectable } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { groupLock } from '../../../platform/db/hot-writes.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { AgentStatus, Grants } from '../../../platform/db/types.gen.ts';
import { hasFoldedPrincipal } from '../../../platform/db/values.ts';
import { agentOf } from '../../accounts/agents/agents.queries.ts';

/** For hot writes that cut a tree of grants. Before `sharedDelegation`: a shared lock never has to become this one. */
export const ownDelegation = groupLock('lock_delegation', 2);

/** For hot writes that add a branch. */
export const sharedDelegation = groupLock('share_delegation', 3);

/** The tenant's grants, each with its agent's DID, which every answer about a grant shows. */
export function grantsWithAgent(db: Executor, tenant: Tenant) {
  return db
    .selectFrom('grants as grant')
    .innerJoinLateral(agentOf(db, tenant, 'grant.agentId'), (join) => join.onTrue())
    .selectAll('grant')
    .select('agent.agentDid')
    .where('grant.developerId', '=', tenant.developerId);
}

/** The tenant's grants, for counts. */
export function grantsOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('grants as grant').where('grant.developerId', '=', developerId);
}

/** The agent and the end of each of the tenant's grants, to be joined by `grant.grantId`. */
export function grantEndsOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('grants')
    .select(['id as grantId', 'agentId', 'status as grantStatus', 'expiresAt as grantExpiresAt'])
    .where('developerId', '=', developerId)
    .as('grant');
}

/** A grant with its agent's DID. */
export type GrantRow = Selectable<Grants> & { readonly agentDid: string };

type OfGrant = [developerId: string, grantId: string, within: readonly string[] | null];

const COLUMNS = `(f.held).id, (f.held).developer_id as "developerId", (f.held).auth_request_id as "authRequestId",
     (f.held).agent_id as "agentId", (f.held).principal_id as "principalId", (f.held).scopes, (f.held).audience,
     (f.held).purpose, (f.held).authorization_details as "authorizationDetails",
     (f.held).manifests, (f.held).token_seconds as "tokenSeconds", (f.held).status, (f.held).consent_method as "consentMethod", (f.held).policy_id as "policyId",
     (f.held).is_unverified as "isUnverified", (f.held).issued_at as "issuedAt", (f.held).expires_at as "expiresAt",
     (f.held).revoked_at as "revokedAt", (f.held).revoked_reason as "revokedReason",
     (f.held).last_used_at as "lastUsedAt", (f.held).parent_grant_id as "parentGrantId",
     (f.held).parent_token_id as "parentTokenId",
     (f.held).root_grant_id as "rootGrantId", (f.held).delegation_depth as "delegationDepth",
     (f.held).delegated_by as "delegatedBy", (f.held).expiry_announced_at as "expiryAnnouncedAt",
     f.agent_did as "agentDid"`;

const grantById = lookUp<GrantRow, OfGrant>(
  'find_grant',
  `select ${COLUMNS}
   from find_grant($1, $2) f where $3::text[] is null or (f.held).agent_id = any ($3)`,
);

export async function findGrant(
  db: Executor,
  { tenant, agentIds }: Reach,
  grantId: string,
): Promise<GrantRow | undefined> {
  return (await grantById(db, tenant.developerId, grantId, agentIds))[0];
}

/** A grant as answers show it. */
export type ShownGrantRow = GrantRow & { readonly agentStatus: AgentStatus };

const shownGrantById = lookUp<ShownGrantRow, OfGrant>(
  'find_shown_grant',
  `select ${COLUMNS},
     (select a.status from agents a where a.developer_id = $1 and a.id = (f.held).agent_id) as "agentStatus"
   from find_grant($1, $2) f where $3::text[] is null or (f.held).agent_id = any ($3)`,
);

export async function findShownGrant(
  db: Executor,
  { tenant, agentIds }: Reach,
  grantId: string,
): Promise<ShownGrantRow | undefined> {
  return (await shownGrantById(db, tenant.developerId, grantId, agentIds))[0];
}

/** A grant that stays as it is until the commit. */
export async function holdGrant(tx: Tx, reach: Reach, grantId: string): Promise<GrantRow | undefined> {
  const { developerId } = reach.tenant;
  await tx
    .selectFrom('grants')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', grantId)
    .forShare()
    .execute();
  return findGrant(tx, reach, grantId);
}

/** Why the consent of the grant `f.held` has to be renewed, as a column of the look-ups that decide about it. */
export const renewalCauses = (at: string, developerId = '$1') =>
  `renewal_causes(${developerId}, (f.held).root_grant_id, ${at})::text[] as "renewalCauses"`;

const renewalOfPair = lookUp<
  { readonly isNeeded: boolean },
  [developerId: string, agentId: string, principalId: string, at: Date]
>('pair_needs_renewal', 'select pair_needs_renewal($1, $2, $3, $4) as "isNeeded"');

/** Whether a person has to be asked before the agent gets another grant for them. */
export async function needsRenewal(
  db: Executor,
  { developerId }: Tenant,
  { agentId, principalId }: Pick<GrantRow, 'agentId' | 'principalId'>,
  at: Date,
): Promise<boolean> {
  const [pair] = await renewalOfPair(db, developerId, agentId, principalId, at);
  return pair?.isNeeded === true;
}

const detailsAbove = lookUp<{ readonly details: unknown }, [developerId: string, grantId: string]>(
  'details_above',
  `select a.details
   from details_above($1, $2) a`,
);

/** The authorization details of the grants from which this grant was delegated. It may lack their limits. */
export async function listDetailsAbove(db: Executor, { developerId }: Tenant, grantId: string) {
  return (await detailsAbove(db, developerId, grantId)).map(({ details }) => details);
}

export function grantsOfPrincipal(db: Executor, { developerId }: Tenant, principalId: string) {
  return db
    .selectFrom('grants')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId);
}

/** The principal's grants that are neither revoked nor expired. */
export function livingGrantsOfPrincipal(db: Executor, tenant: Tenant, principalId: string, now: Date) {
  return grantsOfPrincipal(db, tenant, principalId)
    .where('status', '=', 'active')
    .where('expiresAt', '>', now);
}

/** The principals of active grants who have one of these ids, in any case. */
export async function principalsWithGrants(
  db: Executor,
  { developerId }: Tenant,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('grants')
    .select('principalId')
    .distinct()
    .where('developerId', '=', developerId)
    .where('status', '=', 'active')
    .where(hasFoldedPrincipal(ids))
    .execute();
  return rows.map(({ principalId }) => principalId);
}

/** The end that somebody gave to each revoked grant of the tenant, to be joined by `grant.grantId`. */
export function revokedGrantsOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('grants')
    .select(['id as grantId', 'revokedReason', 'revokedAt'])
    .where('developerId', '=', developerId)
    .where('status', '=', 'revoked')
    .as('grant');
}

/** Those of some grants that are active, with their limits. */
export function activeAmong(db: Executor, { developerId }: Tenant, grantIds: readonly string[]) {
  return db
    .selectFrom('grants')
    .select(['id', 'scopes', 'audience', 'authorizationDetails', 'issuedAt', 'expiresAt'])
    .where('developerId', '=', developerId)
    .where('id', 'in', [...grantIds, ''])
    .where('status', '=', 'active')
    .execute();
}

/** All grants of the deployment, whatever became of them, for its operator. */
export async function countGrantsAcrossTenants(db: Executor): Promise<number> {
  const counted = db.selectFrom('grants').select(({ fn }) => fn.countAll<string>().as('all'));
  return Number((await counted.executeTakeFirstOrThrow()).all);
}
