import { canonicalJson } from '@behest/protocol/canonical-json';
import type { Caller } from '../../../platform/caller.ts';
import { mustBeSteppedUp } from '../../../platform/capabilities.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Loosening, NeedsSecondMember } from '../../../platform/loosening.ts';
import { findLooseningRule } from './developers.queries.ts';

/**
 * Every change that weakens what a live account enforces comes here, in its transaction and before it writes. A member uses
 * their passkey again, and where the account wants two people, the change waits for the second.
 * @throws STEP_UP_REQUIRED, CONFLICT when members agreed to another change, NeedsSecondMember
 */
export async function mustMayLoosen(db: Executor, caller: Caller, loosening: Loosening): Promise<void> {
  mustBeSteppedUp(caller);
  const { agreed, mode, tenant } = caller;
  if (agreed) {
    if (canonicalJson(Object(agreed.difference)) !== canonicalJson(loosening.difference))
      throw changedMeanwhile();
    agreed.onReached();
    return;
  }
  if (mode === 'live' && (await findLooseningRule(db, tenant))) throw new NeedsSecondMember(loosening);
}

export const changedMeanwhile = () =>
  new AppError('CONFLICT', 'What it changes is not what it was any more. Propose the change again.', {
    sub_reason: 'changed',
  });

/** Whether the account keeps what it enforces from one person, for what cannot be kept until a second agrees. */
export const needsTwo = async (db: Executor, { mode, tenant, agreed }: Caller): Promise<boolean> =>
  mode === 'live' && !agreed && (await findLooseningRule(db, tenant));
