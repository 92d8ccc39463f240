import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { StopQuery } from './grants.schema.ts';

/** Counts end at one more than 1,000. */
interface Falling {
  readonly grants: number;
  readonly agents: number;
  readonly principals: number;
  readonly requests: number;
  /** Whether grants were left out, because so many others come before them. */
  readonly isCut: boolean;
}

type Values = [developerId: string, now: Date, subject: string];

const isGood = `g.status = 'active' and g.expires_at > $2`;
const isOpen = `r.status in ('pending', 'approved') and coalesce(r.code_expires_at, r.expires_at) > $2`;
/** Grants of a tree that are looked at, whatever their state. */
const WALK = 3000;

/** A tree may go on below a grant that ended, as a revocation does. `offset 0` keeps each step a look-up. */
const falling = (name: string, roots: string, requests: string) =>
  lookUp<Falling, Values>(
    name,
    `with recursive tree as (
       select * from ${roots}
       union
       select child.* from tree cross join lateral (
         select g.id, g.agent_id, g.principal_id, ${isGood} as is_good from grants g
         where g.developer_id = $1 and g.parent_grant_id = tree.id offset 0) child
     ), looked as (select * from tree limit ${WALK}),
     good as (select * from looked where is_good limit 1001)
     select (select count(*)::int from good) as grants, (select count(distinct agent_id)::int from good) as agents,
       (select count(distinct principal_id)::int from good) as principals,
       (select count(*) filter (where ${isOpen})::int from (
         select n.status, n.code_expires_at, n.expires_at from auth_requests n where n.developer_id = $1
           and ${requests} and n.wrong_verifiers >= 0 order by n.id desc limit 1000) r) as requests,
       (select count(*) = ${WALK} from looked) as "isCut"`,
  );

const columns = `g.id, g.agent_id, g.principal_id, ${isGood} as is_good`;
const OF = {
  grantId: falling(
    'count_falling_of_grant',
    `(select ${columns} from grants g where g.developer_id = $1 and g.id = $3) root`,
    'false',
  ),
  agentId: falling(
    'count_falling_of_agent',
    `(select ${columns} from grants g where g.developer_id = $1 and g.agent_id = $3
       order by g.id desc limit ${WALK}) root`,
    'n.agent_id = $3',
  ),
  principalId: falling(
    'count_falling_of_principal',
    `(select ${columns} from grants g where g.developer_id = $1 and g.status = 'active'
       and lower(g.principal_id) = lower($3) and g.principal_id = $3 and g.expires_at > $2 limit ${WALK}) root`,
    'n.principal_id = $3',
  ),
  account: falling(
    'count_falling_of_account',
    `(select ${columns} from grants g where g.developer_id = $1 and ${isGood} and $3 = '' limit 1001) root`,
    'true',
  ),
};

/** Counts what would end with the subject of a stop. */
export async function countFalling(
  db: Executor,
  { developerId }: Tenant,
  { agentId, principalId, grantId }: StopQuery,
  now: Date,
): Promise<Falling> {
  const subject = agentId ?? principalId ?? grantId ?? '';
  const of =
    agentId !== undefined
      ? 'agentId'
      : principalId !== undefined
        ? 'principalId'
        : grantId !== undefined
          ? 'grantId'
          : 'account';
  const [counted] = await OF[of](db, developerId, now, subject);
  if (!counted) throw new Error('Counts have no row.');
  return counted;
}

const agentExists = lookUp<{ readonly id: string }, [developerId: string, agentId: string]>(
  'find_agent_to_stop',
  'select id from agents where developer_id = $1 and id = $2 and not is_proposed',
);

export async function hasAgent(db: Executor, { developerId }: Tenant, agentId: string): Promise<boolean> {
  return (await agentExists(db, developerId, agentId)).length > 0;
}
