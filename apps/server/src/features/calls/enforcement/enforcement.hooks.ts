import type { DecisionStore } from '@behest/protocol/enforcement/ports';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';
import type { KeyRing } from '../../service/keys/index.ts';

export interface DecisionDeps {
  readonly db: Executor;
  /** For steps of a decision, which stand whatever becomes of the request that takes them. */
  readonly aside: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly issuer: string;
}

/** Opens the decisions of a caller, for the check of a call that needs one. One feature listens. */
export type OpenDecisions = (deps: DecisionDeps, caller: Caller) => DecisionStore;

export const decisionsAsked = hook<OpenDecisions>('decisions asked');
