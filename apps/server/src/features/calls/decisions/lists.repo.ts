import { sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { type DecisionRow, decisionsOf } from './decisions.repo.ts';
import type { DecisionQuery, RoutedQuery } from './decisions.schema.ts';

/** Newest first. */
export function listDecisionRows(db: Executor, { tenant, agentIds }: Reach, query: DecisionQuery, at: Date) {
  const { cursor, limit, status, caseId, agentId, grantId } = query;
  let rows = decisionsOf(db, tenant);
  if (agentIds) rows = rows.where('agentId', 'in', agentIds);
  if (cursor) rows = rows.where('id', '<', cursor);
  if (caseId !== undefined) rows = rows.where('caseId', '=', caseId);
  if (agentId !== undefined) rows = rows.where('agentId', '=', agentId);
  if (grantId !== undefined) rows = rows.where('grantId', '=', grantId);
  if (status !== undefined) rows = withStatus(rows, status, at);
  return readPage(db, rows.orderBy('id', 'desc'), limit);
}

/** The requests that go to one of these approvers: the open ones as they expire, all others newest first. */
export function listRoutedRows(
  db: Executor,
  tenant: Tenant,
  approverIds: readonly string[],
  { status, cursor, limit }: RoutedQuery,
  at: Date,
) {
  const routed = decisionsOf(db, tenant).where(sql<boolean>`routed && ${[...approverIds]}::text[]`);
  const rows =
    status === 'ended'
      ? routed.where(({ or, eb }) => or([eb('status', '<>', 'pending'), eb('expiresAt', '<=', at)]))
      : withStatus(routed, status, at);
  if (status !== 'pending') {
    const page = cursor ? rows.where('id', '<', cursor) : rows;
    return readPage(db, page.orderBy('id', 'desc'), limit);
  }
  const page = cursor
    ? rows.where(({ eb, refTuple }) =>
        eb(
          refTuple('expiresAt', 'id'),
          '>',
          db
            .selectFrom('decisions')
            .select(['expiresAt', 'id'])
            .where('developerId', '=', tenant.developerId)
            .where('id', '=', cursor)
            .$asTuple('expiresAt', 'id'),
        ),
      )
    : rows;
  return readPage(db, page.orderBy('expiresAt').orderBy('id'), limit);
}

type Rows = ReturnType<typeof decisionsOf>;

/** `expired` and the open statuses follow from the clock. */
function withStatus(rows: Rows, status: DecisionRow['status'], at: Date): Rows {
  const stored = rows.where('status', '=', status);
  if (status === 'pending' || status === 'approved') return stored.where('expiresAt', '>', at);
  if (status !== 'expired') return stored;
  return rows.where(({ or, and, eb }) =>
    or([
      eb('status', '=', 'expired'),
      and([eb('status', 'in', ['pending', 'approved']), eb('expiresAt', '<=', at)]),
    ]),
  );
}

/**
 * Open requests whose time is over, or whose next reminder is due, with the account of each.
 * @param but the ids of requests that are left out
 */
export function listDueAcrossTenants(db: Executor, at: Date, but: readonly string[], limit: number) {
  return db
    .selectFrom('decisions as decision')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'decision.developerId')
    .selectAll('decision')
    .select(['developer.mode', 'developer.plan'])
    .where('decision.status', 'in', ['pending', 'approved'])
    .where('decision.dueAt', '<=', at)
    .where('decision.id', 'not in', [...but, ''])
    .orderBy('decision.dueAt')
    .limit(limit)
    .execute();
}

/** How many requests wait for people. */
export async function countWaitingAcrossTenants(db: Executor, at: Date, most: number): Promise<number> {
  const some = db
    .selectFrom('decisions')
    .select('id')
    .where('status', '=', 'pending')
    .where('expiresAt', '>', at)
    .limit(most);
  const counted = db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<string>().as('waiting'));
  return Number((await counted.executeTakeFirstOrThrow()).waiting);
}
