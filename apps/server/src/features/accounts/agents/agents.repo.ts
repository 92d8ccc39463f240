import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { lookUpPage, type PageRows } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { Agents } from '../../../platform/db/types.gen.ts';
import { profileColumns } from './agents.queries.ts';
import type { AgentQuery } from './agents.schema.ts';

export type AgentRow = Selectable<Agents>;
type NewRow = Omit<Insertable<Agents>, 'developerId'>;
export type FoundAgent = Omit<AgentRow, 'isProposed'>;

export async function insertAgent(tx: Tx, { developerId }: Tenant, agent: NewRow): Promise<AgentRow> {
  const row = await tx
    .insertInto('agents')
    .values({ ...agent, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx.insertInto('agentIndex').values({ agentId: agent.id, developerId }).execute();
  return row;
}

const columns = `id, developer_id as "developerId", did, ${profileColumns.join(', ')}, scopes, status,
  public_key_jwk as "publicKeyJwk", client_id as "clientId"`;
const times = 'created_at as "createdAt", updated_at as "updatedAt"';
const timesAsText = 'created_at::text as "createdAt", updated_at::text as "updatedAt"';

const agentById = lookUp<
  FoundAgent,
  [developerId: string, agentId: string, within: readonly string[] | null]
>(
  'find_agent',
  `select ${columns}, ${times} from agents
   where developer_id = $1 and id = $2 and not is_proposed and ($3::text[] is null or id = any ($3))`,
);

export async function findAgent(
  db: Executor,
  { tenant, agentIds }: Reach,
  agentId: string,
): Promise<FoundAgent | undefined> {
  return (await agentById(db, tenant.developerId, agentId, agentIds))[0];
}

/** For the public document, whose address names the agent but no tenant. */
export function findAgentAcrossTenants(db: Executor, agentId: string) {
  return db
    .selectFrom('agentIndex as index')
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.developerId', '=', 'index.developerId').onRef('agent.id', '=', 'index.agentId'),
    )
    .select(['agent.did', 'agent.status', 'agent.publicKeyJwk', 'agent.createdAt', 'agent.updatedAt'])
    .where('index.agentId', '=', agentId)
    .where('agent.isProposed', '=', false)
    .executeTakeFirst();
}

/** An agent of a list, with the text of its times. */
export type ListedAgent = Omit<AgentRow, 'createdAt' | 'updatedAt' | 'isProposed'> &
  Readonly<Record<'createdAt' | 'updatedAt', string>>;

/** The most bytes of an agent in an answer: 100 scopes of 256 characters, long texts and a long RSA key. */
export const LARGEST_AGENT = 40_000;

type Status = AgentRow['status'];

const newest = lookUpPage<ListedAgent>(
  'list_agents',
  LARGEST_AGENT,
  `select ${columns}, ${timesAsText} from agents
   where developer_id = $1 and status <> 'revoked' and not is_proposed order by id desc limit $2`,
);
const further = lookUpPage<ListedAgent, [cursor: string]>(
  'list_agents_below',
  LARGEST_AGENT,
  `select ${columns}, ${timesAsText} from agents
   where developer_id = $1 and status <> 'revoked' and not is_proposed and id < $3 order by id desc limit $2`,
);
const newestOf = lookUpPage<ListedAgent, [status: Status]>(
  'list_agents_of_status',
  LARGEST_AGENT,
  `select ${columns}, ${timesAsText} from agents
   where developer_id = $1 and status = $3 and not is_proposed order by id desc limit $2`,
);
const furtherOf = lookUpPage<ListedAgent, [status: Status, cursor: string]>(
  'list_agents_of_status_below',
  LARGEST_AGENT,
  `select ${columns}, ${timesAsText} from agents
   where developer_id = $1 and status = $3 and not is_proposed and id < $4 order by id desc limit $2`,
);

/** A look-up of each agent by its key, since a bound key has few and the developer may have many. */
const within = lookUpPage<
  ListedAgent,
  [agentIds: readonly string[], status: Status | null, cursor: string | null]
>(
  'list_agents_within',
  LARGEST_AGENT,
  `select ${columns}, ${timesAsText} from agents
   where developer_id = $1 and id = any ($3) and not is_proposed and ($5::text is null or id < $5)
     and case when $4::agent_status is null then status <> 'revoked' else status = $4 end
   order by id desc limit $2`,
);

const byName = `lower(name) collate "C"`;
/** After the page before, which an agent ended. If it got another name meanwhile, the list goes on from there. */
const namedSo = `(${byName}, id) > (
       coalesce((select lower(name) from agents where developer_id = $1 and id = $5), lower($4)) collate "C",
       coalesce($5, '')
     ) and ${byName} < (lower($4) || chr(1114111)) collate "C"`;

/** Reads each status as a range of its index, and merges them. */
const named = lookUpPage<ListedAgent, [statuses: readonly Status[], name: string, cursor: string | null]>(
  'list_agents_named',
  LARGEST_AGENT,
  `select ${columns}, ${timesAsText} from unnest($3::agent_status[]) as of (state) cross join lateral (
     select * from agents where developer_id = $1 and status = of.state and not is_proposed and ${namedSo}
     order by ${byName}, id limit $2
   ) found order by ${byName}, id limit $2`,
);
const namedWithin = lookUpPage<
  ListedAgent,
  [statuses: readonly Status[], name: string, cursor: string | null, agentIds: readonly string[]]
>(
  'list_agents_named_within',
  LARGEST_AGENT,
  `select ${columns}, ${timesAsText} from agents
   where developer_id = $1 and id = any ($6) and status = any ($3) and not is_proposed and ${namedSo}
   order by ${byName}, id limit $2`,
);

/** Newest first, or by name where a name is asked for. */
export function listAgentRows(
  db: Executor,
  { tenant, agentIds }: Reach,
  { status, name, cursor, limit }: AgentQuery,
): Promise<PageRows<ListedAgent>> {
  if (name !== undefined) {
    const statuses: readonly Status[] = status ? [status] : ['active', 'suspended'];
    if (agentIds) return namedWithin(db, tenant, limit, statuses, name, cursor ?? null, agentIds);
    return named(db, tenant, limit, statuses, name, cursor ?? null);
  }
  if (agentIds) return within(db, tenant, limit, agentIds, status ?? null, cursor ?? null);
  if (status)
    return cursor ? furtherOf(db, tenant, limit, status, cursor) : newestOf(db, tenant, limit, status);
  return cursor ? further(db, tenant, limit, cursor) : newest(db, tenant, limit);
}

/** How many active grants each agent holds, for agents that hold one. */
export function countActiveGrants(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('grants')
    .select(({ fn }) => ['agentId', fn.countAll().as('grants')])
    .where('developerId', '=', developerId)
    .where('status', '=', 'active')
    .groupBy('agentId')
    .execute();
}

/** Locks the row, so that the second of two simultaneous changes sees the first. */
export function lockAgent(tx: Tx, { developerId }: Tenant, agentId: string) {
  return tx
    .selectFrom('agents')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .where('isProposed', '=', false)
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

/** Locks the agents that are not revoked, in the order in which flows share them. */
export function lockLivingAgents(tx: Tx, { developerId }: Tenant) {
  return tx
    .selectFrom('agents')
    .select(['id', 'did', 'name'])
    .where('developerId', '=', developerId)
    .where('status', '<>', 'revoked')
    .where('isProposed', '=', false)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Stores the agent of a client, unless the client has one. */
export async function insertProposed(tx: Tx, { developerId }: Tenant, agent: NewRow): Promise<void> {
  const { numInsertedOrUpdatedRows: inserted = 0n } = await tx
    .insertInto('agents')
    .values({ ...agent, developerId })
    .onConflict((conflict) =>
      conflict
        .columns(['developerId', 'clientId'])
        .where('clientId', 'is not', null)
        .where('status', '<>', 'revoked')
        .doNothing(),
    )
    .executeTakeFirst();
  if (inserted > 0n) await tx.insertInto('agentIndex').values({ agentId: agent.id, developerId }).execute();
}

/** The agent that a client has at the tenant, proposed or not. */
export async function agentOfClient(tx: Tx, { developerId }: Tenant, clientId: string): Promise<string> {
  const { id } = await tx
    .selectFrom('agents')
    .select('id')
    .where('developerId', '=', developerId)
    .where('clientId', '=', clientId)
    .where('status', '<>', 'revoked')
    .executeTakeFirstOrThrow();
  return id;
}

/** @returns the agent, unless it is not proposed any longer */
export function lockProposed(tx: Tx, { developerId }: Tenant, agentId: string) {
  return tx
    .selectFrom('agents')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .where('isProposed', '=', true)
    .forUpdate()
    .executeTakeFirst();
}

/** Erases rows of a closed account. */
export const eraseAgents = eraserOf('agent_index', 'agents');
