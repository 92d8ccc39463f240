import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { SetupLinks } from '../../../platform/db/types.gen.ts';
import type { SetupLinkQuery } from './setup.schema.ts';

export type LinkRow = Selectable<SetupLinks>;

const linksOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('setupLinks').selectAll().where('developerId', '=', developerId);

/** Inserts a link, and deletes those of the developer that ended before `forgotten`. */
export function insertLink(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<SetupLinks>, 'developerId'>,
  forgotten: Date,
): Promise<LinkRow> {
  return tx
    .with('swept', (also) =>
      also
        .deleteFrom('setupLinks')
        .where('developerId', '=', developerId)
        .where('expiresAt', '<=', forgotten),
    )
    .insertInto('setupLinks')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** How many links can be opened, or are at work in a browser. */
export async function countRunning(tx: Tx, { developerId }: Tenant, now: Date): Promise<number> {
  const { running } = await tx
    .selectFrom('setupLinks')
    .select(({ fn }) => fn.countAll<string>().as('running'))
    .where('developerId', '=', developerId)
    .where('expiresAt', '>', now)
    .where('finishedAt', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(running);
}

/** Newest first. */
export function listLinkRows(db: Executor, tenant: Tenant, { cursor, limit }: SetupLinkQuery) {
  const all = linksOf(db, tenant);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** @returns the link that was there */
export function deleteLink(tx: Tx, { developerId }: Tenant, id: string): Promise<LinkRow | undefined> {
  return tx
    .deleteFrom('setupLinks')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** The secret of a link names it, and the link names its developer. */
export function findLinkAcrossTenants(db: Executor, id: string): Promise<LinkRow | undefined> {
  return db.selectFrom('setupLinks').selectAll().where('id', '=', id).executeTakeFirst();
}

export const lockLink = (tx: Tx, tenant: Tenant, id: string): Promise<LinkRow | undefined> =>
  tx
    .selectFrom('setupLinks')
    .selectAll()
    .where('developerId', '=', tenant.developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export async function updateLink(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<SetupLinks>,
): Promise<void> {
  await tx
    .updateTable('setupLinks')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** Ends the sessions of browsers that work on a connection. @returns their links, in the order of their ids */
export async function finishLinksOf(
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
  at: Date,
): Promise<Pick<LinkRow, 'id' | 'name'>[]> {
  const finished = await tx
    .updateTable('setupLinks')
    .set({ finishedAt: at, sessionHash: null })
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('sessionHash', 'is not', null)
    .returning(['id', 'name'])
    .execute();
  return finished.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Ends every link of an account. */
export async function deleteLinks(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.deleteFrom('setupLinks').where('developerId', '=', developerId).execute();
}

/** Erases rows of a closed account. */
export const eraseLinks = eraserOf('setup_links');
