import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { Offboardings } from '../../../platform/db/types.gen.ts';
import type { Holding, PrincipalQuery, ToldReceiver, ToldUpstream } from './offboarding.schema.ts';

interface FoundPrincipal {
  readonly principalId: string;
  readonly holds: readonly Holding[];
}

/** Jumps from each id to the next one, so that it reads a row for each principal and not for each grant of theirs. */
const principalsNamed = lookUp<
  FoundPrincipal,
  [developerId: string, prefix: string, after: string, most: number]
>(
  'list_principals',
  `with recursive of_grants as (
     (select lower(t.principal_id) as id, t.principal_id as named from grants t where t.developer_id = $1 and t.status = 'active'
        and lower(t.principal_id) ~>=~ lower($2) and lower(t.principal_id) ~>~ lower($3) and lower(t.principal_id) ~<~ (lower($2) || chr(1114111))
        order by lower(t.principal_id) using ~<~ limit 1)
     union all
     select next.* from of_grants before cross join lateral (
       select lower(t.principal_id) as id, t.principal_id as named from grants t where t.developer_id = $1 and t.status = 'active'
         and lower(t.principal_id) ~>=~ lower($2) and lower(t.principal_id) ~>~ before.id and lower(t.principal_id) ~<~ (lower($2) || chr(1114111))
         order by lower(t.principal_id) using ~<~ limit 1) next
   ), of_passkeys as (
     (select lower(t.owner_id) as id, t.owner_id as named from passkeys t where t.developer_id = $1 and t.owner_kind = 'principal'
        and lower(t.owner_id) ~>=~ lower($2) and lower(t.owner_id) ~>~ lower($3) and lower(t.owner_id) ~<~ (lower($2) || chr(1114111))
        order by lower(t.owner_id) using ~<~ limit 1)
     union all
     select next.* from of_passkeys before cross join lateral (
       select lower(t.owner_id) as id, t.owner_id as named from passkeys t where t.developer_id = $1 and t.owner_kind = 'principal'
         and lower(t.owner_id) ~>=~ lower($2) and lower(t.owner_id) ~>~ before.id and lower(t.owner_id) ~<~ (lower($2) || chr(1114111))
         order by lower(t.owner_id) using ~<~ limit 1) next
   ), of_vault as (
     (select lower(t.principal_id) as id, t.principal_id as named from vault_credentials t where t.developer_id = $1
        and lower(t.principal_id) ~>=~ lower($2) and lower(t.principal_id) ~>~ lower($3) and lower(t.principal_id) ~<~ (lower($2) || chr(1114111))
        order by lower(t.principal_id) using ~<~ limit 1)
     union all
     select next.* from of_vault before cross join lateral (
       select lower(t.principal_id) as id, t.principal_id as named from vault_credentials t where t.developer_id = $1
         and lower(t.principal_id) ~>=~ lower($2) and lower(t.principal_id) ~>~ before.id and lower(t.principal_id) ~<~ (lower($2) || chr(1114111))
         order by lower(t.principal_id) using ~<~ limit 1) next
   ), of_directory as (
     (select t.folded as id, t.principal_id as named from scim_principals t where t.developer_id = $1 and t.is_current
        and t.folded ~>=~ lower($2) and t.folded ~>~ lower($3) and t.folded ~<~ (lower($2) || chr(1114111))
        order by t.folded using ~<~ limit 1)
     union all
     select next.* from of_directory before cross join lateral (
       select t.folded as id, t.principal_id as named from scim_principals t where t.developer_id = $1 and t.is_current
         and t.folded ~>=~ lower($2) and t.folded ~>~ before.id and t.folded ~<~ (lower($2) || chr(1114111))
         order by t.folded using ~<~ limit 1) next
   )
   select min(found.named) as "principalId", array_agg(found.holding order by found.holding) as holds from (
     (select 'grants' as holding, id, named from of_grants limit $4)
     union all (select 'passkeys' as holding, id, named from of_passkeys limit $4)
     union all (select 'vault' as holding, id, named from of_vault limit $4)
     union all (select 'directory' as holding, id, named from of_directory limit $4)
   ) found group by found.id order by found.id using ~<~ limit $4`,
);

/** In the order of ids in lower case, one more than the page holds. */
export function listPrincipalRows(
  db: Executor,
  { developerId }: Tenant,
  { query = '', cursor = '', limit }: PrincipalQuery,
): Promise<FoundPrincipal[]> {
  return principalsNamed(db, developerId, query, cursor, limit + 1);
}

/** Counts end at one more than 1,000. */
interface PrincipalFacts {
  readonly activeGrants: number;
  readonly revokedGrants: number;
  readonly expiredGrants: number;
  readonly grants: number;
  readonly openRequests: number;
  readonly sessions: number;
  readonly passkeys: number;
  readonly services: readonly string[];
  readonly hasAddress: boolean;
  readonly userId: string | null;
  readonly userName: string | null;
  readonly isActive: boolean | null;
  readonly lastActivityAt: Date | null;
}

