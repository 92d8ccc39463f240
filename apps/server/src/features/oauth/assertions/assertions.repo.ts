import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { AssertionClients, AssertionGrants, AssertionTrusts } from '../../../platform/db/types.gen.ts';
import { agentsOf } from '../../accounts/agents/agents.queries.ts';
import { type StopReason, stopsOf } from './assertions.queries.ts';
import type { AssertionStopQuery, IdJagClientRuleQuery } from './assertions.schema.ts';

export type TrustRow = Selectable<AssertionTrusts>;
export type RuleRow = Selectable<AssertionClients>;

/** One rule for a client at each connection. */
export const RULE_KEY = 'assertion_clients_client';

export const findTrust = (db: Executor, { developerId }: Tenant, connectionId: string) =>
  db
    .selectFrom('assertionTrusts')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .executeTakeFirst();

/** Keeps a trust as it is until the commit. Tokens under it are written side by side. */
export const shareTrust = (
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
): Promise<TrustRow | undefined> =>
  tx
    .selectFrom('assertionTrusts')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .forShare()
    .executeTakeFirst();

export function putTrust(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<AssertionTrusts>, 'developerId'>,
): Promise<TrustRow> {
  const { createdAt: _, ...change } = row;
  return tx
    .insertInto('assertionTrusts')
    .values({ ...row, developerId })
    .onConflict((conflict) => conflict.columns(['developerId', 'connectionId']).doUpdateSet(change))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** @returns whether there was one */
export async function deleteTrust(tx: Tx, { developerId }: Tenant, connectionId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('assertionTrusts')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export const insertRule = (
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<AssertionClients>, 'developerId'>,
): Promise<RuleRow> =>
  tx
    .insertInto('assertionClients')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();

const rulesOf = (db: Executor, { developerId }: Tenant, connectionId: string) =>
  db
    .selectFrom('assertionClients')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId);

export const findRule = (
  db: Executor,
  tenant: Tenant,
  connectionId: string,
  id: string,
): Promise<RuleRow | undefined> => rulesOf(db, tenant, connectionId).where('id', '=', id).executeTakeFirst();

export const findRuleOfClient = (
  db: Executor,
  tenant: Tenant,
  connectionId: string,
  clientId: string,
): Promise<RuleRow | undefined> =>
  rulesOf(db, tenant, connectionId).where('clientId', '=', clientId).executeTakeFirst();

/** Newest first. */
export function listRuleRows(
  db: Executor,
  tenant: Tenant,
  connectionId: string,
  { cursor, limit }: IdJagClientRuleQuery,
) {
  const all = rulesOf(db, tenant, connectionId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** Keeps a rule as it is until the commit. Tokens under it are written one after another. */
export const lockRule = (tx: Tx, { developerId }: Tenant, id: string): Promise<RuleRow | undefined> =>
  tx
    .selectFrom('assertionClients')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Keeps a rule as it is until the commit. Tokens under it are written side by side. */
export const shareRule = (tx: Tx, { developerId }: Tenant, id: string): Promise<RuleRow | undefined> =>
  tx
    .selectFrom('assertionClients')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();

export const updateRule = (
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<AssertionClients>,
): Promise<RuleRow> =>
  tx
    .updateTable('assertionClients')
    .set({ ...change, version: sql<number>`version + 1` })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

export async function deleteRule(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx
    .deleteFrom('assertionClients')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

const MAX_SWEPT = 50;
const KEPT_MS = 120_000;

/**
 * Remembers an assertion until two minutes after its end, and forgets some of those that are older.
 * @returns whether it was not used before
 */
export async function useOnce(
  tx: Tx,
  { developerId }: Tenant,
  used: { readonly connectionId: string; readonly jti: string; readonly expiresAt: Date },
  now: Date,
): Promise<boolean> {
  await tx
    .deleteFrom('assertionUses')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', used.connectionId)
    .where('jti', 'in', (db) =>
      db
        .selectFrom('assertionUses')
        .select('jti')
        .where('developerId', '=', developerId)
        .where('connectionId', '=', used.connectionId)
        .where('expiresAt', '<', now)
        .limit(MAX_SWEPT)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
  const expiresAt = new Date(used.expiresAt.getTime() + KEPT_MS);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('assertionUses')
    .values({ ...used, expiresAt, developerId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Whether an agent of the tenant is an OAuth client. */
export async function isOAuthClient(
  db: Executor,
  { developerId }: Tenant,
  agentId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('oauthClients')
    .select('agentId')
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Erases rows of a closed account. */
export const eraseAssertions = eraserOf(
  'assertion_uses',
  'assertion_grants',
  'assertion_clients',
  'assertion_trusts',
);

export type AssertionGrantRow = Selectable<AssertionGrants>;
type GrantKey = Pick<AssertionGrantRow, 'connectionId' | 'agentId' | 'principalId' | 'audience'>;

/** The standing grant of a client for a person and an audience. */
export const findAssertionGrant = (
  db: Executor,
  { developerId }: Tenant,
  { connectionId, agentId, principalId, audience }: GrantKey,
): Promise<AssertionGrantRow | undefined> =>
  db
    .selectFrom('assertionGrants')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('agentId', '=', agentId)
    .where('principalId', '=', principalId)
    .where('audience', '=', audience)
    .executeTakeFirst();

export async function putAssertionGrant(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<AssertionGrants>, 'developerId'>,
): Promise<void> {
  const { grantId, ruleId, createdAt } = row;
  await tx
    .insertInto('assertionGrants')
    .values({ ...row, developerId })
    .onConflict((conflict) =>
      conflict
        .columns(['developerId', 'connectionId', 'agentId', 'principalId', 'audience'])
        .doUpdateSet({ grantId, ruleId, createdAt }),
    )
    .execute();
}

/** The grants that were made through a connection, or by one of its rules. */
export async function listAssertionGrantIds(
  db: Executor,
  { developerId }: Tenant,
  of: { readonly connectionId: string } | { readonly ruleId: string },
): Promise<string[]> {
  const all = db.selectFrom('assertionGrants').select('grantId').where('developerId', '=', developerId);
  const own =
    'ruleId' in of ? all.where('ruleId', '=', of.ruleId) : all.where('connectionId', '=', of.connectionId);
  return (await own.execute()).map(({ grantId }) => grantId);
}

const stops = (db: Executor, tenant: Tenant) =>
  stopsOf(db, tenant)
    .leftJoin(agentsOf(db, tenant), 'agent.agentId', 'standing.agentId')
    .select(['standing.id', 'standing.agentId', 'agent.agentName', 'standing.principalId'])
    .select(['standing.grantId', 'grant.revokedReason', 'grant.revokedAt']);

export interface StopRow {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string | null;
  readonly principalId: string;
  readonly grantId: string;
  readonly revokedReason: StopReason | string | null;
  readonly revokedAt: Date | null;
}

/** Newest first. @param principalId for the stops of one person only */
export function listStopRows(
  db: Executor,
  tenant: Tenant,
  { cursor, limit }: AssertionStopQuery,
  principalId?: string,
) {
  const every = stops(db, tenant);
  const all = principalId === undefined ? every : every.where('standing.principalId', '=', principalId);
  const page = cursor ? all.where('standing.id', '<', cursor) : all;
  return readPage(db, page.orderBy('standing.id', 'desc'), limit);
}

/** Whether somebody has ended what the agent had from the principal, at any connection and for any audience. */
export async function isStopped(
  db: Executor,
  tenant: Tenant,
  { agentId, principalId }: Pick<GrantKey, 'agentId' | 'principalId'>,
): Promise<boolean> {
  const found = await stops(db, tenant)
    .where('standing.agentId', '=', agentId)
    .where('standing.principalId', '=', principalId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Lifts a stop, with every other stop of the same agent and principal.
 * @param principalId the person who lifts it: a person lifts only what they have stopped
 * @returns whether there was one
 */
export async function deleteStop(tx: Tx, tenant: Tenant, id: string, principalId?: string): Promise<boolean> {
  const every = stops(tx, tenant);
  const liftable =
    principalId === undefined
      ? every
      : every.where('standing.principalId', '=', principalId).where('grant.revokedReason', '=', 'principal');
  const stop = await liftable.where('standing.id', '=', id).executeTakeFirst();
  if (!stop) return false;
  const all = await liftable
    .where('standing.agentId', '=', stop.agentId)
    .where('standing.principalId', '=', stop.principalId)
    .execute();
  await tx
    .deleteFrom('assertionGrants')
    .where('developerId', '=', tenant.developerId)
    .where(
      'id',
      'in',
      all.map((each) => each.id),
    )
    .execute();
  return true;
}
