import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { AssertionClients, AssertionTrusts } from '../../../platform/db/types.gen.ts';
import type { RuleQuery } from './assertions.schema.ts';

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
  { cursor, limit }: RuleQuery,
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

const MOST_SWEPT = 50;
const KEPT_MS = 120_000;

/**
 * Remembers an assertion until two minutes after its end, and forgets some of those that are older.
 * @returns whether nobody has used it before
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
        .limit(MOST_SWEPT)
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
