import { auditLineParts } from '@behest/protocol/audit-line';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, isDatabaseAway, repeating } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { findGrant } from '../../access/grants/grants.queries.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import type { Catalogue } from '../events/index.ts';
import { appendCounted, type ChainPosition, type PreparedAct } from './audit.repo.ts';
import { mustBeKeepableMetadata } from './audit.rules.ts';
import type { AuditEntry, NewEntry } from './audit.schema.ts';

export interface AppendDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly catalogue: Catalogue;
  readonly append: Append;
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
  if (deps.catalogue.isServiceAction(action)) {
    throw new AppError('RESERVED_ACTION', 'Only the service writes entries with this action.', { action });
  }
  const grant = await findGrant(deps.db, tenant, grantId);
  if (!grant) throw notFound();
  for (const name of ['agentId', 'agentDid', 'principalId'] as const) {
    if (grant[name] !== entry[name]) throw badField(name, 'not_allowed', 'The entry differs from its grant.');
  }

  const id = newId('alog', deps.clock());
  const about = { agentId, agentDid, grantId, principalId, purpose: grant.purpose };
  const facts = { id, ...tenant, ...about, action, status, metadata, salt: newSalt() };
  const line = { ...auditLineParts(facts), requestId };
  const limit = limitOf(deps.quotas, caller, 'audit_appends');
  const recorded = await deps.append(deps.db, tenant, line, limit);
  if (!recorded) throw overQuota(caller, 'audit_appends', limit);
  const { seq, timestamp, prevHash, hash } = recorded;
  const position = { seq: Number(seq), timestamp, prevHash, hash };
  return { entryId: id, ...facts, ...position, source: 'developer', requestId };
}

/** Appends one entry. @returns nothing when the month already has `monthLimit` entries. */
export type Append = (
  db: Executor,
  tenant: Tenant,
  entry: PreparedAct,
  monthLimit: number | null,
) => Promise<ChainPosition | undefined>;

interface Waiting {
  readonly entry: PreparedAct;
  readonly monthLimit: number | null;
  readonly resolve: (recorded: ChainPosition | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Entries. Each has 16 KiB at most, so one statement carries a megabyte at most. */
const MOST_TOGETHER = 64;

/**
 * Writes the entries that wait in this process for the head of the same chain in one transaction: twenty in
 * one transaction cost about as much as two. Each request gets its answer after the commit.
 */
export function groupAppends(clock: Clock): Append {
  const queues = new Map<string, Waiting[]>();

  const drain = async (db: Executor, tenant: Tenant, queue: Waiting[]) => {
    while (queue[0]) {
      const { monthLimit } = queue[0]; // the plan may have changed while entries waited
      const end = queue.findIndex((each, at) => at === MOST_TOGETHER || each.monthLimit !== monthLimit);
      await appendTogether(db, tenant, clock, queue.splice(0, end === -1 ? queue.length : end));
    }
    queues.delete(tenant.developerId);
  };

  return (db, tenant, entry, monthLimit) => {
    // In a caller's transaction the entry commits or rolls back with it, so it cannot join a group.
    if (db.isTransaction)
      return appendCounted(db, tenant, clock(), [entry], monthLimit).then(([first]) => first);
    return new Promise((resolve, reject) => {
      const waiting = { entry, monthLimit, resolve, reject };
      const queue = queues.get(tenant.developerId);
      if (queue) {
        queue.push(waiting);
        return;
      }
      const own = [waiting];
      queues.set(tenant.developerId, own);
      drain(db, tenant, own);
    });
  };
}

/** Settles the promise of each entry in a group, and never throws. */
async function appendTogether(
  db: Executor,
  tenant: Tenant,
  clock: Clock,
  group: readonly Waiting[],
): Promise<void> {
  try {
    const entries = group.map(({ entry }) => entry);
    const limit = group[0]?.monthLimit ?? null;
    const recorded = await repeating(db, () => appendCounted(db, tenant, clock(), entries, limit));
    for (const [at, { resolve }] of group.entries()) resolve(recorded[at]);
  } catch (error) {
    // An entry that Postgres refuses must not make the others fail, so each is tried alone.
    const [only, second] = group;
    if (only && (!second || isDatabaseAway(error))) for (const { reject } of group) reject(error);
    else for (const each of group) await appendTogether(db, tenant, clock, [each]);
  }
}
