import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';

/** Ends what waits for a provider, in the transaction that deletes it. Returns an act for each ended row. */
export type OnProviderDeleted = (tx: Tx, caller: Caller, providerId: string, at: Date) => Promise<Act[]>;

export const providerDeleted = hook<OnProviderDeleted>('provider deleted');
