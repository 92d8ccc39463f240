import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inSnapshot, inTransaction, openSnapshot } from '../../../platform/db/db.ts';
import { inRowPortions, type PageRows } from '../../../platform/db/page-rows.ts';
import type { ExportOfPerson } from '../../../platform/db/personal-data.ts';
import { AppError } from '../../../platform/errors.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import { grantStatus } from '../../grants/grants/index.ts';
import { countPolicies } from '../../grants/policies/policies.queries.ts';
import { findSeqRange, type SeqRange } from '../../record/audit/audit.queries.ts';
import { AuditEntry, chainedMembers, recordActs, toEntry } from '../../record/audit/index.ts';
import { type Catalogue, toOcsf } from '../../record/events/index.ts';
import {
  countAgents,
  countEntriesAbout,
  countEntriesByStatus,
  countExportedEntries,
  countExportedGrants,
  countGrants,
  type EntryToExport,
  type GrantFilter,
  type GrantToExport,
  getPlan,
  listExportedEntries,
  listExportedGrants,
} from './compliance.repo.ts';
import { formOf, mediaTypes, mustBeDays, writerOf } from './compliance.rules.ts';
import {
  type ComplianceSummary,
  type Counts,
  type EntryExportQuery,
  type EntryForm,
  ExportedGrant,
  type Form,
  type GrantExportQuery,
  type PackSubject,
  type Span,
} from './compliance.schema.ts';

export { AuditEntry };

export interface ExportDeps {
  readonly db: Executor;
  /** The entry about an export is written while the snapshot holds a connection of `db`. */
  readonly aside: Executor;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly longWork: LongWork;
  readonly maxRows: number;
}

/** A document that is made while it is sent. `close` ends its snapshot. */
export interface Export {
  readonly type: string;
  readonly texts: AsyncIterable<string | Uint8Array>;
  readonly close: () => Promise<void>;
}

/** @throws BAD_REQUEST, EXPORT_TOO_LARGE */
export function exportGrants(
  deps: ExportDeps,
  caller: Caller,
  query: GrantExportQuery,
  accept: string | undefined,
): Promise<Export> {
  const { tenant } = caller;
  const facts = { kind: 'grants', member: 'grants', columns: Object.keys(ExportedGrant.properties) } as const;
  return beginExport(deps, caller, { ...facts, query, accept }, async (db, now) => ({
    total: await countExportedGrants(db, tenant, query, now),
    portions: () => exportedGrants(db, caller, query, now),
  }));
}

/** @throws BAD_REQUEST, EXPORT_TOO_LARGE */
export function exportEntries(
  deps: ExportDeps,
  caller: Caller,
  query: EntryExportQuery,
  accept: string | undefined,
): Promise<Export> {
  const { tenant } = caller;
  const facts = { kind: 'audit', member: 'entries', columns: chainedMembers } as const;
  return beginExport(deps, caller, { ...facts, query, accept }, async (db) => {
    const range = await findSeqRange(db, tenant, query);
    return {
      total: await countExportedEntries(db, tenant, query, range),
      portions: async function* () {
        for await (const entries of entryPortions(deps, db, tenant, query, range)) {
          yield query.format === 'ocsf' ? entries.map(toOcsf) : entries;
        }
      },
    };
  });
}

/** Audit entries as they are exported, in the order of the chain. */
export async function* entryPortions(
  deps: Pick<ExportDeps, 'catalogue' | 'longWork'>,
  db: Executor,
  tenant: Tenant,
  query: EntryExportQuery,
  range: SeqRange,
): AsyncGenerator<AuditEntry[]> {
  const readAfter = (after: EntryToExport | undefined) =>
    listExportedEntries(db, tenant, query, after ? { ...range, fromSeq: Number(after.seq) + 1 } : range);
  for await (const rows of inPortions<EntryToExport>(readAfter)) {
    for await (const portion of inRowPortions(rows, ({ metadata }) => metadata.length, deps.longWork)) {
      yield portion.map((row) => toEntry(deps, row));
    }
  }
}

