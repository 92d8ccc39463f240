import type { Selectable } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { WalletAuthorizations } from '../../../platform/db/types.gen.ts';
import { grantEndsOf } from '../../grants/grants/grants.queries.ts';
import type { AuthorizationQuery } from './wallet-authorizations.schema.ts';

export async function insertAuthorization(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Selectable<WalletAuthorizations>, 'developerId'>,
): Promise<void> {
  await tx
    .insertInto('walletAuthorizations')
    .values({ ...row, developerId })
    .execute();
}

/** Each with the status of its grant. */
const authorizationsOf = (db: Executor, { tenant, agentIds }: Reach) => {
  const all = db
    .selectFrom('walletAuthorizations as wallet')
    .innerJoin(grantEndsOf(db, tenant), 'grant.grantId', 'wallet.grantId')
    .selectAll('wallet')
    .select('grant.grantStatus')
    .where('wallet.developerId', '=', tenant.developerId);
  return agentIds ? all.where('wallet.agentId', 'in', agentIds) : all;
};

export type AuthorizationRow = NonNullable<Awaited<ReturnType<typeof findAuthorization>>>;

export const findAuthorization = (db: Executor, reach: Reach, id: string) =>
  authorizationsOf(db, reach).where('wallet.id', '=', id).executeTakeFirst();

/** The newest first. */
export function listAuthorizationRows(
  db: Executor,
  reach: Reach,
  { cursor, limit, grantId }: AuthorizationQuery,
) {
  let rows = authorizationsOf(db, reach);
  if (grantId) rows = rows.where('wallet.grantId', '=', grantId);
  if (cursor) rows = rows.where('wallet.id', '<', cursor);
  return readPage<AuthorizationRow>(db, rows.orderBy('wallet.id', 'desc'), limit);
}

/** Ends an authorization that is neither used nor revoked. @returns whether this call did */
export async function endAuthorization(
  tx: Tx,
  { developerId }: Tenant,
  { id, by }: { readonly id: string; readonly by: 'consumedAt' | 'revokedAt' },
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('walletAuthorizations')
    .set({ [by]: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('consumedAt', 'is', null)
    .where('revokedAt', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export const eraseAuthorizations = eraserOf('wallet_authorizations');

/** Without the signed text. */
export const tellAuthorizations = exportOf('wallet_authorization', 'wallet_authorizations', [
  ...['grant_id', 'agent_id', 'agent_did', 'issued_at', 'expires_at', 'consumed_at', 'revoked_at'],
]);
