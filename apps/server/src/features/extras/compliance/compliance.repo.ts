import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage, readPortion } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { LegalHolds } from '../../../platform/db/types.gen.ts';
import { agentsOf } from '../../accounts/agents/agents.queries.ts';
import { developerOf, developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { grantsOf, grantsWithAgent } from '../../grants/grants/grants.queries.ts';
import { entriesOf, readEntries, type SeqRange } from '../../record/audit/audit.queries.ts';
import type {
  EntryExportQuery,
  GrantExportQuery,
  HoldQuery,
  PackSubject,
  Span,
} from './compliance.schema.ts';

const numbered = <Counted extends object>(counted: Counted) =>
  Object.fromEntries(Object.entries(counted).map(([name, text]) => [name, Number(text)])) as {
    [Name in keyof Counted]: number;
  };

/** @param grants counts only the agents of these grants, and the one that they are of */
export async function countAgents(db: Executor, tenant: Tenant, grants?: GrantFilter) {
  let agents = db.selectFrom(agentsOf(db, tenant));
  if (grants?.agentId !== undefined) agents = agents.where('agentId', '=', grants.agentId);
  else if (grants)
    agents = agents.where('agentId', 'in', filtered(grantsOf(db, tenant), grants).select('grant.agentId'));
  const rows = await agents
    .select(({ fn }) => ['agentStatus', fn.countAll<string>().as('agents')])
    .groupBy('agentStatus')
    .execute();
  const of = (status: string) => Number(rows.find(({ agentStatus }) => agentStatus === status)?.agents ?? 0);
  const [active, suspended, revoked] = [of('active'), of('suspended'), of('revoked')];
  return { total: active + suspended + revoked, active, suspended, revoked };
}

/** By the time of their issue. A grant past its end counts as expired, although its row does not say so. */
export async function countGrants(db: Executor, tenant: Tenant, filter: GrantFilter, now: Date) {
  const grants = filtered(grantsOf(db, tenant), filter);
  const ended = sql<boolean>`"grant".expires_at <= ${now}`;
  const counts = await grants
    .select(({ fn, not }) => [
      fn.countAll<string>().as('total'),
      fn.countAll<string>().filterWhere('grant.status', '=', 'active').filterWhere(not(ended)).as('active'),
      fn.countAll<string>().filterWhere('grant.status', '=', 'revoked').as('revoked'),
      fn.countAll<string>().filterWhere('grant.status', '=', 'active').filterWhere(ended).as('expired'),
    ])
    .executeTakeFirstOrThrow();
  return numbered(counts);
}

/** Two counts: one over the primary key alone, one over the index of the statuses that are few. */
export async function countEntriesByStatus(db: Executor, tenant: Tenant, { fromSeq, toSeq }: SeqRange) {
  const entries = entriesOf(db, tenant)
    .where('entry.seq', '>=', String(fromSeq))
    .where('entry.seq', '<=', String(toSeq));
  const all = await entries.select(({ fn }) => fn.countAll<string>().as('total')).executeTakeFirstOrThrow();
  const few = await entries
    .where('entry.status', '<>', 'success')
    .select(({ fn }) => ['entry.status', fn.countAll<string>().as('entries')])
    .groupBy('entry.status')
    .execute();
  const of = (status: string) => Number(few.find((row) => row.status === status)?.entries ?? 0);
  const [total, failure, blocked] = [Number(all.total), of('failure'), of('blocked')];
  return { total, success: total - failure - blocked, failure, blocked };
}

export async function getPlan(db: Executor, tenant: Tenant): Promise<string> {
  return (await db.selectFrom(developerOf(db, tenant)).select('plan').executeTakeFirstOrThrow()).plan;
}

/** Which grants are counted or exported. */
export interface GrantFilter extends Span {
  readonly agentId?: string | undefined;
  readonly principalId?: string | undefined;
  readonly ids?: readonly string[];
}

function filtered<Grants extends ReturnType<typeof grantsOf>>(
  all: Grants,
  { since, until, agentId, principalId, ids }: GrantFilter,
): Grants {
  let grants: ReturnType<typeof grantsOf> = all;
  if (since) grants = grants.where('grant.issuedAt', '>=', new Date(since));
  if (until) grants = grants.where('grant.issuedAt', '<', new Date(until));
  if (agentId !== undefined) grants = grants.where('grant.agentId', '=', agentId);
  if (principalId !== undefined) grants = grants.where('grant.principalId', '=', principalId);
  if (ids) grants = grants.where(sql<boolean>`"grant".id = any(${ids})`);
  return grants as Grants; // the same selection, with more conditions
}

function exportedGrants(
  db: Executor,
  tenant: Tenant,
  { status, ...filter }: GrantFilter & Pick<GrantExportQuery, 'status'>,
  now: Date,
) {
  const grants = filtered(grantsWithAgent(db, tenant), filter);
  if (status === undefined) return grants;
  if (status === 'revoked') return grants.where('grant.status', '=', 'revoked');
  return grants
    .where('grant.status', '=', 'active')
    .where('grant.expiresAt', status === 'active' ? '>' : '<=', now);
}

export async function countExportedGrants(
  db: Executor,
  tenant: Tenant,
  query: Omit<GrantExportQuery, 'format'>,
  now: Date,
) {
  const { total } = await exportedGrants(db, tenant, query, now)
    .clearSelect()
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

export type GrantToExport = Awaited<ReturnType<typeof listExportedGrants>>['rows'][number];

/** Newest first, by `issuedAt` and then by id. @param after the last grant of the portion before */
export function listExportedGrants(
  db: Executor,
  tenant: Tenant,
  query: GrantFilter & Pick<GrantExportQuery, 'status'>,
  now: Date,
  after: { readonly id: string } | undefined,
) {
  let grants = exportedGrants(db, tenant, query, now);
  // A grant's id begins with the time of its issue.
  if (after) grants = grants.where('grant.id', '<', after.id);
  const columns = grants
    .clearSelect()
    .select(['grant.id', 'grant.developerId', 'grant.agentId', 'agent.agentDid', 'grant.principalId'])
    .select(['grant.scopes', 'grant.status', 'grant.issuedAt', 'grant.expiresAt', 'grant.revokedAt'])
    .select(['grant.delegationDepth', 'grant.parentGrantId', 'grant.purpose', 'grant.revokedReason'])
    .select('grant.consentMethod');
  return readPortion(db, columns.orderBy('grant.id', 'desc'));
}

type EntryFilter = EntryExportQuery & Pick<PackSubject, 'caseId'>;

function exportedEntries(db: Executor, tenant: Tenant, query: EntryFilter, { fromSeq, toSeq }: SeqRange) {
  let entries = entriesOf(db, tenant)
    .where('entry.seq', '>=', String(fromSeq))
    .where('entry.seq', '<=', String(toSeq));
  for (const name of ['agentId', 'grantId', 'principalId', 'action', 'status'] as const) {
    const value = query[name];
    if (value !== undefined) entries = entries.where(`entry.${name}`, '=', value);
  }
  const { caseId } = query;
  if (caseId !== undefined) entries = entries.where(sql<boolean>`entry.metadata ->> 'caseId' = ${caseId}`);
  return entries;
}

/** The entries about somebody or something. Those of a case are looked for among all of the range. */
export async function countEntriesAbout(db: Executor, tenant: Tenant, subject: PackSubject, range: SeqRange) {
  const rows = await exportedEntries(db, tenant, subject, range)
    .select(({ fn }) => ['entry.status', fn.countAll<string>().as('entries')])
    .groupBy('entry.status')
    .execute();
  const of = (status: string) => Number(rows.find((row) => row.status === status)?.entries ?? 0);
  const [success, failure, blocked] = [of('success'), of('failure'), of('blocked')];
  return { total: success + failure + blocked, success, failure, blocked };
}

/** The ids of the grants that the entries of a case name. */
export async function listGrantIdsOfCase(db: Executor, tenant: Tenant, caseId: string, range: SeqRange) {
  const rows = await exportedEntries(db, tenant, { caseId }, range)
    .select('entry.grantId')
    .distinct()
    .where('entry.grantId', 'is not', null)
    .execute();
  return rows.flatMap(({ grantId }) => grantId ?? []);
}

export async function countExportedEntries(
  db: Executor,
  tenant: Tenant,
  query: EntryExportQuery,
  range: SeqRange,
) {
  const { total } = await exportedEntries(db, tenant, query, range)
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

export type EntryToExport = Awaited<ReturnType<typeof listExportedEntries>>['rows'][number];

/** In the order of the chain. */
export function listExportedEntries(db: Executor, tenant: Tenant, query: EntryExportQuery, range: SeqRange) {
  const entries = exportedEntries(db, tenant, query, range).selectAll().orderBy('entry.seq');
  return readEntries(db, entries);
}

export type HoldRow = Selectable<LegalHolds>;

/** Holds are placed while no close of the account is under way, and the other way round. */
export async function lockHolds(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`holds:${developerId}`}, 0))`.execute(tx);
}

const standing = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('legalHolds').where('developerId', '=', developerId).where('releasedAt', 'is', null);

/** @param principalId counts those about this person and those about nobody; null counts all */
export async function countStandingHolds(
  db: Executor,
  tenant: Tenant,
  principalId: string | null = null,
): Promise<number> {
  const all = standing(db, tenant);
  const some =
    principalId === null
      ? all
      : all.where((eb) => eb.or([eb('principalId', 'is', null), eb('principalId', '=', principalId)]));
  const { total } = await some
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

export async function isOpenAccount(db: Executor, tenant: Tenant): Promise<boolean> {
  const account = await db
    .selectFrom(developersAcrossTenants(db))
    .select('developer.closedAt')
    .where('developer.developerId', '=', tenant.developerId)
    .executeTakeFirst();
  return account?.closedAt === null;
}

export function insertHold(tx: Tx, row: HoldRow): Promise<HoldRow> {
  return tx.insertInto('legalHolds').values(row).returningAll().executeTakeFirstOrThrow();
}

/** @returns the hold as it is now; undefined if there is none */
export const findHold = (db: Executor, { developerId }: Tenant, id: string): Promise<HoldRow | undefined> =>
  db
    .selectFrom('legalHolds')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();

export async function releaseHoldRow(tx: Tx, { developerId }: Tenant, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('legalHolds')
    .set({ releasedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** The newest first. */
export function listHoldRows(db: Executor, tenant: Tenant, { cursor, limit, standing: only }: HoldQuery) {
  const { developerId } = tenant;
  let rows = only
    ? standing(db, tenant).selectAll()
    : db.selectFrom('legalHolds').selectAll().where('developerId', '=', developerId);
  if (cursor) rows = rows.where('id', '<', cursor);
  return readPage<HoldRow>(db, rows.orderBy('id', 'desc'), limit);
}

/** Erases rows of a closed account. */
export const eraseHolds = eraserOf('legal_holds');

export const tellHolds = exportOf('legal_hold', 'legal_holds', ['name', 'created_at', 'released_at']);