interface ExportRequest {
  readonly kind: 'grants' | 'audit';
  readonly member: string;
  readonly columns: readonly string[];
  readonly query: Span & { readonly format?: EntryForm };
  readonly accept: string | undefined;
}

interface Found {
  readonly total: number;
  readonly portions: () => AsyncIterable<readonly object[]>;
}

async function beginExport(
  deps: ExportDeps,
  caller: Caller,
  { kind, query, accept, ...facts }: ExportRequest,
  find: (db: Executor, now: Date) => Promise<Found>,
): Promise<Export> {
  mustBeDays(query);
  const form = formOf(query.format, accept);
  const now = deps.clock();
  const snapshot = await openSnapshot(deps.db);
  try {
    const { total, portions } = await find(snapshot.db, now);
    if (form === 'json') mustFit(total, deps.maxRows);
    await recordExport(deps, caller, { kind, span: query, total, form }, now);
    const writer = writerOf(form, { ...facts, generatedAt: now.toISOString(), total });
    const texts = async function* () {
      yield writer.begin();
      for await (const records of portions()) yield writer.write(records);
      yield writer.end();
    };
    return { type: mediaTypes[form], texts: texts(), close: snapshot.end };
  } catch (error) {
    await snapshot.end();
    throw error;
  }
}

/** @param formats the other forms that the export has @throws EXPORT_TOO_LARGE */
export function mustFit(total: number, limit: number, formats: readonly Form[] = ['ndjson', 'csv']): void {
  if (total <= limit) return;
  const others = formats.map((format) => `\`format=${format}\` or `).join('');
  const message = `The export has ${total} rows, and one JSON document holds ${limit}. Ask for ${others}a shorter period.`;
  throw new AppError('EXPORT_TOO_LARGE', message, { total, limit, formats });
}

interface Exported {
  readonly kind: 'grants' | 'audit' | 'evidence-pack' | 'principal';
  /** Whom or what the export is about. */
  readonly subject?: PackSubject;
  readonly span: Span;
  readonly total: number;
  readonly form: EntryForm | 'zip';
}

/** Before the first byte leaves, so that nobody gets an export without an entry. */
export async function recordExport(
  { aside }: Pick<ExportDeps, 'aside'>,
  caller: Caller,
  { kind, span, total, form, subject = {} }: Exported,
  at: Date,
): Promise<void> {
  const { agentId, principalId, caseId } = subject;
  const bounds = { since: span.since ?? null, until: span.until ?? null };
  const data = { kind, ...bounds, total, format: form, ...(caseId !== undefined && { caseId }) };
  const about = {
    ...(agentId !== undefined && { agentId }),
    ...(principalId !== undefined && { principalId }),
  };
  const act: Act = { type: 'compliance.exported', ...about, data };
  await inTransaction(aside, (tx) => recordActs(tx, caller, [act], at));
}

/** The grants of an export, as it shows them. */
export async function* exportedGrants(
  db: Executor,
  { tenant }: Caller,
  query: GrantFilter & Pick<GrantExportQuery, 'status'>,
  now: Date,
): AsyncGenerator<ExportedGrant[]> {
  for await (const rows of inPortions<GrantToExport>((after) =>
    listExportedGrants(db, tenant, query, now, after),
  )) {
    yield rows.map((row) => toExportedGrant(row, now));
  }
}

/** Reads a list to its end. @param read the rows after the last row of the portion before */
async function* inPortions<Row>(
  read: (after: Row | undefined) => Promise<PageRows<Row>>,
): AsyncGenerator<readonly Row[]> {
  let after: Row | undefined;
  for (let goesOn = true; goesOn; ) {
    const { rows, hasMore } = await read(after);
    yield rows;
    after = rows.at(-1);
    goesOn = hasMore;
  }
}

