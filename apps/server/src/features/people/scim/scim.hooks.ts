import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';

/** Ends what a user holds who was deactivated or deleted, in the transaction of that. @returns acts to record */
export type OnUserLeft = (tx: Tx, caller: Caller, userId: string, at: Date) => Promise<readonly Act[]>;

export const userLeft = hook<OnUserLeft>('user left');
