import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type DeveloperRow, lockOpenAccount, lockRunning, updateDeveloper } from './developers.repo.ts';
import type { AccountStop, StopAccount } from './developers.schema.ts';

interface StopDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/**
 * Stops every agent and grant of the account until it is resumed. An account that is stopped already keeps its time and
 * its reason. @throws UNAUTHORIZED when another call closed the account meanwhile
 */
export function stopAccount(deps: StopDeps, caller: Caller, { reason }: StopAccount): Promise<AccountStop> {
  const { developerId } = caller.tenant;
  return change(deps, caller, ({ stoppedAt }, at) => {
    if (stoppedAt) return undefined;
    const data = { ...(reason !== undefined && { reason }) };
    return {
      columns: { stoppedAt: at, stopReason: reason ?? null },
      act: { type: 'account.stopped', developerId, data },
    };
  });
}

/** Lets the agents and grants act again that are good by now. @throws UNAUTHORIZED as `stopAccount` */
export function resumeAccount(deps: StopDeps, caller: Caller): Promise<AccountStop> {
  const { developerId } = caller.tenant;
  return change(deps, caller, ({ stoppedAt }) => {
    if (!stoppedAt) return undefined;
    const data = { stoppedAt: stoppedAt.toISOString() };
    return {
      columns: { stoppedAt: null, stopReason: null },
      act: { type: 'account.resumed', developerId, data },
    };
  });
}

interface Change {
  readonly columns: Pick<DeveloperRow, 'stoppedAt' | 'stopReason'>;
  readonly act: Act;
}

/** One fact on the account decides, so a stop costs the same with one grant and with a hundred thousand. */
function change(
  { db, clock }: StopDeps,
  caller: Caller,
  changeOf: (row: DeveloperRow, at: Date) => Change | undefined,
): Promise<AccountStop> {
  const { tenant } = caller;
  const at = clock();
  return inTransaction(db, async (tx) => {
    await lockRunning(tx, tenant);
    const before = await lockOpenAccount(tx, tenant);
    const wanted = changeOf(before, at);
    if (!wanted) return stateOf(before);
    const after = await updateDeveloper(tx, tenant, { ...wanted.columns, updatedAt: at });
    await recordActs(tx, caller, [wanted.act], at);
    return stateOf(after);
  });
}

const stateOf = ({ stoppedAt, stopReason }: Change['columns']): AccountStop => ({
  stoppedAt: stoppedAt?.toISOString() ?? null,
  stopReason,
});
