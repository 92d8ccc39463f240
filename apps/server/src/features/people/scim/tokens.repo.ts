import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { ScimTokens } from '../../../platform/db/types.gen.ts';
import type { ScimTokenQuery } from './scim.schema.ts';

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

interface HeldToken {
  readonly hash: Buffer;
  readonly id: string;
  readonly developerId: string;
  readonly lastUsedAt: Date | null;
}

const held = lookUp<HeldToken, [hash: Buffer, at: Date]>(
  'scim_token',
  `select i.hash, t.id, t.developer_id as "developerId", t.last_used_at as "lastUsedAt"
   from scim_token_index i
     join scim_tokens t on t.developer_id = i.developer_id and t.id = i.token_id
   where i.hash = $1 and (t.expires_at is null or t.expires_at > $2)`,
);

/** The token, which names its developer. */
export async function findTokenAcrossTenants(db: Executor, hash: Buffer, at: Date) {
  return (await held(db, hash, at))[0];
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

/** How many tokens live. The caller holds `lockPeople`. */
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
