import { type SqlBool, sql } from 'kysely';
import type { PrincipalSession, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { statement } from '../../../platform/db/statement.ts';
import { agentsOf } from '../../accounts/agents/agents.queries.ts';
import { developerOf } from '../../accounts/developers/developers.queries.ts';
import { decidedRequestsOf } from '../../grants/authorization/authorization.queries.ts';
import { grantsOf, grantsOfPrincipal } from '../../grants/grants/grants.queries.ts';
import { activeSession } from '../../people/principals/principals.queries.ts';
import { entriesOf, firstSeqSince, readEntries, type SeqRange } from '../audit/audit.queries.ts';

/**
 * A grant of the principal.
 * @returns undefined when the session has ended; without an id when the principal has no such grant
 */
export function findOwnGrant(db: Executor, session: PrincipalSession, grantId: string, now: Date) {
  const grants = grantsOfPrincipal(db, session.tenant, session.principalId)
    .where('id', '=', grantId)
    .select(['id', 'rootGrantId'])
    .as('grant');
  return activeSession(db, session, now)
    .leftJoin(grants, (join) => join.onTrue())
    .select(['grant.id', 'grant.rootGrantId'])
    .executeTakeFirst();
}

/** The grant that a person gave, with what they were asked, and what the account says about itself. */
export function findRoot(db: Executor, tenant: Tenant, grantId: string) {
  return grantsOf(db, tenant)
    .where('grant.id', '=', grantId)
    .innerJoin(developerOf(db, tenant), 'developer.developerId', 'grant.developerId')
    .leftJoin(decidedRequestsOf(db, tenant), 'request.requestId', 'grant.authRequestId')
    .select(['grant.id', 'grant.scopes', 'grant.audience'])
    .select(['request.requestId', 'request.createdAt', 'request.decidedAt'])
    .select(['developer.mode', 'developer.scopeDescriptions', 'developer.auditPrivateKeys'])
    .executeTakeFirst();
}

/** Lists come as one text: the driver reads rows one by one in one turn of the event loop, and there may be 100,000. */
const listIn = (text: string | null): string[] => (text === null ? [] : text.split(','));

const tree = statement<
  { readonly grantIds: string | null; readonly agentIds: string | null },
  [developerId: string, rootGrantId: string, limit: number]
>(
  'find_receipt_tree',
  `select string_agg(id, ',') as "grantIds", string_agg(distinct agent_id, ',') as "agentIds"
   from (select id, agent_id from grants where developer_id = $1 and root_grant_id = $2 order by id limit $3) g`,
);

/** The names are for display, and nobody reads more. */
const MOST_NAMES = 1_000;

/** The grants of a tree, and the names of their agents. */
export async function findTree(db: Executor, tenant: Tenant, rootGrantId: string, limit: number) {
  const [found] = await tree(db, tenant.developerId, rootGrantId, limit);
  const agents = await db
    .selectFrom(agentsOf(db, tenant))
    .select(['agentId', 'agentName'])
    .where(sql<SqlBool>`agent_id = any(${listIn(found?.agentIds ?? null).slice(0, MOST_NAMES)})`)
    .execute();
  return { grantIds: listIn(found?.grantIds ?? null), agents };
}

/** What an entry takes in the file: a part of each member with its salt, in base64, or the parts that an erasure left. */
const BYTES = `1000 + coalesce(octet_length(parts::text),
  (octet_length(metadata::text) + 40 * (select count(*) from jsonb_object_keys(metadata))) * 4 / 3) as bytes`;

/** Each grant reads its own ranges of two indexes, so the plan does not depend on what Postgres knows of the account. */
const entriesOfGrants = statement<
  { readonly seqs: string | null; readonly entries: number; readonly bytes: number },
  [
    developerId: string,
    grantIds: readonly string[],
    fromSeq: number,
    toSeq: number,
    size: number,
    limit: number,
  ]
>(
  'list_receipt_entries',
  `select string_agg(seq::text, ',' order by seq) as seqs, count(*)::float8 as entries,
     coalesce(sum(bytes), 0)::float8 as bytes
   from (
     select e.seq, e.bytes from unnest($2::text[]) as g (id)
       cross join lateral (
         (select seq, ${BYTES} from audit_entries
          where developer_id = $1 and grant_id = g.id and seq between $3::bigint and least($4::bigint, $5::bigint)
          limit $6)
         union all
         (select seq, ${BYTES} from audit_entries
          where developer_id = $1 and grant_id = g.id and action like 'grant.%' and seq <= $5::bigint
            and seq not between $3::bigint and $4::bigint
          limit $6)
       ) e
     limit $6
   ) found`,
);

/**
 * The numbers of the entries of some grants up to a size of the log, ascending, and their bytes in a receipt. Entries that
 * make and end grants are among them in any case.
 * @param range leaves out other entries
 */
export async function findEntriesOfGrants(
  db: Executor,
  { developerId }: Tenant,
  grantIds: readonly string[],
  { fromSeq, toSeq, size, limit }: SeqRange & { readonly size: number; readonly limit: number },
) {
  const [found] = await entriesOfGrants(db, developerId, grantIds, fromSeq, toSeq, size, limit);
  const { seqs = null, entries = 0, bytes = 0 } = found ?? {};
  return { seqs: listIn(seqs).map(Number), entries, bytes };
}

const LATE_MS = 60_000;

/**
 * The entry of an act about an authorization request. Its time may be a little behind the act, never before it.
 */
export function findEntryOfRequest(
  db: Executor,
  tenant: Tenant,
  { action, requestId, at }: { readonly action: string; readonly requestId: string; readonly at: Date },
) {
  return entriesOf(db, tenant)
    .select(sql<number>`entry.seq::float8`.as('seq'))
    .select(sql<SqlBool>`entry.metadata ? 'consentHash'`.as('hasConsent'))
    .select(sql<SqlBool>`entry.parts is not null`.as('isErased'))
    .where('entry.action', '=', action)
    .where('entry.seq', '>=', firstSeqSince(tenant, at))
    .where('entry.seq', '<', firstSeqSince(tenant, new Date(at.getTime() + LATE_MS)))
    .where(sql<string>`entry.metadata ->> 'authRequestId'`, '=', requestId)
    .orderBy('entry.seq')
    .limit(1)
    .executeTakeFirst();
}

/** Entries by their numbers, as many of the first of them as are read at once. */
export async function listEntries(db: Executor, tenant: Tenant, seqs: readonly number[]) {
  const some = entriesOf(db, tenant)
    .selectAll()
    .where(sql<SqlBool>`entry.seq = any(${seqs}::bigint[])`)
    .orderBy('entry.seq');
  return (await readEntries(db, some)).rows;
}
