import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';

/** Ends what a user holds who was deactivated or deleted, in the transaction of that. @returns acts to record */
export type OnUserLeft = (tx: Tx, caller: Caller, userId: string, at: Date) => Promise<readonly Act[]>;

export const userLeft = hook<OnUserLeft>('user left');

/**
 * Ends what the ids of a person have beside their rights, when the developer ends everything of them and closes them.
 * @returns acts to record
 */
export type OnPrincipalClosed = (
  tx: Tx,
  caller: Caller,
  principalIds: readonly string[],
  at: Date,
) => Promise<readonly Act[]>;

export const principalClosed = hook<OnPrincipalClosed>('principal closed');

/** What ends of a user's principals, and why. */
export interface Revocation {
  readonly reason: 'principal_offboarded' | 'idp_signal';
  /** The grants that end: those approved by single sign-on, or every one. */
  readonly grants: 'none' | 'sso' | 'all';
  /** Whether the person's own sessions end. */
  readonly endsSessions: boolean;
  /** The user is deleted, so credentials and passkeys go too. */
  readonly isForGood: boolean;
}

/** What a feature gives to principals, and takes back when the directory or a signal says so. */
export interface PrincipalRights {
  /** Takes the locks that come before those of principals. */
  readonly lockFirst?: (tx: Tx, caller: Caller) => Promise<void>;
  /** The principals with such rights among these ids, in any case. */
  readonly listHolders: (
    db: Executor,
    tenant: Tenant,
    ids: readonly string[],
    revocation: Revocation,
  ) => Promise<readonly string[]>;
  /** Runs in the transaction of the change. @returns acts to record */
  readonly revoke: (
    tx: Tx,
    caller: Caller,
    principalIds: readonly string[],
    context: Revocation & { readonly at: Date; readonly store: EphemeralStore },
  ) => Promise<readonly Act[]>;
}

export const principalRights = hook<PrincipalRights>('rights of principals');