const factsOf = lookUp<PrincipalFacts, [developerId: string, principalId: string, now: Date]>(
  'find_principal_facts',
  `select active.grants as "activeGrants", ended.revoked as "revokedGrants", ended.expired as "expiredGrants",
     ended.grants, open.requests as "openRequests", own.sessions, held.passkeys,
     array(select v.service from vault_credentials v where v.developer_id = $1 and v.principal_id = $2
       order by v.service limit 100) as services,
     exists (select from principal_addresses a where a.developer_id = $1 and a.principal_id = $2) as "hasAddress",
     person.id as "userId", person.user_name as "userName", person.active as "isActive",
     (select e.at from audit_entries e where e.developer_id = $1 and e.principal_id = $2 order by e.seq desc limit 1)
       as "lastActivityAt"
   from (select count(*)::int as grants from (select from grants g where g.developer_id = $1 and g.status = 'active'
         and lower(g.principal_id) = lower($2) and g.principal_id = $2 and g.expires_at > $3 limit 1001) g) active
     cross join (select count(*)::int as grants, count(*) filter (where g.status = 'revoked')::int as revoked,
         count(*) filter (where g.status = 'active' and g.expires_at <= $3)::int as expired
       from (select n.status, n.expires_at from grants n where n.developer_id = $1 and n.principal_id = $2
         order by n.id desc limit 1001) g) ended
     cross join (select count(*) filter (where r.status in ('pending', 'approved')
           and coalesce(r.code_expires_at, r.expires_at) > $3)::int as requests
       from (select n.status, n.code_expires_at, n.expires_at from auth_requests n where n.developer_id = $1
         and n.principal_id = $2 and n.wrong_verifiers >= 0 order by n.id desc limit 1000) r) open
     cross join (select count(*)::int as sessions from (select from principal_sessions s where s.developer_id = $1
         and lower(s.principal_id) = lower($2) and s.principal_id = $2 and s.expires_at > $3 limit 1001) s) own
     cross join (select count(*)::int as passkeys from (select from passkeys k where k.developer_id = $1
         and k.owner_id = $2 and k.owner_kind = 'principal' limit 1001) k) held
     left join scim_users person on person.developer_id = $1 and person.id = principal_user($1, $2)`,
);

/** What the account knows of a principal. */
export async function getPrincipalFacts(
  db: Executor,
  { developerId }: Tenant,
  principalId: string,
  now: Date,
): Promise<PrincipalFacts> {
  const [facts] = await factsOf(db, developerId, principalId, now);
  if (!facts) throw new Error('Counts have no row.');
  return facts;
}

/** Who was offboarded. */
export type Subject = Pick<Selectable<Offboardings>, 'kind' | 'subjectId'>;

type Counts = Readonly<Record<string, number>>;

type Json = 'ended' | 'remaining' | 'upstream' | 'upstreamStates';

export interface OffboardingRow extends Omit<Selectable<Offboardings>, Json> {
  readonly ended: Counts;
  readonly remaining: Counts;
  /** The first 500, by credential. */
  readonly upstream: Readonly<Record<string, Omit<ToldUpstream, 'credentialId'>>>;
  /** All, by state. */
  readonly upstreamStates: Readonly<Partial<Record<ToldUpstream['state'], number>>>;
  /** Whether nothing is given to the principal or the agent as yet. */
  readonly isClosed: boolean;
}

/** The ids that name somebody, and those of them that count in any case, in lower case. */
export interface Ids {
  readonly exact: readonly string[];
  readonly folded: readonly string[];
}

/** How much the tables have of somebody that is still of use, by kind. @param grantIds those that have just ended */
export async function countUsable(
  tx: Tx,
  { developerId }: Tenant,
  { kind, exact, folded }: Pick<Subject, 'kind'> & Ids,
  grantIds: readonly string[],
  at: Date,
): Promise<Counts> {
  const asked = sql<{
    usable: Counts;
  }>`select usable_of(${developerId}, ${kind}, ${exact}::text[], ${folded}::text[],
    ${grantIds}::text[], ${at}) as usable`;
  return (await asked.execute(tx)).rows[0]?.usable ?? {};
}

const MOST_UPSTREAMS = 500;

/**
 * The credentials of a person whose upstreams are not told yet: those that end now, and those that were disconnected just
 * before. The first 500, and how many there are.
 */
export async function listUntold(tx: Tx, { developerId }: Tenant, principalIds: readonly string[]) {
  const untold = tx
    .selectFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('principalId', 'in', principalIds)
    .where('disconnectingAt', 'is not', null);
  const first = await untold
    .select(['id', 'service'])
    .orderBy('service')
    .orderBy('id')
    .limit(MOST_UPSTREAMS)
    .execute();
  if (first.length < MOST_UPSTREAMS) return { first, count: first.length };
  const counted = untold.select(({ fn }) => fn.countAll<string>().as('all'));
  return { first, count: Number((await counted.executeTakeFirstOrThrow()).all) };
}

