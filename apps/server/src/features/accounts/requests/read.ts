import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { firstIdAt } from '../../../platform/ids.ts';
import { byId, mustBeSpan, pageOf } from '../../../platform/paging.ts';
import type { FailureBuffer } from './buffer.ts';
import {
  deleteFailuresBeforeAcrossTenants,
  type FoundFailure,
  findFailure,
  groupFailures,
  hasUnrecorded,
  listFailures,
} from './requests.repo.ts';
import { hourOf, keptSince } from './requests.rules.ts';
import type {
  FailedRequest,
  FailedRequestGroups,
  FailedRequestPage,
  FailedRequestQuery,
} from './requests.schema.ts';

export interface FailureDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly buffer: FailureBuffer;
}

const PREFIX = 'freq';

/** The failed requests of 72 hours, newest first. Those of this process are there at once. */
export async function listFailedRequests(
  { db, clock, buffer }: FailureDeps,
  { tenant }: Caller,
  { since, until, cursor, limit, ...filter }: FailedRequestQuery,
): Promise<FailedRequestPage> {
  mustBeSpan({ ...(since && { since }), ...(until && { until }) });
  await buffer.flush();
  const kept = keptSince(clock());
  const first = since && new Date(since) > kept ? new Date(since) : kept;
  const end = firstIdAt(PREFIX, until ? new Date(until) : LAST);
  const { code = null, operationId = null, status = null, keyId = null, agentId = null } = filter;
  const rows = await listFailures(db, tenant, limit, {
    after: firstIdAt(PREFIX, first),
    before: cursor && cursor < end ? cursor : end,
    ...{ code, operationId, status, keyId, agentId },
  });
  const { page, nextCursor } = pageOf(rows, byId, toFailedRequest);
  return { requests: page, nextCursor, truncated: await hasUnrecorded(db, tenant, hourOf(kept)) };
}

const LAST = new Date('9999-12-31T23:59:59Z');

/** The latest failed request with this id. @throws NOT_FOUND */
export async function getFailedRequest(
  { db, clock, buffer }: FailureDeps,
  { tenant }: Caller,
  requestId: string,
): Promise<FailedRequest> {
  await buffer.flush();
  const found = await findFailure(db, tenant, requestId);
  if (!found || found.at < keptSince(clock())) throw notFound();
  return toFailedRequest(found);
}

const MAX_GROUPS = 200;

/** By code and operation, with all that were counted. */
export async function groupFailedRequests(
  { db, clock, buffer }: FailureDeps,
  { tenant }: Caller,
): Promise<FailedRequestGroups> {
  await buffer.flush();
  const since = hourOf(keptSince(clock()));
  const groups = await groupFailures(db, tenant, since, MAX_GROUPS);
  return {
    since: since.toISOString(),
    groups: groups.map(({ count, lastAt, ...group }) => ({
      ...group,
      count: Number(count),
      lastAt: lastAt.toISOString(),
    })),
    truncated: await hasUnrecorded(db, tenant, since),
  };
}

const toFailedRequest = ({ at, ...found }: FoundFailure): FailedRequest => ({
  ...found,
  at: at.toISOString(),
});

const BATCH = 1000;

export async function deleteOldFailures(
  { db, clock }: Pick<FailureDeps, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = hourOf(keptSince(clock()));
  const deleteSome = () => inTransaction(db, (tx) => deleteFailuresBeforeAcrossTenants(tx, before, BATCH));
  while (!signal.aborted && (await deleteSome()) === BATCH);
}
