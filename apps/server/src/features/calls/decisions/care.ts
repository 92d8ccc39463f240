import { type Caller, systemCaller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { announce, recordActs } from '../../record/audit/index.ts';
import { listAllApprovers } from '../approvers/index.ts';
import { aboutOf, type DecisionsDeps, endedAct, factsOf } from './decisions.acts.ts';
import { type DecisionRow, listApprovals, lockDecision, updateDecision } from './decisions.repo.ts';
import { dueAt } from './decisions.rules.ts';
import { listDueAcrossTenants } from './lists.repo.ts';
import { noticesOf } from './notices.ts';
import { eligibleOf } from './routing.ts';

/** The most requests of one run. */
export const BATCH = 50;

/** The parts of the process that the job needs. */
export interface CareDeps extends Pick<DecisionsDeps, 'db' | 'clock' | 'mailer' | 'publicBaseUrl'> {
  readonly onFailure: (error: unknown) => void;
}

/**
 * Cares for requests that are due. One failure stops no other request.
 * @param failed takes those that failed, which the same run does not try again
 * @returns how many were due
 */
export async function careForDue(deps: CareDeps, failed = new Set<string>()): Promise<number> {
  const due = await listDueAcrossTenants(deps.db, deps.clock(), [...failed], BATCH);
  for (const one of due) {
    await careFor(deps, one).catch((error: unknown) => {
      failed.add(one.id);
      deps.onFailure(error);
    });
  }
  return due.length;
}

type Due = Awaited<ReturnType<typeof listDueAcrossTenants>>[number];

function careFor(deps: CareDeps, { id, developerId, mode, plan, reminders }: Due): Promise<void> {
  const at = deps.clock();
  const caller = systemCaller({ developerId }, { mode, plan }, 'decisions');
  return inTransaction(deps.db, async (tx) => {
    const row = await lockDecision(tx, caller.tenant, id);
    const isOpen = row?.status === 'pending' || row?.status === 'approved';
    if (!row || !isOpen || row.reminders !== reminders) return;
    if (row.expiresAt > at) return remind(deps, tx, caller, row);
    const expired = await updateDecision(tx, caller.tenant, id, { status: 'expired' });
    await noticesOf(deps, tx, caller, expired, { what: 'ended' });
    await recordActs(tx, caller, [endedAct('decision.expired', expired)], at);
  });
}

/** The people of the group `escalation` may decide from the first reminder on. */
async function remind(deps: CareDeps, tx: Tx, caller: Caller, row: DecisionRow): Promise<void> {
  const at = deps.clock();
  const reminders = row.reminders + 1;
  const next = dueAt(row.createdAt, row.expiresAt, reminders);
  if (row.status !== 'pending') {
    await updateDecision(tx, caller.tenant, row.id, { dueAt: row.expiresAt });
    return;
  }
  const all = await listAllApprovers(tx, caller.tenant);
  const { connector } = row;
  const escalated = all
    .filter(
      ({ kind, groups, connectors }) =>
        kind === 'person' && groups.includes('escalation') && (connectors?.includes(connector) ?? true),
    )
    .map(({ id }) => id);
  const routed = [...new Set([...row.routed, ...escalated])];
  const reminded = await updateDecision(tx, caller.tenant, row.id, { reminders, routed, dueAt: next });
  const [first] = await listApprovals(tx, caller.tenant, [row.id]);
  const eligible = eligibleOf(all, routed, at);
  await noticesOf(deps, tx, caller, reminded, { what: 'reminder', eligible, except: first?.approverId });
  const data = { ...factsOf(row), expiresAt: row.expiresAt.toISOString() };
  await announce(tx, caller, { type: 'decision.reminder', ...aboutOf(row), data }, at);
}