export async function insertOffboarding(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<Offboardings>, 'developerId'>,
): Promise<void> {
  await tx
    .insertInto('offboardings')
    .values({ ...row, developerId })
    .execute();
}

interface Disconnected {
  readonly id: string;
  readonly principalId: string;
  readonly disconnectingAt: Date | null;
}

/** Notes what came of telling an upstream, in the offboarding that waits for it: one whose statement counts it as pending. */
export async function noteTold(
  tx: Tx,
  { developerId }: Tenant,
  { id: credentialId, principalId, disconnectingAt }: Disconnected,
  { upstream: state, at }: { readonly upstream: ToldUpstream['state']; readonly at: Date },
): Promise<void> {
  await sql`update offboardings o set
      upstream_states = o.upstream_states || jsonb_build_object('pending', (o.upstream_states ->> 'pending')::int - 1,
        ${state}::text, coalesce((o.upstream_states ->> ${state}::text)::int, 0) + 1),
      upstream = case when o.upstream ? ${credentialId}::text then jsonb_set(o.upstream, array[${credentialId}::text],
        o.upstream -> ${credentialId}::text || jsonb_build_object('state', ${state}::text, 'at', ${at.toISOString()}::text))
        else o.upstream end
    where o.developer_id = ${developerId} and o.ended_at >= ${disconnectingAt} and (o.upstream_states ->> 'pending')::int > 0 and o.id = (
      select last.id from offboardings last where last.developer_id = ${developerId} and last.kind = 'principal'
        and last.subject_id = offboarded_as(${developerId}, ${principalId}) order by last.id desc limit 1)`.execute(
    tx,
  );
}

const lastOf = lookUp<OffboardingRow, [developerId: string, kind: string, subjectId: string]>(
  'find_offboarding',
  `select o.id, o.kind, o.subject_id as "subjectId", o.first_seq as "firstSeq", o.seq, o.hash, o.ended, o.remaining,
     o.principal_ids as "principalIds", o.folded_ids as "foldedIds", o.upstream, o.upstream_states as "upstreamStates",
     o.ended_at as "endedAt", o.kind = 'agent' or principal_closed($1, o.subject_id) as "isClosed"
   from offboardings o where o.developer_id = $1 and o.kind = $2::offboarded_kind
     and o.subject_id = (select case when $2 = 'agent' then $3 else offboarded_as($1, $3) end)
   order by o.id desc limit 1`,
);

/** The last offboarding of somebody, by any id that it closed. */
export async function findOffboarding(db: Executor, { developerId }: Tenant, { kind, subjectId }: Subject) {
  return (await lastOf(db, developerId, kind, subjectId))[0];
}

type Deliveries = Omit<ToldReceiver, 'webhookId'>;

const receiversOf = lookUp<
  ToldReceiver & { readonly all: Deliveries },
  [developerId: string, at: Date, most: number]
>(
  'list_told_receivers',
  `select e.id as "webhookId", told.pending, told.delivered, told.failed, jsonb_build_object('pending', sum(told.pending) over (),
     'delivered', sum(told.delivered) over (), 'failed', sum(told.failed) over ()) as "all"
   from webhook_endpoints e cross join lateral (
     select count(*) filter (where status = 'pending')::int as pending,
       count(*) filter (where status = 'delivered')::int as delivered,
       count(*) filter (where status = 'failed')::int as failed
     from webhook_deliveries d where d.developer_id = $1 and d.webhook_id = e.id
       and d.id >= 'whd_' || ulid_time($2::timestamptz) and d.id < 'whd_' || ulid_time($2::timestamptz + interval '1 millisecond')
     offset 0) told
   where e.developer_id = $1 and told.pending + told.delivered + told.failed > 0 order by e.id limit $3`,
);

const MOST_RECEIVERS = 100;

/** The endpoints and streams that were told of an offboarding, as far as its deliveries are kept: the first, and counts of all. */
export async function listReceivers(db: Executor, { developerId }: Tenant, endedAt: Date) {
  const rows = await receiversOf(db, developerId, endedAt, MOST_RECEIVERS);
  const deliveries: Deliveries = rows[0]?.all ?? { pending: 0, delivered: 0, failed: 0 };
  return { receivers: rows.map(({ all: _, ...receiver }) => receiver), deliveries };
}

/** Erases rows of a closed account. */
export const eraseOffboardings = eraserOf('offboardings');

export const tellOffboardings = exportOf(
  'offboarding',
  sql`(select *, subject_id as principal_id from offboardings where kind = 'principal') offboardings`,
  ['first_seq', 'seq', 'principal_ids', 'ended', 'remaining', 'upstream', 'ended_at'],
);
