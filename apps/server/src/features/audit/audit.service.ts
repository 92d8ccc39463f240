import { auditLineParts } from '@behest/protocol/audit-line';
import type { Caller } from '../../platform/caller.ts';
import type { Clock } from '../../platform/clock.ts';
import { Counted } from '../../platform/db/counted.ts';
import { type Executor, repeating } from '../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../platform/errors.ts';
import { newId, newSalt } from '../../platform/ids.ts';
import type { Meter } from '../../platform/telemetry/meter.ts';
import { allServiceActions, isServiceAction } from '../events/index.ts';
import { limitOf, overQuota, type Quotas } from '../quotas/index.ts';
import {
  appendCounted,
  type EntryRow,
  findEntry,
  findHead,
  listEntryRows,
  type NewRecord,
} from './audit.repo.ts';
import { mustBeKeepable } from './audit.rules.ts';
import type { AuditEntry, ChainHead, EntryPage, EntryQuery, NewEntry } from './audit.schema.ts';

/** Of the grant that an entry says it is about, what the entry has to agree with. */
export interface GrantFacts {
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly purpose: string | null;
}

export interface AuditDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly meter: Meter;
  /** Grants are a tier above, so how to find one comes from outside. */
  readonly findGrantFacts: (
    db: Executor,
    tenant: Caller['tenant'],
    grantId: string,
  ) => Promise<GrantFacts | undefined>;
}

/**
 * What developers say themselves about an act of their agents. The act is the entry itself, hence there is no
 * event.
 * @throws NOT_FOUND, BAD_REQUEST when the entry disagrees with its grant, RESERVED_ACTION, PLAN_LIMIT_EXCEEDED
 */
export async function appendEntry(deps: AuditDeps, caller: Caller, entry: NewEntry): Promise<AuditEntry> {
  const { tenant, requestId } = caller;
  const { action, agentId, agentDid, grantId, principalId, status, metadata } = entry;
  mustBeKeepable(metadata);
  if (isServiceAction(action)) {
    throw new AppError('RESERVED_ACTION', 'Only the service writes entries of this name.', { action });
  }
  const grant = await deps.findGrantFacts(deps.db, tenant, grantId);
  if (!grant) throw notFound();
  for (const name of ['agentId', 'agentDid', 'principalId'] as const) {
    if (grant[name] !== entry[name])
      throw badField(name, 'not_allowed', 'The entry is not about this grant.');
  }

  const at = deps.clock();
  const id = newId('alog', at);
  const about = { agentId, agentDid, grantId, principalId, purpose: grant.purpose };
  const facts = { id, ...tenant, ...about, action, status, metadata, salt: newSalt() };
  const record: NewRecord = { ...auditLineParts(facts), requestId };
  const line = new Counted(JSON.stringify([record]), [{ counter: 'auditEntries', label: 'developer' }]);
  const limit = limitOf(deps.quotas, caller, 'audit_appends');
  const recorded = await repeating(deps.db, () => appendCounted(deps.db, tenant, at, line, limit));
  if (!recorded) throw overQuota(caller, 'audit_appends', limit);
  const { seq, timestamp, prevHash, hash } = recorded;
  const place = { seq: Number(seq), timestamp, prevHash, hash };
  return { entryId: id, ...facts, ...place, source: 'developer', requestId };
}

/** @throws NOT_FOUND for an unknown entry and for a foreign one alike. */
export async function getEntry(deps: AuditDeps, { tenant }: Caller, id: string): Promise<AuditEntry> {
  const row = await findEntry(deps.db, tenant, id);
  if (!row) throw notFound();
  return toEntry(row);
}

export async function listEntries(deps: AuditDeps, caller: Caller, query: EntryQuery): Promise<EntryPage> {
  const { since, until, limit } = query;
  if (since && until && new Date(since) >= new Date(until)) throw badField('until', 'too_small');
  const rows = await listEntryRows(deps.db, caller.tenant, query, allServiceActions());
  const page = rows.slice(0, limit);
  const last = rows.length > page.length ? page.at(-1) : undefined;
  return { entries: page.map(toEntry), nextCursor: last?.seq ?? null };
}

export async function getHead({ db }: AuditDeps, { tenant }: Caller): Promise<ChainHead> {
  const { seq, hash, at } = await findHead(db, tenant);
  return { seq: Number(seq), hash: hash?.toString('hex') ?? null, timestamp: at?.toISOString() ?? null };
}

export function toEntry({ at, prevHash, hash, seq, metadata, ...row }: EntryRow): AuditEntry {
  return {
    entryId: row.id,
    ...row,
    seq: Number(seq),
    metadata: Object(metadata),
    timestamp: at.toISOString(),
    prevHash: prevHash?.toString('hex') ?? null,
    hash: hash.toString('hex'),
    source: isServiceAction(row.action) ? 'service' : 'developer',
  };
}
