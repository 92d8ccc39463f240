import type { ActSubject } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';

interface Asked {
  readonly operation: 'authorize' | 'delegate';
  readonly about: ActSubject;
}

/**
 * Decides whether an agent may ask for its scopes, and records a refusal of them, so that detection sees an agent that
 * tries. @throws as `decide`
 */
export async function recordingScopes<Decided>(
  { db, clock }: { readonly db: Executor; readonly clock: Clock },
  caller: Caller,
  { operation, about }: Asked,
  decide: () => Decided,
): Promise<Decided> {
  try {
    return decide();
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_SCOPE') {
      const data = { operation, reason: 'scope_exceeded', ...error.details };
      const attempt = { action: 'authorization.scope_refused', about, data, hasOwnEntry: true } as const;
      await inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
    }
    throw error;
  }
}
