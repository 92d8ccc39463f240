import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Agents } from '../../../platform/db/types.gen.ts';
import type { AgentQuery } from './agents.schema.ts';

export type AgentRow = Selectable<Agents>;
type NewRow = Omit<Insertable<Agents>, 'developerId'>;

export async function insertAgent(tx: Tx, { developerId }: Tenant, agent: NewRow): Promise<AgentRow> {
  const row = await tx
    .insertInto('agents')
    .values({ ...agent, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx.insertInto('agentIndex').values({ agentId: agent.id, developerId }).execute();
  return row;
}

export function findAgent(db: Executor, { developerId }: Tenant, agentId: string) {
  return db
    .selectFrom('agents')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .executeTakeFirst();
}

/** For the public document, whose address names the agent but no tenant. */
export function findAgentAcrossTenants(db: Executor, agentId: string) {
  return db
    .selectFrom('agentIndex as index')
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.developerId', '=', 'index.developerId').onRef('agent.id', '=', 'index.agentId'),
    )
    .select(['agent.did', 'agent.status', 'agent.publicKeyJwk'])
    .where('index.agentId', '=', agentId)
    .executeTakeFirst();
}

/** Newest first, with one row more than the page holds: its presence shows that there is another page. */
export function listAgentRows(db: Executor, { developerId }: Tenant, query: AgentQuery) {
  const { status, cursor, limit } = query;
  const all = db.selectFrom('agents').selectAll().where('developerId', '=', developerId);
  const some = status ? all.where('status', '=', status) : all.where('status', '<>', 'revoked');
  const page = cursor ? some.where('id', '<', cursor) : some;
  return page
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
}

/** Locks the row, so that the second of two simultaneous changes sees the first. */
export function lockAgent(tx: Tx, { developerId }: Tenant, agentId: string) {
  return tx
    .selectFrom('agents')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .forUpdate()
    .executeTakeFirst();
}

export function updateAgent(tx: Tx, { developerId }: Tenant, agentId: string, change: Updateable<Agents>) {
  return tx
    .updateTable('agents')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .returningAll()
    .executeTakeFirstOrThrow();
}
