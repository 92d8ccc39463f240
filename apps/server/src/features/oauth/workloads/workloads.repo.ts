import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { AgentWorkloads } from '../../../platform/db/types.gen.ts';
import type { WorkloadQuery } from './workloads.schema.ts';

export type WorkloadRow = Selectable<AgentWorkloads>;

export const insertWorkload = (
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<AgentWorkloads>, 'developerId'>,
): Promise<WorkloadRow> =>
  tx
    .insertInto('agentWorkloads')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();

const workloadsOf = (db: Executor, { developerId }: Tenant, agentId: string) =>
  db
    .selectFrom('agentWorkloads')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId);

/** Newest first. */
export function listWorkloadRows(
  db: Executor,
  tenant: Tenant,
  agentId: string,
  { cursor, limit }: WorkloadQuery,
) {
  const all = workloadsOf(db, tenant, agentId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

export const workloadsAtIssuer = (
  db: Executor,
  tenant: Tenant,
  agentId: string,
  issuer: string,
): Promise<WorkloadRow[]> =>
  workloadsOf(db, tenant, agentId).where('issuer', '=', issuer).orderBy('id').execute();

export async function countWorkloads(db: Executor, { developerId }: Tenant, agentId: string) {
  const { total } = await db
    .selectFrom('agentWorkloads')
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** @returns the workload, if it was there */
export const deleteWorkloadRow = (
  tx: Tx,
  { developerId }: Tenant,
  agentId: string,
  id: string,
): Promise<WorkloadRow | undefined> =>
  tx
    .deleteFrom('agentWorkloads')
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();

/** Erases rows of a closed account. */
export const eraseWorkloads = eraserOf('agent_workloads');
