import { auditLineParts } from '@behest/protocol/audit-line';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { findGrant } from '../../grants/grants/grants.queries.ts';
import type { Catalogue } from '../events/index.ts';
import { appendCounted } from './audit.repo.ts';
import { mustBeKeepableMetadata } from './audit.rules.ts';
import type { AuditEntry, NewEntry } from './audit.schema.ts';

export interface AppendDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly catalogue: Catalogue;
}

/**
 * Appends an entry that a developer writes about an act of an agent. The service did not do the act, so there
 * is no event.
 * @throws NOT_FOUND, BAD_REQUEST when the entry disagrees with its grant, RESERVED_ACTION, PLAN_LIMIT_EXCEEDED
 */
export async function appendEntry(deps: AppendDeps, caller: Caller, entry: NewEntry): Promise<AuditEntry> {
  const { tenant, requestId } = caller;
  const { action, agentId, agentDid, grantId, principalId, status, metadata } = entry;
  mustBeKeepableMetadata(metadata);
  if (deps.catalogue.isReserved(action)) {
    throw new AppError('RESERVED_ACTION', 'Only the service writes entries with this action.', { action });
  }
  const grant = await findGrant(deps.db, caller, grantId);
  if (!grant) throw notFound();
  for (const name of ['agentId', 'agentDid', 'principalId'] as const) {
    if (grant[name] !== entry[name]) throw badField(name, 'not_allowed', 'The entry differs from its grant.');
  }

  const at = deps.clock();
  const id = newId('alog', at);
  const about = { agentId, agentDid, grantId, principalId, purpose: grant.purpose };
  const facts = { id, ...tenant, ...about, action, status, metadata, salt: newSalt() };
  const line = { ...auditLineParts(facts), requestId };
  const limit = limitOf(deps.quotas, caller, 'audit_appends');
  const append = { id, entry: line, monthLimit: limit };
  const recorded = await appendCounted(deps.db, tenant, at, append);
  if (!recorded) throw overQuota(caller, 'audit_appends', limit);
  const { seq, timestamp, prevHash, hash } = recorded;
  const position = { seq: Number(seq), timestamp, prevHash, hash };
  return { entryId: id, ...facts, ...position, source: 'developer', requestId };
}
