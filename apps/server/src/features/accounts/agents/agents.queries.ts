import type { AgentProfile, NullableAgentProfile } from '@behest/protocol/shapes';
import { sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { groupLock } from '../../../platform/db/hot-writes.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';
import type { AgentStatus, Agents } from '../../../platform/db/types.gen.ts';
import type { Agent, AgentChange, NewAgent } from './agents.schema.ts';

/** For hot writes that check whether an agent is active: no revocation of it slips in before their commit. */
export const sharedAgents = groupLock('share_agents', 1);

/** The columns of an agent's profile beside its DID, which the developer writes and reads under the same names. */
const columns = { agentName: 'name', agentDescription: 'description' } as const satisfies {
  readonly [Member in Exclude<keyof AgentProfile, 'agentDid'>]: keyof Agents &
    keyof NewAgent &
    keyof AgentChange &
    keyof Agent;
};
type Columns = typeof columns;
type Alias = { [Member in keyof Columns]: `${Columns[Member]} as ${Member}` }[keyof Columns];
const aliases = Object.entries(columns).map(([member, column]) => `${column} as ${member}`) as Alias[];

export const profileColumns = Object.values(columns);
/** The same columns where a query has joined `agentsOf`. */
export const joinedProfile = Object.keys(columns).map(
  (member) => `agent.${member}`,
) as `agent.${keyof Columns}`[];

export const profileOf = ({ agentName, agentDescription, agentDid }: AgentProfile): AgentProfile => ({
  agentName,
  agentDescription,
  agentDid,
});

/** The profile of an agent that was removed. */
export const noProfile: NullableAgentProfile = { agentName: null, agentDescription: null, agentDid: null };

/** The tenant's agents as other features show them, to be joined by `agent.agentId`. */
export const agentsOf = (db: Executor, tenant: Tenant) => shownAgents(db, tenant).as('agent');

/**
 * As `agentsOf`, but only the agent whose id is in a column of the joined table: a look-up for each row (`offset 0`
 * keeps it one), where a join reads all agents of the tenant while Postgres has no statistics.
 */
export const agentOf = (db: Executor, tenant: Tenant, column: string) =>
  shownAgents(db, tenant).where('id', '=', sql.ref<string>(column)).offset(0).as('agent');

function shownAgents(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('agents')
    .select(['id as agentId', 'did as agentDid', ...aliases])
    .select(['status as agentStatus', 'scopes as agentScopes'])
    .where('developerId', '=', developerId);
}

/** How many of these agents the tenant has and has not revoked. @param agentIds without repeats */
export async function countUsableAgents(db: Executor, { developerId }: Tenant, agentIds: readonly string[]) {
  const { usable } = await db
    .selectFrom('agents')
    .select(({ fn }) => fn.countAll<string>().as('usable'))
    .where('developerId', '=', developerId)
    .where('id', 'in', agentIds)
    .where('status', '<>', 'revoked')
    .where('isProposed', '=', false)
    .executeTakeFirstOrThrow();
  return Number(usable);
}

/** The name of an agent in audit entries. */
export async function getAgentDid(db: Executor, { developerId }: Tenant, agentId: string): Promise<string> {
  const { did } = await db
    .selectFrom('agents')
    .select('did')
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow();
  return did;
}

/** The name of an agent in audit entries, and whether its client waits for a first approval. */
export const getConcernedAgent = (db: Executor, { developerId }: Tenant, agentId: string) =>
  db
    .selectFrom('agents')
    .select(['did', 'isProposed'])
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow();

/** The parts of an agent that a person relies on who consents. Later requests are compared with them. */
export const getShownAgent = (db: Executor, { developerId }: Tenant, agentId: string) =>
  db
    .selectFrom('agents')
    .select([...profileColumns, 'publicKeyJwk'])
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow();

/** The agents' DIDs by id, for entries about many at once. */
export async function listAgentDids(db: Executor, { developerId }: Tenant, agentIds: readonly string[]) {
  const rows = await db
    .selectFrom('agents')
    .select(['id', 'did'])
    .where('developerId', '=', developerId)
    .where('id', 'in', agentIds)
    .execute();
  return new Map(rows.map(({ id, did }) => [id, did]));
}

/** Locks an agent for share, so that no change of it slips in before the commit. */
export function heldAgent(tx: Tx, { developerId }: Tenant, agentId: string) {
  return tx
    .selectFrom('agents')
    .select(['id', 'did', 'name', 'status', 'publicKeyJwk'])
    .where('developerId', '=', developerId)
    .where('id', '=', agentId)
    .where('isProposed', '=', false)
    .forShare()
    .executeTakeFirst();
}

/** What an agent may ask for now. */
export async function findAgentScopes(db: Executor, tenant: Tenant, agentId: string) {
  const found = db
    .selectFrom(agentsOf(db, tenant))
    .select('agent.agentScopes')
    .where('agent.agentId', '=', agentId);
  return (await found.executeTakeFirst())?.agentScopes;
}

interface AgentStatusRow {
  /** Null for an unknown agent. */
  readonly standing: AgentStatus | null;
}

const standingOf = lookUp<AgentStatusRow, [developerId: string, agentId: string]>(
  'agent_standing',
  'select agent_standing($1, $2) as standing',
);

/** The status by which an agent is judged: an active one of a stopped account counts as suspended. */
export async function findAgentStanding(db: Executor, { developerId }: Tenant, agentId: string) {
  return (await standingOf(db, developerId, agentId))[0]?.standing ?? undefined;
}

const heldStandingOf = statement<AgentStatusRow, [developerId: string, agentId: string]>(
  'hold_standing',
  'select hold_standing($1, $2) as standing',
);

/** As `findAgentStanding`, and it stays so until the commit. Comes before the locks of grants. */
export async function holdAgentStanding(tx: Tx, { developerId }: Tenant, agentId: string) {
  return (await heldStandingOf(tx, developerId, agentId))[0]?.standing ?? undefined;
}

/** The names of agents, by id. */
export async function findAgentNames(
  db: Executor,
  { developerId }: Tenant,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('agents')
    .select(['id', 'name'])
    .where('developerId', '=', developerId)
    .where('id', 'in', [...agentIds, ''])
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

interface NamedAgent {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  readonly agentId: string;
}

const agentsNamed = lookUp<
  NamedAgent,
  [developerId: string, name: string, within: readonly string[] | null, most: number]
>(
  'find_agents_named',
  `select a.id, a.name as title, a.status::text as hint, a.id as "agentId"
   from unnest('{active,suspended}'::agent_status[]) as of (state) cross join lateral (
     select * from agents where developer_id = $1 and status = of.state and not is_proposed
       and lower(name) collate "C" >= lower($2) collate "C"
       and lower(name) collate "C" < (lower($2) || chr(1114111)) collate "C"
       and ($3::text[] is null or id = any ($3))
     order by lower(name) collate "C", id limit $4
   ) a order by lower(a.name) collate "C", a.id limit $4`,
);

/** The first agents, in the order of names, whose name begins so in any case. */
export const findAgentsNamed = (db: Executor, { tenant, agentIds }: Reach, name: string, most: number) =>
  agentsNamed(db, tenant.developerId, name, agentIds, most);

/** All agents of the deployment, for its operator. */
export async function countAgentsAcrossTenants(db: Executor): Promise<number> {
  const counted = db.selectFrom('agents').select(({ fn }) => fn.countAll<string>().as('all'));
  return Number((await counted.executeTakeFirstOrThrow()).all);
}
