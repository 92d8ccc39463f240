import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { lookUpPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';
import type { Refusal } from '../../../platform/refusals.ts';

/** A refused request. Times are of ISO 8601. */
export interface FailureRow extends Refusal {
  readonly developerId: string;
  readonly id: string;
  readonly at: string;
}

/** Refusals of an hour with one code, by one operation. */
export interface FailureCount {
  readonly developerId: string;
  readonly hour: string;
  readonly code: string;
  readonly operationId: string;
  readonly count: number;
  /** Those of them that have rows of their own. */
  readonly recorded: number;
  readonly lastAt: string;
  readonly lastRequestId: string;
}

const adding = statement<never, [rows: string, counts: string]>(
  'add_failed_requests',
  `with added as (
     insert into failed_requests (developer_id, id, request_id, at, operation_id, method, route, status, code, sub_reason,
       agent_id, key_id, duration_ms)
     select "developerId", id, "requestId", at, "operationId", method, route, status, code, "subReason", "agentId", "keyId",
       "durationMs"
     from jsonb_to_recordset($1::jsonb) as row ("developerId" text, id text, "requestId" text, at timestamptz,
       "operationId" text, method text, route text, status smallint, code text, "subReason" text, "agentId" text,
       "keyId" text, "durationMs" integer)
   )
   insert into failed_request_counts as known (developer_id, hour, code, operation_id, count, recorded, last_at,
     last_request_id)
   select "developerId", hour, code, "operationId", count, recorded, "lastAt", "lastRequestId"
   from jsonb_to_recordset($2::jsonb) as counted ("developerId" text, hour timestamptz, code text, "operationId" text,
     count bigint, recorded bigint, "lastAt" timestamptz, "lastRequestId" text)
   order by "developerId", hour, code, "operationId"
   on conflict (developer_id, hour, code, operation_id) do update set
     count = known.count + excluded.count,
     recorded = known.recorded + excluded.recorded,
     last_request_id = case when excluded.last_at >= known.last_at then excluded.last_request_id
       else known.last_request_id end,
     last_at = greatest(known.last_at, excluded.last_at)`,
);

/** Counts are added in the order of their keys, so that two processes do not wait in a circle. */
export async function addFailuresAcrossTenants(
  db: Executor,
  rows: readonly FailureRow[],
  counts: readonly FailureCount[],
): Promise<void> {
  await adding(db, JSON.stringify(rows), JSON.stringify(counts));
}

export interface FoundFailure extends Refusal {
  readonly id: string;
  readonly at: Date;
}

const COLUMNS = `id, request_id as "requestId", at, operation_id as "operationId", method, route, status, code,
  sub_reason as "subReason", agent_id as "agentId", key_id as "keyId", duration_ms as "durationMs"`;
const LARGEST = 1024; // bytes of a row in an answer

/** Filters of a list; null where there is none. */
export interface FailureFilter {
  readonly after: string;
  readonly before: string;
  readonly code: string | null;
  readonly operationId: string | null;
  readonly status: number | null;
  readonly keyId: string | null;
  readonly agentId: string | null;
}

type FilterValues = [
  after: string,
  before: string,
  code: string | null,
  operationId: string | null,
  status: number | null,
  keyId: string | null,
  agentId: string | null,
];

const page = lookUpPage<FoundFailure, FilterValues>(
  'list_failed_requests',
  LARGEST,
  `select ${COLUMNS} from failed_requests
   where developer_id = $1 and id > $3 and id < $4 and ($5::text is null or code = $5)
     and ($6::text is null or operation_id = $6) and ($7::int is null or status = $7)
     and ($8::text is null or key_id = $8) and ($9::text is null or agent_id = $9)
   order by id desc limit $2`,
);

/** Newest first. */
export const listFailures = (
  db: Executor,
  tenant: Tenant,
  limit: number,
  { after, before, code, operationId, status, keyId, agentId }: FailureFilter,
) => page(db, tenant, limit, after, before, code, operationId, status, keyId, agentId);

const byRequest = lookUp<FoundFailure, [developerId: string, requestId: string]>(
  'find_failed_request',
  `select ${COLUMNS} from failed_requests where developer_id = $1 and request_id = $2 order by id desc limit 1`,
);

/** The latest with this request id, which a client may send twice. */
export async function findFailure(
  db: Executor,
  { developerId }: Tenant,
  requestId: string,
): Promise<FoundFailure | undefined> {
  return (await byRequest(db, developerId, requestId))[0];
}

interface FailureGroup {
  readonly code: string;
  readonly operationId: string;
  readonly count: string;
  readonly lastAt: Date;
  readonly lastRequestId: string;
}

const grouped = lookUp<FailureGroup, [developerId: string, since: Date, most: number]>(
  'group_failed_requests',
  `select code, operation_id as "operationId", sum(count)::text as count, max(last_at) as "lastAt",
     (array_agg(last_request_id order by last_at desc))[1] as "lastRequestId"
   from failed_request_counts where developer_id = $1 and hour >= $2
   group by code, operation_id order by sum(count) desc, code, operation_id limit $3`,
);

export const groupFailures = (db: Executor, { developerId }: Tenant, since: Date, most: number) =>
  grouped(db, developerId, since, most);

const uncovered = lookUp<{ readonly truncated: boolean }, [developerId: string, since: Date]>(
  'has_unrecorded_failures',
  `select exists (select from failed_request_counts where developer_id = $1 and hour >= $2 and count > recorded)
     as truncated`,
);

/** Whether some are only counted. */
export async function hasUnrecorded(db: Executor, { developerId }: Tenant, since: Date): Promise<boolean> {
  return (await uncovered(db, developerId, since))[0]?.truncated ?? false;
}

/** @returns how many rows it deleted of the table of which it deleted more */
export async function deleteFailuresBeforeAcrossTenants(
  tx: Tx,
  before: Date,
  limit: number,
): Promise<number> {
  const rows = await sql`
    delete from failed_requests where (developer_id, id) in
      (select developer_id, id from failed_requests where at < ${before} order by at limit ${limit})`.execute(
    tx,
  );
  const counts = await sql`
    delete from failed_request_counts where (developer_id, hour, code, operation_id) in
      (select developer_id, hour, code, operation_id from failed_request_counts where hour < ${before} order by hour
        limit ${limit})`.execute(tx);
  return Math.max(Number(rows.numAffectedRows ?? 0n), Number(counts.numAffectedRows ?? 0n));
}

/** Erases rows of a closed account. */
export const eraseFailures = eraserOf('failed_requests', 'failed_request_counts');
