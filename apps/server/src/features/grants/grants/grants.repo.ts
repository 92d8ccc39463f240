import { type Selectable, sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hotCall, type Records } from '../../../platform/db/hot-writes.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { deletedBy, type EraseRows, eraserOf } from '../../../platform/db/personal-data.ts';
import { statement } from '../../../platform/db/statement.ts';
import type { Grants, RenewalCause } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { grantsWithAgent, livingGrantsOfPrincipal, ownDelegation } from './grants.queries.ts';
import type { GrantQuery } from './grants.schema.ts';

export type RevokedReason = NonNullable<Selectable<Grants>['revokedReason']>;

const shownGrants = (db: Executor, tenant: Tenant) => grantsWithAgent(db, tenant).select('agent.agentStatus');

/** Newest first. */
export function listGrantRows(db: Executor, { tenant, agentIds }: Reach, query: GrantQuery, now: Date) {
  const { cursor, limit, since, until } = query;
  let page = shownGrants(db, tenant);
  if (agentIds) page = page.where('grant.agentId', 'in', agentIds);
  for (const name of ['agentId', 'principalId', 'parentGrantId', 'rootGrantId', 'purpose'] as const) {
    const value = query[name];
    if (value !== undefined) page = page.where(`grant.${name}`, '=', value);
  }
  if (query.status === 'revoked') page = page.where('grant.status', '=', 'revoked');
  else if (query.status) page = withExpiry(page, query.status === 'active' ? '>' : '<=', now);
  if (since) page = page.where('grant.issuedAt', '>=', new Date(since));
  if (until) page = page.where('grant.issuedAt', '<', new Date(until));
  if (cursor) page = page.where('grant.id', '<', cursor);
  // A grant's id begins with the time of its issue, so this is newest first.
  return readPage(db, page.orderBy('grant.id', 'desc'), limit);
}

function withExpiry<Page extends ReturnType<typeof shownGrants>>(page: Page, than: '>' | '<=', now: Date) {
  return page.where('grant.status', '=', 'active').where('grant.expiresAt', than, now);
}

export interface GrantNode {
  readonly id: string;
  /** The root whose revocation ends this grant: itself, or the nearest root above it. */
  readonly causeId: string;
  readonly rootGrantId: string;
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly purpose: string | null;
}

const activeTree = statement<GrantNode, [developerId: string, rootIds: readonly string[]]>(
  'find_active_tree',
  `select id, cause_id as "causeId", root_grant_id as "rootGrantId", agent_id as "agentId", agent_did as "agentDid",
     principal_id as "principalId", purpose
   from find_active_tree($1, $2)`,
);

/** The active grants at or below the roots, parents first. A revocation of the roots ends exactly these. */
export function listActiveTree(
  db: Executor,
  { developerId }: Tenant,
  rootIds: readonly string[],
): Promise<GrantNode[]> {
  return activeTree(db, developerId, rootIds);
}

/** The ids of the agent's active grants. Each is a root, and the grants below it end with it. */
export function listActiveIdsOfAgent(tx: Tx, tenant: Tenant, agentId: string) {
  return listActiveIds(tx, tenant, 'agentId', agentId);
}

/** The ids of the active grants that were delegated with a token. */
export function listActiveIdsOfToken(tx: Tx, tenant: Tenant, tokenId: string) {
  return listActiveIds(tx, tenant, 'parentTokenId', tokenId);
}

async function listActiveIds(
  tx: Tx,
  { developerId }: Tenant,
  column: 'agentId' | 'parentTokenId',
  value: string,
) {
  const rows = await tx
    .selectFrom('grants')
    .select('id')
    .where('developerId', '=', developerId)
    .where(column, '=', value)
    .where('status', '=', 'active')
    .execute();
  return rows.map(({ id }) => id);
}

/** The ids of the principal's grants that are active and unexpired, or of those given by single sign-on. Each is a root, even a delegated one. */
export async function listActiveIdsOfPrincipal(
  tx: Tx,
  tenant: Tenant,
  principalId: string,
  now: Date,
  givenBy?: 'sso',
) {
  const living = livingGrantsOfPrincipal(tx, tenant, principalId, now);
  const given = givenBy ? living.where('consentMethod', 'in', ['sso', 'idp']) : living;
  const rows = await given.select('id').execute();
  return rows.map(({ id }) => id);
}

