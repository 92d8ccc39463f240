import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';

/**
 * Ends the rows that depend on an agent, in the transaction that revokes the agent: throwing undoes all of
 * it. Returns an act for each ended row instead of recording it, because the audit chain is locked after
 * every other row.
 */
export type OnAgentRevoked = (tx: Tx, caller: Caller, revoked: RevokedAgent) => Promise<Act[]>;

export interface RevokedAgent {
  readonly agentId: string;
  readonly at: Date;
  /** For work after the commit. */
  readonly store: EphemeralStore;
}

export const agentRevoked = hook<OnAgentRevoked>('agent revoked');
