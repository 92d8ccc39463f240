import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import { closeCaseCounters } from '../caps/index.ts';
import { aboutOf, type DecisionsDeps, endedAct, factsOf } from './decisions.acts.ts';
import {
  type DecisionRow,
  deleteCase,
  findDecision,
  listGrants,
  listKnownGrants,
  lockDecision,
  lockOpenOfCase,
  setCase,
  updateDecision,
} from './decisions.repo.ts';
import { statusAt } from './decisions.rules.ts';
import type { Decision, DecisionCase, NewDecisionCase } from './decisions.schema.ts';
import { noticesOf } from './notices.ts';
import { withApprovals } from './show.ts';

/** The refusal of a request that was decided, used or ended before. */
export function ended(status: string): AppError {
  if (status === 'expired') return new AppError('GONE', 'This request has expired.', { status });
  return new AppError('CONFLICT', 'This request is no longer open.', { status });
}

/** Whether somebody may still take back what was approved: a call that was sent is not called back, but not repeated. */
export const isOpenAt = (row: DecisionRow, at: Date): boolean => {
  const status = statusAt(row, at);
  const isSent = status === 'consumed' && row.hold === 'sent' && row.expiresAt > at;
  return status === 'pending' || status === 'approved' || isSent;
};

/** Takes a request back. Its decision grants are good for nothing from then on. @throws NOT_FOUND, CONFLICT, GONE */
export function cancelDecision(deps: DecisionsDeps, caller: Caller, id: string): Promise<Decision> {
  const at = deps.clock();
  const { tenant } = caller;
  return inTransaction(deps.db, async (tx) => {
    if (!(await findDecision(tx, caller, id))) throw notFound();
    const row = await lockDecision(tx, tenant, id);
    if (!row || !isOpenAt(row, at)) throw ended(row ? statusAt(row, at) : 'cancelled');
    const cancelled = await updateDecision(tx, tenant, id, { status: 'cancelled' });
    await noticesOf(deps, tx, caller, cancelled, { what: 'ended' });
    await recordActs(tx, caller, [cancelledAct(cancelled)], at);
    return withApprovals({ ...deps, db: tx }, cancelled);
  });
}

const cancelledAct = (row: DecisionRow): Act => ({
  type: 'decision.cancelled',
  ...aboutOf(row),
  data: { ...factsOf(row), reason: 'api' },
});

/**
 * Sets the version of a case, and the grants whose requests through the vault proxy may name it. Requests and approvals
 * about another version are good for nothing from then on.
 * @throws BAD_REQUEST for a grant of nobody, or of another account
 */
export function changeCase(
  deps: DecisionsDeps,
  caller: Caller,
  caseId: string,
  { caseVersion, grantIds }: NewDecisionCase,
): Promise<DecisionCase> {
  const at = deps.clock();
  const { tenant } = caller;
  return inTransaction(deps.db, async (tx) => {
    if (grantIds) mustBeKnown(grantIds, await listKnownGrants(tx, tenant, grantIds));
    const held = await setCase(tx, tenant, { caseId, caseVersion, ...(grantIds && { grantIds }) });
    const acts = await supersede(tx, deps, caller, caseId, caseVersion);
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
    return { caseId, caseVersion, grantIds: held };
  });
}

/**
 * Closes a case: its open requests are superseded, and the units that its calls took from caps by case are forgotten. Each
 * grant that such a cap belongs to gets an entry, so that its calls can be counted again.
 * @throws NOT_FOUND where nothing is known of the case
 */
export function closeCase(deps: DecisionsDeps, caller: Caller, caseId: string): Promise<void> {
  const at = deps.clock();
  const { tenant } = caller;
  return inTransaction(deps.db, async (tx) => {
    const caseVersion = await deleteCase(tx, tenant, caseId);
    const acts = await supersede(tx, deps, caller, caseId);
    const { counters, grantIds } = await closeCaseCounters(tx, tenant, caseId);
    if (caseVersion === undefined && acts.length === 0 && counters === 0) throw notFound();
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
    const data = { caseId, caseVersion: caseVersion ?? null, superseded: acts.length, counters };
    await recordEntry(tx, caller, { action: 'case.closed', data }, at);
    for (const grant of await listGrants(tx, tenant, grantIds)) {
      const about = concerning({ ...grant, grantId: grant.id });
      await recordEntry(tx, caller, { action: 'case.caps_reset', about, data: { caseId } }, at);
    }
  });
}

function mustBeKnown(grantIds: readonly string[], known: ReadonlySet<string>): void {
  const index = grantIds.findIndex((id) => !known.has(id));
  if (index >= 0) throw badField(`grantIds.${index}`, 'not_allowed', 'Name grants of your own account.');
}

async function supersede(
  tx: Tx,
  deps: DecisionsDeps,
  caller: Caller,
  caseId: string,
  stays?: string,
): Promise<Act[]> {
  const at = deps.clock();
  const acts: Act[] = [];
  for (const row of await lockOpenOfCase(tx, caller.tenant, caseId, stays)) {
    if (!isOpenAt(row, at)) continue;
    const superseded = await updateDecision(tx, caller.tenant, row.id, { status: 'superseded' });
    await noticesOf(deps, tx, caller, superseded, { what: 'ended' });
    acts.push(endedAct('decision.superseded', superseded));
  }
  return acts;
}
