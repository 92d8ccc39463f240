import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Plan, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { Developers } from '../../../platform/db/types.gen.ts';
import { AppError } from '../../../platform/errors.ts';
import type { DeveloperListQuery } from './developers.schema.ts';

export type DeveloperRow = Selectable<Developers>;

export function insertDeveloper(tx: Tx, developer: Insertable<Developers>): Promise<DeveloperRow> {
  return tx.insertInto('developers').values(developer).returningAll().executeTakeFirstOrThrow();
}

export function getDeveloperRow(db: Executor, { developerId }: Tenant): Promise<DeveloperRow> {
  return db.selectFrom('developers').selectAll().where('id', '=', developerId).executeTakeFirstOrThrow();
}

/** Locks out other changes of the developer, but not inserts of rows that refer to it. */
function lockDeveloper(tx: Tx, { developerId }: Tenant): Promise<DeveloperRow> {
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

/** A statement for each: the account's row, which the caller has locked, has the hash. */
export async function putLogo(tx: Tx, { developerId }: Tenant, png: Buffer): Promise<void> {
  await tx
    .insertInto('logos')
    .values({ developerId, png })
    .onConflict((conflict) => conflict.column('developerId').doUpdateSet({ png }))
    .execute();
}

export async function deleteLogo(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.deleteFrom('logos').where('developerId', '=', developerId).execute();
}

/** The picture with this hash, while the account shows it. */
export function findLogo(db: Executor, { developerId }: Tenant, logoHash: string) {
  return db
    .selectFrom('logos')
    .innerJoin('developers', 'developers.id', 'logos.developerId')
    .select('logos.png')
    .where('logos.developerId', '=', developerId)
    .where('developers.logoHash', '=', logoHash)
    .where('developers.closedAt', 'is', null)
    .executeTakeFirst();
}

/** Counts the members who may do everything. */
export async function countOwners(tx: Tx, { developerId }: Tenant): Promise<number> {
  const counted = await tx
    .selectFrom('members')
    .where('developerId', '=', developerId)
    .where('role', '=', 'owner')
    .where('status', '=', 'active')
    .select(({ fn }) => fn.countAll<string>().as('owners'))
    .executeTakeFirstOrThrow();
  return Number(counted.owners);
}

/** Erases rows of a closed account. */
export const eraseLogos = eraserOf('logos');

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

/** Locks out other changes of the account until the commit. @returns undefined when it was closed */
export async function lockAccount(tx: Tx, tenant: Tenant): Promise<DeveloperRow | undefined> {
  const row = await lockDeveloper(tx, tenant);
  return row.closedAt ? undefined : row;
}

/** As `lockAccount`. @throws UNAUTHORIZED when another call closed the account meanwhile, and the key with it */
export async function lockOpenAccount(tx: Tx, tenant: Tenant): Promise<DeveloperRow> {
  const row = await lockAccount(tx, tenant);
  if (!row) throw new AppError('UNAUTHORIZED', 'This account was closed.');
  return row;
}

/** The caller has made sure that no other account has the address, and records the act. */
export async function setVerifiedEmail(tx: Tx, tenant: Tenant, email: string, at: Date): Promise<void> {
  await updateDeveloper(tx, tenant, { email, emailVerified: true, updatedAt: at });
}

/** The caller records the act, and publishes the change after the commit. */
export async function setPlan(tx: Tx, tenant: Tenant, plan: Plan, at: Date): Promise<void> {
  await updateDeveloper(tx, tenant, { plan, updatedAt: at });
}
