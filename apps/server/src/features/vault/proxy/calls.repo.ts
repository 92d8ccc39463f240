import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hotCall, type Records } from '../../../platform/db/hot-writes.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { VaultProxyCalls } from '../../../platform/db/types.gen.ts';

export type CallRow = Selectable<VaultProxyCalls>;

/** A call that is about to be sent. */
export interface WrittenCall {
  readonly callId: string;
  readonly tokenId: string;
  readonly agentId: string;
  readonly grantId: string;
  readonly credentialId: string;
  readonly credentialVersion: string;
  readonly service: string;
  readonly profileVersion: number;
  readonly upstream: string;
  readonly method: string;
  readonly rule: string;
  readonly tool?: string;
}

export type CallRefusal = 'token_ended' | 'changed' | null;

/** A hot write. @returns the reason when nothing was written, else null */
export function writeCall(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { call, records }: { readonly call: WrittenCall; readonly records: Records },
): Promise<CallRefusal> {
  const fact = hotCall('write_vault_proxy_call', { ...call });
  return records.writeUnlessRefused(db, { tenant, at, fact, turn: `vault call ${call.callId}` });
}

const liveToken = lookUp<{ readonly isLive: boolean }, [developerId: string, tokenId: string, at: Date]>(
  'is_proxy_token_live',
  'select is_proxy_token_live($1, $2, $3) as "isLive"',
);

export async function isTokenLive(
  db: Executor,
  { developerId }: Tenant,
  tokenId: string,
  at: Date,
): Promise<boolean> {
  return (await liveToken(db, developerId, tokenId, at))[0]?.isLive ?? false;
}

/** The end of a call. */
export interface CallEnd {
  readonly status: number | null;
  readonly outcome: string;
  readonly responseBytes: number;
  readonly durationMs: number;
}

export async function setCallEnd(
  db: Executor,
  { developerId }: Tenant,
  callId: string,
  end: CallEnd,
): Promise<void> {
  await db
    .updateTable('vaultProxyCalls')
    .set(end)
    .where('developerId', '=', developerId)
    .where('id', '=', callId)
    .execute();
}

interface Filter {
  readonly service?: string;
  readonly agentId?: string;
  readonly grantId?: string;
  readonly outcome?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/** Newest first: ids begin with the time. */
export function listCallRows(db: Executor, { developerId }: Tenant, filter: Filter) {
  const { service, agentId, grantId, outcome, cursor, limit } = filter;
  let some = db.selectFrom('vaultProxyCalls').selectAll().where('developerId', '=', developerId);
  if (service !== undefined) some = some.where('service', '=', service);
  if (agentId !== undefined) some = some.where('agentId', '=', agentId);
  if (grantId !== undefined) some = some.where('grantId', '=', grantId);
  if (outcome !== undefined) some = some.where('outcome', '=', outcome);
  if (cursor !== undefined) some = some.where('id', '<', cursor);
  return readPage(db, some.orderBy('id', 'desc'), limit);
}

/** Deletes a batch of calls from before this time. @returns how many */
export async function deleteOldProxyCallsAcrossTenants(
  db: Executor,
  before: Date,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('vaultProxyCalls')
    .where('createdAt', '<', before)
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('developerId', 'id'),
        'in',
        selectFrom('vaultProxyCalls')
          .select(['developerId', 'id'])
          .where('createdAt', '<', before)
          .orderBy('createdAt')
          .limit(limit)
          .$asTuple('developerId', 'id'),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Erases rows of a closed account. */
export const eraseProxy = eraserOf('vault_proxy_calls', 'vault_proxy_profiles');
