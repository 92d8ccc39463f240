import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { AssertionGrants } from '../../../platform/db/types.gen.ts';
import { agentsOf } from '../../accounts/agents/agents.queries.ts';
import { stopsOf } from './assertions.queries.ts';
import type { StopQuery } from './assertions.schema.ts';
import type { StopReason } from './stops.rules.ts';

export type StandingRow = Selectable<AssertionGrants>;
type Standing = Pick<StandingRow, 'connectionId' | 'agentId' | 'principalId' | 'audience'>;

/** The standing grant of a client for a person and an audience. */
export const findStanding = (
  db: Executor,
  { developerId }: Tenant,
  { connectionId, agentId, principalId, audience }: Standing,
): Promise<StandingRow | undefined> =>
  db
    .selectFrom('assertionGrants')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('agentId', '=', agentId)
    .where('principalId', '=', principalId)
    .where('audience', '=', audience)
    .executeTakeFirst();

export async function putStanding(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<AssertionGrants>, 'developerId'>,
): Promise<void> {
  const { grantId, ruleId, createdAt } = row;
  await tx
    .insertInto('assertionGrants')
    .values({ ...row, developerId })
    .onConflict((conflict) =>
      conflict
        .columns(['developerId', 'connectionId', 'agentId', 'principalId', 'audience'])
        .doUpdateSet({ grantId, ruleId, createdAt }),
    )
    .execute();
}

/** The grants that were made through a connection, or by one of its rules. */
export async function listStandingIds(
  db: Executor,
  { developerId }: Tenant,
  of: { readonly connectionId: string } | { readonly ruleId: string },
): Promise<string[]> {
  const all = db.selectFrom('assertionGrants').select('grantId').where('developerId', '=', developerId);
  const own =
    'ruleId' in of ? all.where('ruleId', '=', of.ruleId) : all.where('connectionId', '=', of.connectionId);
  return (await own.execute()).map(({ grantId }) => grantId);
}

const stops = (db: Executor, tenant: Tenant) =>
  stopsOf(db, tenant)
    .leftJoin(agentsOf(db, tenant), 'agent.agentId', 'standing.agentId')
    .select(['standing.id', 'standing.agentId', 'agent.agentName', 'standing.principalId'])
    .select(['standing.grantId', 'grant.revokedReason', 'grant.revokedAt']);

export interface StopRow {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string | null;
  readonly principalId: string;
  readonly grantId: string;
  readonly revokedReason: StopReason | string | null;
  readonly revokedAt: Date | null;
}

/** Newest first. @param principalId for the stops of one person alone */
export function listStopRows(
  db: Executor,
  tenant: Tenant,
  { cursor, limit }: StopQuery,
  principalId?: string,
) {
  const every = stops(db, tenant);
  const all = principalId === undefined ? every : every.where('standing.principalId', '=', principalId);
  const page = cursor ? all.where('standing.id', '<', cursor) : all;
  return readPage(db, page.orderBy('standing.id', 'desc'), limit);
}

/** Whether somebody has ended what the agent had from the principal, at any connection and for any audience. */
export async function isStopped(
  db: Executor,
  tenant: Tenant,
  { agentId, principalId }: Pick<Standing, 'agentId' | 'principalId'>,
): Promise<boolean> {
  const found = await stops(db, tenant)
    .where('standing.agentId', '=', agentId)
    .where('standing.principalId', '=', principalId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Lifts a stop, with every other stop of the same agent and principal.
 * @param principalId the person who lifts it: a person lifts only what they have stopped
 * @returns whether there was one
 */
export async function deleteStop(tx: Tx, tenant: Tenant, id: string, principalId?: string): Promise<boolean> {
  const every = stops(tx, tenant);
  const liftable =
    principalId === undefined
      ? every
      : every.where('standing.principalId', '=', principalId).where('grant.revokedReason', '=', 'principal');
  const stop = await liftable.where('standing.id', '=', id).executeTakeFirst();
  if (!stop) return false;
  const all = await liftable
    .where('standing.agentId', '=', stop.agentId)
    .where('standing.principalId', '=', stop.principalId)
    .execute();
  await tx
    .deleteFrom('assertionGrants')
    .where('developerId', '=', tenant.developerId)
    .where(
      'id',
      'in',
      all.map((each) => each.id),
    )
    .execute();
  return true;
}
