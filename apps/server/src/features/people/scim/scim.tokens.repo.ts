import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { ScimTokens } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import type { ScimTokenQuery } from './scim.tokens.schema.ts';

export type ScimTokenRow = Selectable<ScimTokens>;

type NewRow = Omit<ScimTokenRow, 'developerId'> & { readonly hash: Buffer };

export async function insertToken(tx: Tx, { developerId }: Tenant, { hash, ...token }: NewRow) {
  const row = await tx
    .insertInto('scimTokens')
    .values({ ...token, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx.insertInto('scimTokenIndex').values({ hash, developerId, tokenId: token.id }).execute();
  return row;
}

/** The token with its developer, whom it names. */
export function findTokenAcrossTenants(db: Executor, hash: Buffer, at: Date) {
  return db
    .selectFrom('scimTokenIndex as index')
    .innerJoin('scimTokens as token', (join) =>
      join.onRef('token.developerId', '=', 'index.developerId').onRef('token.id', '=', 'index.tokenId'),
    )
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'token.developerId')
    .select(['index.hash', 'token.id', 'token.developerId', 'token.lastUsedAt'])
    .select(['developer.mode', 'developer.plan'])
    .where('index.hash', '=', hash)
    .where(({ eb, or }) => or([eb('token.expiresAt', 'is', null), eb('token.expiresAt', '>', at)]))
    .executeTakeFirst();
}

/** Needs no transaction, because it is one statement whose loss harms nobody. */
export async function noteUse(db: Executor, { developerId }: Tenant, id: string, at: Date): Promise<void> {
  await db
    .updateTable('scimTokens')
    .set({ lastUsedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** Newest first. */
export function listTokenRows(db: Executor, { developerId }: Tenant, { cursor, limit }: ScimTokenQuery) {
  const all = db.selectFrom('scimTokens').selectAll().where('developerId', '=', developerId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage<ScimTokenRow>(db, page.orderBy('id', 'desc'), limit);
}

/** How many tokens live. The caller holds `lockDirectory`. */
export async function countLiveTokens(tx: Tx, { developerId }: Tenant, at: Date): Promise<number> {
  const rows = await tx
    .selectFrom('scimTokens')
    .select('id')
    .where('developerId', '=', developerId)
    .where(({ eb, or }) => or([eb('expiresAt', 'is', null), eb('expiresAt', '>', at)]))
    .execute();
  return rows.length;
}

/** @returns undefined when there is no such token */
export async function deleteTokenRow(tx: Tx, { developerId }: Tenant, id: string) {
  await tx
    .deleteFrom('scimTokenIndex')
    .where('developerId', '=', developerId)
    .where('tokenId', '=', id)
    .execute();
  return tx
    .deleteFrom('scimTokens')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export const listTokenIds = async (tx: Tx, { developerId }: Tenant): Promise<string[]> => {
  const rows = await tx
    .selectFrom('scimTokens')
    .select('id')
    .where('developerId', '=', developerId)
    .execute();
  return rows.map(({ id }) => id);
};
