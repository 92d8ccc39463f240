import { type Insertable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { type ErasePerson, eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { ConsentRecords } from '../../../platform/db/types.gen.ts';
import { agentsOf, joinedProfile } from '../../accounts/agents/agents.queries.ts';
import { developerOf } from '../../accounts/developers/developers.queries.ts';
import { enforcingOf } from '../../people/sso/sso.queries.ts';
import { entriesOf, type SeqRange } from '../../record/audit/audit.queries.ts';
import { decidedRequestsOf, requestOf, requestsOfPrincipal } from '../authorization/authorization.queries.ts';
import { grantsOf } from '../grants/grants.queries.ts';

/** Reads everything that a person is shown of a request. Decisions belong to the request. */
export function findConsentRow(db: Executor, tenant: Tenant, requestId: string) {
  return requestOf(db, tenant, requestId)
    .innerJoin(agentsOf(db, tenant), 'agent.agentId', 'request.agentId')
    .innerJoin(developerOf(db, tenant), 'developer.developerId', 'request.developerId')
    .select(['agent.agentDid', ...joinedProfile])
    .select(['developer.developerName', 'developer.mode as developerMode', 'developer.plan as developerPlan'])
    .select(['developer.accentColor', 'developer.logoHash'])
    .select([
      'developer.emailVerified',
      'developer.consentMode',
      'developer.consentKeys',
      'developer.scopeDescriptions',
    ])
    .select(({ exists }) => exists(enforcingOf(db, tenant)).as('enforcesSso'))
    .executeTakeFirst();
}

export type ConsentRow = NonNullable<Awaited<ReturnType<typeof findConsentRow>>>;

/**
 * Counts one mail more for the day, unless that is over the limit (null means unlimited). The row stays locked
 * until the commit. An instance whose clock is behind counts for the day that others have begun.
 * @returns whether it was counted
 */
export async function countMail(
  tx: Tx,
  { developerId }: Tenant,
  { at, limit }: { readonly at: Date; readonly limit: number | null },
): Promise<boolean> {
  const day = at.toISOString().slice(0, 10);
  if (limit === 0) return false;
  const call = sql<{ mails: number }>`
    insert into consent_mails as counted (developer_id, day, mails) values (${developerId}, ${day}, 1)
    on conflict (developer_id) do update
      set mails = case when counted.day < excluded.day then 1 else counted.mails + 1 end,
        day = greatest(counted.day, excluded.day)
      where counted.day < excluded.day or ${limit}::integer is null or counted.mails < ${limit}::integer
    returning mails`;
  return (await call.execute(tx)).rows.length > 0;
}

export async function insertRecord(
  tx: Tx,
  { developerId }: Tenant,
  record: Omit<Insertable<ConsentRecords>, 'developerId'>,
): Promise<void> {
  await tx
    .insertInto('consentRecords')
    .values({ ...record, developerId })
    .execute();
}

/** The parts of the record of an approval. @returns undefined where there is none, or it is erased */
export async function findConsentRecord(
  db: Executor,
  { developerId }: Tenant,
  authRequestId: string,
): Promise<string[] | undefined> {
  const found = await db
    .selectFrom('consentRecords')
    .select('parts')
    .where('developerId', '=', developerId)
    .where('authRequestId', '=', authRequestId)
    .executeTakeFirst();
  return found?.parts;
}

/** Erases the records of the approvals in a part of the chain, which is erased for its age. */
export async function eraseRecordsIn(tx: Tx, tenant: Tenant, { fromSeq, toSeq }: SeqRange): Promise<void> {
  const approved = entriesOf(tx, tenant)
    .select(sql<string>`entry.metadata ->> 'authRequestId'`.as('id'))
    .where('entry.action', '=', 'authorization.approved')
    .where('entry.seq', '>=', String(fromSeq))
    .where('entry.seq', '<=', String(toSeq));
  await tx
    .deleteFrom('consentRecords')
    .where('developerId', '=', tenant.developerId)
    .where('authRequestId', 'in', approved)
    .execute();
}

/** Erases rows of a closed account. */
export const eraseConsents = eraserOf('consent_mails', 'consent_records');

const recordsOf = sql`(select record.auth_request_id as id, record.developer_id, request.principal_id, record.parts,
    record.created_at
  from consent_records record
    join auth_requests request on request.developer_id = record.developer_id and request.id = record.auth_request_id)
  as records`;

export const tellRecords = exportOf('consent_record', recordsOf, ['parts', 'created_at']);

/** Erases what a person was shown and decided. The hash of it stays in the chain. */
export const eraseRecordsOf: ErasePerson = async (tx, tenant, principalId) => {
  const { developerId } = tenant;
  await tx
    .deleteFrom('consentRecords')
    .where('developerId', '=', developerId)
    .where('authRequestId', 'in', requestsOfPrincipal(tx, tenant, principalId).select('id'))
    .execute();
};

interface Pair {
  readonly agentId: string;
  readonly principalId: string;
}

interface Sought {
  readonly at: Date;
  readonly since: Date;
  readonly replacesGrantId: string | null;
}

/** The grants of an agent for a person that no agent has delegated. */
const rootGrantsOf = (db: Executor, tenant: Tenant, { agentId, principalId }: Pair) =>
  grantsOf(db, tenant)
    .where('grant.principalId', '=', principalId)
    .where('grant.agentId', '=', agentId)
    .where('grant.parentGrantId', 'is', null);

/**
 * The last grant of this agent that the person decided themselves, with the request that they approved: the one that is to
 * be replaced, or the newest that is active, or else the newest. Grants of policies and of links decide nothing here, since no known person decided them.
 */
export function findLastConsent(
  db: Executor,
  tenant: Tenant,
  pair: Pair,
  { at, since, replacesGrantId }: Sought,
) {
  return rootGrantsOf(db, tenant, pair)
    .innerJoin(decidedRequestsOf(db, tenant), 'request.requestId', 'grant.authRequestId')
    .selectAll('request')
    .select(['grant.id', 'grant.status', 'grant.issuedAt', 'grant.expiresAt'])
    .where('grant.issuedAt', '>', since)
    .where(({ or, and, eb }) =>
      or([
        eb('grant.consentMethod', 'in', ['developer', 'email', 'sso', 'passkey']),
        and([eb('grant.consentMethod', '=', 'sandbox'), eb('request.shownAgent', 'is not', null)]),
      ]),
    )
    .orderBy(sql`(${sql.ref('grant.id')} is not distinct from ${replacesGrantId})`, 'desc')
    .orderBy(sql`(${sql.ref('grant.status')} = 'active' and ${sql.ref('grant.expiresAt')} > ${at})`, 'desc')
    .orderBy('grant.issuedAt', 'desc')
    .orderBy('grant.id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** How many grants of the agent for the person are active, beside one of them. */
export async function countOtherActive(
  db: Executor,
  tenant: Tenant,
  pair: Pair,
  { grantId, at }: { readonly grantId: string; readonly at: Date },
): Promise<number> {
  const { others } = await rootGrantsOf(db, tenant, pair)
    .select(({ fn }) => fn.countAll<string>().as('others'))
    .where('grant.status', '=', 'active')
    .where('grant.expiresAt', '>', at)
    .where('grant.id', '<>', grantId)
    .executeTakeFirstOrThrow();
  return Number(others);
}
