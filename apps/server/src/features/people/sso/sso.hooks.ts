import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';

/** Selects the principals of whom single sign-on is demanded from now on. */
export type Concerned = (principalIds: readonly string[]) => Promise<readonly string[]>;

/**
 * Ends what was opened before single sign-on was demanded, in the transaction of the demand.
 * @returns acts, which the caller records
 */
export type OnEnforced = (
  tx: Tx,
  caller: Caller,
  demand: { readonly concerned: Concerned; readonly store: EphemeralStore; readonly at: Date },
) => Promise<readonly Act[]>;

export const enforcementBegan = hook<OnEnforced>('single sign-on enforced');

/**
 * Ends the work of others on a connection that its developer activates, in the same transaction: what was reviewed is what
 * is in use.
 * @returns acts, which the caller records
 */
export type OnActivated = (
  tx: Tx,
  caller: Caller,
  change: { readonly connectionId: string; readonly at: Date },
) => Promise<readonly Act[]>;

export const connectionActivated = hook<OnActivated>('connection activated');

/**
 * Ends what was believed of a connection's identity provider, in the transaction that names another one.
 * @returns acts, which the caller records
 */
export type OnIssuerChanged = (
  tx: Tx,
  caller: Caller,
  change: { readonly connectionId: string; readonly at: Date },
) => Promise<readonly Act[]>;

export const issuerChanged = hook<OnIssuerChanged>('issuer of a connection changed');
