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
 * What developers say themselves about an act of their agents. The act is the entry itself, hence there is no
 * event.
 * @throws NOT_FOUND, BAD_REQUEST when the entry disagrees with its grant, RESERVED_ACTION, PLAN_LIMIT_EXCEEDED
 */
export async function appendEntry(deps: AppendDeps, caller: Caller, entry: NewEntry): Promise<AuditEntry> {
  const { tenant, requestId } = caller;
  const { action, agentId, agentDid, grantId, principalId, status, metadata } = entry;
  mustBeKeepableMetadata(metadata);
  if (deps.catalogue.isServiceAction(action)) {
    throw new AppError('RESERVED_ACTION', 'Only the service writes entries of this name.', { action });
  }
  const grant = await findGrant(deps.db, tenant, grantId);
  if (!grant) throw notFound();
  for (const name of ['agentId', 'agentDid', 'principalId'] as const) {
    if (grant[name] !== entry[name])
      throw badField(name, 'not_allowed', 'The entry is not about this grant.');
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

/** Appends one entry. @returns nothing when the month has as many as `monthLimit` already. */
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

/** Of 16 KiB each at most, this is a megabyte on its way to Postgres. */
const MOST_TOGETHER = 64;

/**
 * Entries of one developer that wait for the head of their chain in this process are written together: twenty
 * in one transaction cost about what two do. Nothing is answered before it is committed.
 */
export function groupAppends(clock: Clock): Append {
  const queues = new Map<string, Waiting[]>();

  const drain = async (db: Executor, tenant: Tenant, queue: Waiting[]) => {
    while (queue[0]) {
      const { monthLimit } = queue[0]; // another plan since then, another group
      const end = queue.findIndex((each, at) => at === MOST_TOGETHER || each.monthLimit !== monthLimit);
      await appendTogether(db, tenant, clock, queue.splice(0, end === -1 ? queue.length : end));
    }
    queues.delete(tenant.developerId);
  };

  return (db, tenant, entry, monthLimit) => {
    // Inside a larger transaction an entry stands or falls with it, and so can share no other.
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

/** Settles each of a group, and never throws itself. */
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
    // One that Postgres does not take must not cost the others their position.
    const [only, second] = group;
    if (only && (!second || isDatabaseAway(error))) for (const { reject } of group) reject(error);
    else for (const each of group) await appendTogether(db, tenant, clock, [each]);
  }
}
