import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { tellerOf } from '../../../platform/db/personal-records.ts';
import type { LegalHolds } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import type { HoldQuery } from './holds.schema.ts';

export type HoldRow = Selectable<LegalHolds>;

/** Holds are placed while no close of the account is under way, and the other way round. */
export async function lockHolds(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`holds:${developerId}`}, 0))`.execute(tx);
}

const standing = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('legalHolds').where('developerId', '=', developerId).where('releasedAt', 'is', null);

/** @param principalId counts those about this person and those about nobody; null counts all */
export async function countStandingHolds(
  db: Executor,
  tenant: Tenant,
  principalId: string | null = null,
): Promise<number> {
  const all = standing(db, tenant);
  const some =
    principalId === null
      ? all
      : all.where((eb) => eb.or([eb('principalId', 'is', null), eb('principalId', '=', principalId)]));
  const { total } = await some
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

export async function isOpenAccount(db: Executor, tenant: Tenant): Promise<boolean> {
  const account = await db
    .selectFrom(developersAcrossTenants(db))
    .select('developer.closedAt')
    .where('developer.developerId', '=', tenant.developerId)
    .executeTakeFirst();
  return account?.closedAt === null;
}

export function insertHold(tx: Tx, row: HoldRow): Promise<HoldRow> {
  return tx.insertInto('legalHolds').values(row).returningAll().executeTakeFirstOrThrow();
}

/** @returns the hold as it is now; undefined if there is none */
export const findHold = (db: Executor, { developerId }: Tenant, id: string): Promise<HoldRow | undefined> =>
  db
    .selectFrom('legalHolds')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();

export async function releaseHoldRow(tx: Tx, { developerId }: Tenant, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('legalHolds')
    .set({ releasedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** The newest first. */
export function listHoldRows(db: Executor, tenant: Tenant, { cursor, limit, standing: only }: HoldQuery) {
  const { developerId } = tenant;
  let rows = only
    ? standing(db, tenant).selectAll()
    : db.selectFrom('legalHolds').selectAll().where('developerId', '=', developerId);
  if (cursor) rows = rows.where('id', '<', cursor);
  return readPage<HoldRow>(db, rows.orderBy('id', 'desc'), limit);
}

/** Erases rows of a closed account. */
export const eraseHolds = eraserOf('legal_holds');

export const tellHolds = tellerOf('legal_hold', 'legal_holds', ['name', 'created_at', 'released_at']);
