import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { MemberRole } from '../../../platform/capabilities.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { Changes } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../developers/developers.queries.ts';
import type { ChangeQuery } from './changes.schema.ts';

export type ChangeRow = Selectable<Changes>;

const changesOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('changes').selectAll().where('developerId', '=', developerId);

/** Written out, for its index. */
const IS_OPEN = sql<boolean>`status = 'open'`;

export const findChange = (db: Executor, tenant: Tenant, id: string): Promise<ChangeRow | undefined> =>
  changesOf(db, tenant).where('id', '=', id).executeTakeFirst();

export const lockChange = (tx: Tx, { developerId }: Tenant, id: string): Promise<ChangeRow | undefined> =>
  tx
    .selectFrom('changes')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** The newest first. */
export function listChangeRows(db: Executor, tenant: Tenant, { cursor, limit }: ChangeQuery) {
  const all = changesOf(db, tenant);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** The open ones that have not run out, the newest first. */
export const listOpenChanges = (
  db: Executor,
  tenant: Tenant,
  at: Date,
  limit: number,
): Promise<ChangeRow[]> =>
  changesOf(db, tenant)
    .where(IS_OPEN)
    .where('expiresAt', '>', at)
    .orderBy('expiresAt', 'desc')
    .limit(limit)
    .execute();

export function insertChange(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<Changes>, 'developerId'>,
): Promise<ChangeRow> {
  return tx
    .insertInto('changes')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function updateChange(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<Changes>,
): Promise<ChangeRow> {
  return tx
    .updateTable('changes')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Open changes that have run out, the longest ago first. */
export function listExpiredAcrossTenants(db: Executor, at: Date, limit: number) {
  return db
    .selectFrom('changes as change')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'change.developerId')
    .select(['change.developerId', 'change.id', 'developer.mode', 'developer.plan'])
    .where(sql<boolean>`change.status = 'open' and change.needed > 0`) // as its index says
    .where('change.expiresAt', '<=', at)
    .orderBy('change.expiresAt')
    .limit(limit)
    .execute();
}

/** Deletes changes that were decided before a time. @returns how many */
export async function deleteDecidedAcrossTenants(db: Executor, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from changes where (developer_id, id) in (
      select developer_id, id from changes
      where status <> 'open' and decided_at <= ${before} order by decided_at limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** The role of an active member. */
export async function findActiveRole(
  tx: Tx,
  { developerId }: Tenant,
  memberId: string,
): Promise<MemberRole | undefined> {
  const found = await tx
    .selectFrom('members')
    .select('role')
    .where('developerId', '=', developerId)
    .where('id', '=', memberId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  return found?.role;
}

/** Whether an API key still works, and has the role that changes need. */
export async function isFullKey(tx: Tx, { developerId }: Tenant, keyId: string, at: Date): Promise<boolean> {
  const found = await tx
    .selectFrom('apiKeys')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', keyId)
    .where('role', '=', 'full')
    .where('revokedAt', 'is', null)
    .where((where) => where.or([where('expiresAt', 'is', null), where('expiresAt', '>', at)]))
    .executeTakeFirst();
  return found !== undefined;
}

/** Erases rows of a closed account. */
export const eraseChanges = eraserOf('changes');
