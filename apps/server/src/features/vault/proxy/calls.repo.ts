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

/** The longest that a call may take: the upper bound of VAULT_PROXY_STREAM_SECONDS. One that a crash cut off counts so long. */
const LONGEST_MS = 3_600_000;

/** A call ends with its grant, and with each one above it, of which a delegated grant is a part. */
const running = lookUp<{ readonly count: number }, [string, Date, string, string, string]>(
  'count_running_proxy_calls',
  `with recursive newest as (
     select id, grant_id, outcome, created_at from vault_proxy_calls where developer_id = $1
     order by id desc limit 1000
   ), above as (
     select c.id, c.grant_id from newest c where c.outcome is null and c.created_at > $2
     union
     select above.id, parent.grant_id from above cross join lateral (
       select g.parent_grant_id as grant_id from grants g
       where g.developer_id = $1 and g.id = above.grant_id and g.parent_grant_id is not null offset 0) parent
   )
   select count(distinct above.id)::int as count from above cross join lateral (
     select g.id, g.agent_id, g.principal_id from grants g
     where g.developer_id = $1 and g.id = above.grant_id offset 0) g
   where ($3 = '' or g.agent_id = $3) and ($4 = '' or g.principal_id = $4) and ($5 = '' or g.id = $5)`,
);

type Subject = Readonly<Partial<Record<'agentId' | 'principalId' | 'grantId', string>>>;

/** Counts the calls under way. @param subject with no member, those of the account */
export async function countRunning(
  db: Executor,
  { developerId }: Tenant,
  { agentId = '', principalId = '', grantId = '' }: Subject,
  at: Date,
): Promise<number> {
  const since = new Date(at.getTime() - LONGEST_MS);
  return (await running(db, developerId, since, agentId, principalId, grantId))[0]?.count ?? 0;
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