function toExportedGrant(row: GrantToExport, now: Date): ExportedGrant {
  const { id, issuedAt, expiresAt, revokedAt, ...columns } = row;
  return {
    id,
    grantId: id,
    agentId: columns.agentId,
    agentDid: columns.agentDid,
    principalId: columns.principalId,
    developerId: columns.developerId,
    scopes: columns.scopes,
    status: grantStatus(row, now),
    issuedAt: issuedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
    delegationDepth: columns.delegationDepth,
    parentGrantId: columns.parentGrantId,
    purpose: columns.purpose,
    revokedReason: columns.revokedReason,
    consentMethod: columns.consentMethod,
  };
}

export interface PersonDeps extends ExportDeps {
  readonly tellers: readonly ExportOfPerson[];
}

/**
 * Everything that the service keeps about a person, for a request of theirs (GDPR, Article 15): as lines, each with the
 * `type` of its record.
 */
export async function exportPerson(deps: PersonDeps, caller: Caller, principalId: string): Promise<Export> {
  const now = deps.clock();
  const snapshot = await openSnapshot(deps.db);
  try {
    const portions = () => recordsOf(deps, caller, snapshot.db, principalId, now);
    let total = 0;
    for await (const records of portions()) total += records.length;
    const about = { kind: 'principal', span: {}, total, form: 'ndjson', subject: { principalId } } as const;
    await recordExport(deps, caller, about, now);
    const writer = writerOf('ndjson', {
      member: 'records',
      columns: [],
      generatedAt: now.toISOString(),
      total,
    });
    const texts = async function* () {
      for await (const records of portions()) yield writer.write(records);
      yield writer.end();
    };
    return { type: mediaTypes.ndjson, texts: texts(), close: snapshot.end };
  } catch (error) {
    await snapshot.end();
    throw error;
  }
}

async function* recordsOf(
  deps: PersonDeps,
  caller: Caller,
  db: Executor,
  principalId: string,
  now: Date,
): AsyncGenerator<readonly object[]> {
  const { tenant } = caller;
  const typed = (type: string, records: readonly object[]) => records.map((record) => ({ type, ...record }));
  for (const tell of deps.tellers) yield* tell(db, tenant, principalId);
  for await (const grants of exportedGrants(db, caller, { principalId }, now)) yield typed('grant', grants);
  const range = await findSeqRange(db, tenant, {});
  for await (const entries of entryPortions(deps, db, tenant, { principalId }, range)) {
    yield typed('audit_entry', entries);
  }
}

interface SummaryDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** @throws BAD_REQUEST for a span of time that ends before it begins */
export function summarise(
  { db, clock }: SummaryDeps,
  { tenant }: Caller,
  span: Span,
): Promise<ComplianceSummary> {
  mustBeDays(span);
  const now = clock();
  return inSnapshot(db, async (snapshot) => ({
    generatedAt: now.toISOString(),
    ...(await countAll(snapshot, tenant, span, now)),
  }));
}

/** @param db a snapshot, so that the numbers are of one moment */
export async function countAll(db: Executor, tenant: Tenant, span: Span, now: Date): Promise<Counts> {
  const { since, until } = span;
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    agents: await countAgents(db, tenant),
    grants: await countGrants(db, tenant, span, now),
    auditEntries: await countEntriesByStatus(db, tenant, await findSeqRange(db, tenant, span)),
    policies: { total: await countPolicies(db, tenant) },
    plan: await getPlan(db, tenant),
  };
}

/** As `countAll`, of what a pack about somebody or something holds. The policies are those of the account. */
export async function countAbout(
  db: Executor,
  tenant: Tenant,
  { subject, grants, range, span: { since, until } }: About,
  now: Date,
): Promise<Counts> {
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    agents: await countAgents(db, tenant, grants),
    grants: await countGrants(db, tenant, grants, now),
    auditEntries: await countEntriesAbout(db, tenant, subject, range),
    policies: { total: await countPolicies(db, tenant) },
    plan: await getPlan(db, tenant),
  };
}

interface About {
  readonly subject: PackSubject;
  readonly grants: GrantFilter;
  readonly range: SeqRange;
  readonly span: Span;
}
