import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { CustomDomains } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../developers/developers.queries.ts';
import type { DomainRow } from './domains.rules.ts';
import type { DomainQuery } from './domains.schema.ts';

type NewRow = DomainRow & { readonly missingSince: Date | null };

/** @returns whether the developer had no such domain */
export async function insertDomain(tx: Tx, { developerId }: Tenant, row: NewRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('customDomains')
    .values({ ...row, developerId })
    .onConflict((conflict) => conflict.columns(['developerId', 'domain']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

const domains = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('customDomains').selectAll().where('developerId', '=', developerId);

export const listDomainIds = async (tx: Tx, tenant: Tenant): Promise<string[]> =>
  (await domains(tx, tenant).clearSelect().select('id').orderBy('id').execute()).map(({ id }) => id);

export const findDomain = (db: Executor, tenant: Tenant, id: string) =>
  domains(db, tenant).where('id', '=', id).executeTakeFirst();

/** Locks the row, so that a check and a deletion take turns. */
export const lockDomain = (tx: Tx, { developerId }: Tenant, id: string) =>
  tx
    .selectFrom('customDomains')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Newest first. */
export function listDomainRows(db: Executor, tenant: Tenant, { cursor, limit }: DomainQuery) {
  const all = domains(db, tenant);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage<DomainRow>(db, page.orderBy('id', 'desc'), limit);
}

type Change = Partial<
  Pick<Selectable<CustomDomains>, 'status' | 'verifiedAt' | 'lastCheckedAt' | 'missingSince'>
>;

export async function updateDomain(tx: Tx, { developerId }: Tenant, id: string, change: Change) {
  await tx
    .updateTable('customDomains')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** Its entry among the verified domains goes first. */
export async function deleteDomainRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await releaseDomain(tx, { developerId }, id);
  await tx.deleteFrom('customDomains').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** The registration that holds a domain, with what a job needs of its developer. */
export function findHolderAcrossTenants(db: Executor, domain: string) {
  return db
    .selectFrom('verifiedDomains as held')
    .innerJoin('customDomains as own', (join) =>
      join.onRef('own.developerId', '=', 'held.developerId').onRef('own.id', '=', 'held.domainId'),
    )
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'held.developerId')
    .selectAll('own')
    .select(['developer.mode', 'developer.plan'])
    .where('held.domain', '=', domain)
    .executeTakeFirst();
}

/** Waits for another claim of the domain. @returns whether no other registration holds it */
export async function claimDomain(tx: Tx, { developerId }: Tenant, domainId: string, domain: string) {
  await tx
    .insertInto('verifiedDomains')
    .values({ domain, developerId, domainId })
    .onConflict((conflict) => conflict.column('domain').doNothing())
    .execute();
  const own = tx.selectFrom('verifiedDomains').select('domain').where('developerId', '=', developerId);
  return (await own.where('domainId', '=', domainId).executeTakeFirst()) !== undefined;
}

export async function releaseDomain(tx: Tx, { developerId }: Tenant, domainId: string): Promise<void> {
  await tx
    .deleteFrom('verifiedDomains')
    .where('developerId', '=', developerId)
    .where('domainId', '=', domainId)
    .execute();
}

/** Verified domains that were not looked at since, the oldest check first. */
export function listUncheckedAcrossTenants(db: Executor, before: Date, limit: number) {
  return db
    .selectFrom('customDomains as own')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'own.developerId')
    .selectAll('own')
    .select(['developer.mode', 'developer.plan'])
    .where('own.status', '=', 'verified')
    .where('own.lastCheckedAt', '<=', before)
    .orderBy('own.lastCheckedAt')
    .limit(limit)
    .execute();
}

/** Domains that were registered before and never verified. */
export function listForgottenAcrossTenants(db: Executor, before: Date, limit: number) {
  return db
    .selectFrom('customDomains as own')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'own.developerId')
    .select(['own.id', 'own.developerId', 'own.domain', 'developer.mode', 'developer.plan'])
    .where('own.status', '=', 'pending')
    .where('own.createdAt', '<=', before)
    .orderBy('own.createdAt')
    .limit(limit)
    .execute();
}

/** Erases rows of a closed account. */
export const eraseDomains = eraserOf('verified_domains', 'custom_domains');
