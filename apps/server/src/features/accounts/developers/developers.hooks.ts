import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';

/**
 * Ends the rows that must not outlive an open account, in the transaction that closes the account. Returns an act for
 * each ended row instead of recording it, because the audit chain is locked after every other row.
 */
export type OnAccountClosed = (tx: Tx, caller: Caller, at: Date) => Promise<Act[]>;

export const accountClosed = hook<OnAccountClosed>('account closed');
