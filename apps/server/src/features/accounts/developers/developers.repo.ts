import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { Developers } from '../../../platform/db/types.gen.ts';
import type { DeveloperListQuery } from './developers.schema.ts';

export type DeveloperRow = Selectable<Developers>;

export function insertDeveloper(tx: Tx, developer: Insertable<Developers>): Promise<DeveloperRow> {
  return tx.insertInto('developers').values(developer).returningAll().executeTakeFirstOrThrow();
}

export function getDeveloperRow(db: Executor, { developerId }: Tenant): Promise<DeveloperRow> {
  return db.selectFrom('developers').selectAll().where('id', '=', developerId).executeTakeFirstOrThrow();
}

/** Locks out other changes of the developer, but not inserts of rows that refer to it. */
export function lockDeveloper(tx: Tx, { developerId }: Tenant): Promise<DeveloperRow> {
  return tx
    .selectFrom('developers')
    .selectAll()
    .where('id', '=', developerId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/** Takes turns with every write that agents of the account cause, before any row is locked. */
export async function lockRunning(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select lock_account(${developerId})`.execute(tx);
}

export function updateDeveloper(tx: Tx, { developerId }: Tenant, change: Updateable<Developers>) {
  return tx
    .updateTable('developers')
    .set(change)
    .where('id', '=', developerId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Accounts whose rows are to be erased, the longest closed first. */
export function listClosedAcrossTenants(db: Executor, before: Date, limit: number) {
  return db
    .selectFrom('developers')
    .select('id as developerId')
    .where('closedAt', '<=', before)
    .orderBy('closedAt')
    .limit(limit)
    .execute();
}

export async function deleteClosedDeveloper(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.deleteFrom('developers').where('id', '=', developerId).where('closedAt', 'is not', null).execute();
}

/** Instances that start at once seed one after the other. Start-up knows no tenant yet. */
export async function lockSeedingAcrossTenants(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('seed', 0))`.execute(tx);
}

export function findSeededAcrossTenants(tx: Tx, mode: 'live' | 'sandbox') {
  return tx
    .selectFrom('developers')
    .selectAll()
    .where('mode', '=', mode)
    .where('isSeeded', '=', true)
    .executeTakeFirst();
}

/** Newest first, closed accounts too. The operator belongs to no tenant. */
export function listDevelopersAcrossTenants(db: Executor, { cursor, limit }: DeveloperListQuery) {
  const all = db.selectFrom('developers').select(['id', 'name', 'email', 'mode', 'createdAt']);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** Counts of accounts that are not closed. */
export async function countDevelopersAcrossTenants(db: Executor, now: Date) {
  const since = (days: number) => {
    const from = new Date(now.getTime() - days * 86_400_000);
    return sql<string>`count(*) filter (where created_at > ${from})`;
  };
  const counted = await db
    .selectFrom('developers')
    .where('closedAt', 'is', null)
    .select(({ fn }) => fn.countAll<string>().as('all'))
    .select([since(1).as('day'), since(7).as('week'), since(30).as('month')])
    .select(sql<string>`count(*) filter (where mode = 'sandbox')`.as('sandbox'))
    .executeTakeFirstOrThrow();
  const { all, day, week, month, sandbox } = counted;
  return {
    ...{ all: Number(all), day: Number(day), week: Number(week), month: Number(month) },
    sandbox: Number(sandbox),
  };
}