/** The ids of the active grants above which none is active. */
export async function listTopActiveIds(tx: Tx, { developerId }: Tenant) {
  const rows = await tx
    .selectFrom('grants as grant')
    .leftJoin('grants as parent', (join) =>
      join
        .onRef('parent.developerId', '=', 'grant.developerId')
        .onRef('parent.id', '=', 'grant.parentGrantId')
        .on('parent.status', '=', 'active'),
    )
    .select('grant.id')
    .where('grant.developerId', '=', developerId)
    .where('grant.status', '=', 'active')
    .where('parent.id', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Expired grants that were not announced yet, oldest first. */
export function listUnannouncedExpiriesAcrossTenants(db: Executor, at: Date, limit: number) {
  return db
    .selectFrom('grants as grant')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'grant.developerId')
    .select(['grant.id', 'grant.developerId', 'developer.mode', 'developer.plan'])
    .where('grant.status', '=', 'active')
    .where('grant.expiryAnnouncedAt', 'is', null)
    .where('grant.expiresAt', '<=', at)
    .orderBy('grant.expiresAt')
    .limit(limit)
    .execute();
}

/** Marks the grants that no other instance has announced or is announcing, so that each is announced once. */
export function markExpiryAnnounced(tx: Tx, { developerId }: Tenant, grantIds: readonly string[], at: Date) {
  return tx
    .updateTable('grants')
    .set({ expiryAnnouncedAt: at })
    .where('developerId', '=', developerId)
    .where('id', 'in', (db) =>
      db
        .selectFrom('grants')
        .select('id')
        .where('developerId', '=', developerId)
        .where('id', 'in', grantIds)
        .where('status', '=', 'active')
        .where('expiryAnnouncedAt', 'is', null)
        .where('expiresAt', '<=', at)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'agentId', 'principalId', 'purpose', 'expiresAt'])
    .execute();
}

/**
 * While a transaction holds this lock, no other one delegates a grant of this developer or revokes a tree.
 */
export async function lockDelegation(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select lock_delegation(${developerId})`.execute(tx);
}

interface Revocation {
  readonly at: Date;
  readonly rootIds: readonly string[];
  /** The grants of the tree as the caller has read it. */
  readonly expectedIds: readonly string[];
  readonly reason: RevokedReason;
}

/** The consequences of the end of a part of a tree. */
interface Fallen {
  /** How many of the grants had not expired. */
  readonly living: number;
  /** The ids of passports about grants that are not in this part. */
  readonly beside: readonly string[];
}

interface Branch {
  readonly ids: readonly string[];
  /** Those among them that are roots. */
  readonly rootIds: readonly string[];
  /** Only for the last part: how many grants of the parts before had not expired. The quota gets them all back. */
  readonly livingBefore?: number;
  readonly at: Date;
  readonly reason: RevokedReason;
}

/** Revokes a part of a tree. The caller holds `lockDelegation`. */
export async function revokeBranch(
  tx: Tx,
  { developerId }: Tenant,
  { at, ...branch }: Branch,
): Promise<Fallen> {
  const { rows } = await sql<{ living: string; beside: string[] }>`
    select living, beside from revoke_branch(${developerId}, ${at}, ${JSON.stringify(branch)})`.execute(tx);
  return { living: Number(rows[0]?.living), beside: rows[0]?.beside ?? [] };
}

/** In the order of their ids. */
export const listCredentials = (tx: Tx, { developerId }: Tenant, ids: readonly string[]) =>
  tx
    .selectFrom('verifiableCredentials')
    .select(['id', 'format', 'grantId', 'agentId', 'agentDid', 'principalId'])
    .where('developerId', '=', developerId)
    .where(sql<boolean>`id = any(${ids})`)
    .orderBy('id')
    .execute();

/**
 * A hot write: the revocation with its audit entries and events.
 * @returns `changed`, and writes nothing, when the tree has changed or passports about further grants would fall
 */
export function revokeGrants(
  db: Executor,
  tenant: Tenant,
  { at, ...revocation }: Revocation,
  records: Records,
): Promise<'changed' | null> {
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('revoke_tree', { ...revocation, endsOthers: false }),
    locks: [[ownDelegation, []]],
    turn: `quota ${revocation.rootIds[0]}`,
  });
}

/** Erases rows of a closed account. */
export const eraseGrants: EraseRows = (tx, { developerId }, limit) =>
  deletedBy(
    tx,
    sql`delete from grants where developer_id = ${developerId} and ctid = any (array(select ctid from grants where developer_id = ${developerId} order by delegation_depth desc limit ${limit}))`,
  );

interface NewRenewals {
  readonly grantId: string;
  readonly causes: readonly RenewalCause[];
  readonly at: Date;
}

/** Keeps why a grant's consent has to be renewed. @returns the causes that were not kept before */
export async function insertRenewals(
  tx: Tx,
  { developerId }: Tenant,
  { grantId, causes, at }: NewRenewals,
): Promise<RenewalCause[]> {
  if (causes.length === 0) return [];
  const rows = await tx
    .insertInto('grantRenewals')
    .values(causes.map((cause) => ({ developerId, grantId, cause, foundAt: at })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('cause')
    .execute();
  return rows.map(({ cause }) => cause);
}

/** Erases rows of a closed account. */
export const eraseRenewals = eraserOf('grant_renewals');
