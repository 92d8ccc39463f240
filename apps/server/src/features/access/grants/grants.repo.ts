import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Records } from '../../../platform/db/records.ts';
import type { Grants } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { grantsWithAgent, livingGrantsOfPrincipal, ownDelegation } from './grants.queries.ts';
import type { GrantQuery } from './grants.schema.ts';

export type RevokedReason = NonNullable<Selectable<Grants>['revokedReason']>;

/** A grant with its agent's DID. */
export type GrantRow = Selectable<Grants> & { readonly agentDid: string };

/** Newest first, one more than asked for: whether it is there says whether there is another page. */
export function listGrantRows(db: Executor, tenant: Tenant, query: GrantQuery, now: Date) {
  const { cursor, limit, since, until } = query;
  let page = grantsWithAgent(db, tenant);
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
  return page
    .orderBy('grant.id', 'desc')
    .limit(limit + 1)
    .execute();
}

function withExpiry<Page extends ReturnType<typeof grantsWithAgent>>(
  page: Page,
  than: '>' | '<=',
  now: Date,
) {
  return page.where('grant.status', '=', 'active').where('grant.expiresAt', than, now);
}

export interface GrantNode {
  readonly id: string;
  /** Of the roots, the one it falls with: itself, or the nearest above it. */
  readonly causeId: string;
  readonly rootGrantId: string;
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly purpose: string | null;
}

/** The active grants at or below the roots, parents first: what a revocation of the roots will end. */
export async function listActiveTree(
  db: Executor,
  { developerId }: Tenant,
  rootIds: readonly string[],
): Promise<GrantNode[]> {
  const call = sql<GrantNode>`select * from find_active_tree(${developerId}, ${rootIds})`;
  return (await call.execute(db)).rows;
}

/** Those of the agent that are active, each the root of what falls with it. */
export async function listActiveIdsOfAgent(tx: Tx, { developerId }: Tenant, agentId: string) {
  const rows = await tx
    .selectFrom('grants')
    .select('id')
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .where('status', '=', 'active')
    .execute();
  return rows.map(({ id }) => id);
}

/** Those of the principal that live, whatever they were delegated from: each is a root, as of an agent. */
export async function listActiveIdsOfPrincipal(tx: Tx, tenant: Tenant, principalId: string, now: Date) {
  const rows = await livingGrantsOfPrincipal(tx, tenant, principalId, now).select('id').execute();
  return rows.map(({ id }) => id);
}

/** Grants that have run out, and of which nobody was told, oldest first. */
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

/** Of those of which nobody was told by now, so that of two instances at once one tells of each. */
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

/** Whoever holds this is the only one to add a branch to a tree of this developer, or to cut one. */
export async function lockDelegation(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select lock_delegation(${developerId})`.execute(tx);
}

export interface Revocation {
  readonly at: Date;
  readonly rootIds: readonly string[];
  /** The tree that the caller has seen. */
  readonly expectedIds: readonly string[];
  readonly reason: RevokedReason;
}

type Outcome = 'changed' | null;

/** Revokes in a transaction that does more. @returns `changed` when the tree is another, and nothing was done. */
export async function revokeTree(tx: Tx, tenant: Tenant, revocation: Revocation): Promise<Outcome> {
  const call = sql<{ refusal: Outcome }>`select ${revocationOf(tenant, revocation)} as refusal`;
  return (await call.execute(tx)).rows[0]?.refusal ?? null;
}

const revocationOf = ({ developerId }: Tenant, { at, rootIds, expectedIds, reason }: Revocation) =>
  sql<'changed'>`revoke_tree(${developerId}, ${at}, ${rootIds}, ${expectedIds}, ${reason})`;

/** Revokes some of a tree, for whoever holds the lock of delegation and knows all of it. @returns how many lived */
export async function revokeSome(
  tx: Tx,
  { developerId }: Tenant,
  ids: readonly string[],
  { at, reason }: Pick<Revocation, 'at' | 'reason'>,
): Promise<number> {
  const call = sql<{
    living: string;
  }>`select revoke_some(${developerId}, ${at}, ${ids}, ${reason}) as living`;
  return Number((await call.execute(tx)).rows[0]?.living);
}

/** A hot write: the revocation, its entries and its events. @returns as `revokeTree` */
export function revokeGrants(
  db: Executor,
  tenant: Tenant,
  revocation: Revocation,
  records: Records,
): Promise<Outcome> {
  return records.writeUnlessRefused(db, {
    tenant,
    at: revocation.at,
    fact: revocationOf(tenant, revocation),
    locks: [[ownDelegation, []]],
    turn: `quota ${revocation.rootIds[0]}`,
  });
}
