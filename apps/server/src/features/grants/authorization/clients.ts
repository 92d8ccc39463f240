import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { adoptAgent } from '../../accounts/agents/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { RequestRow } from './authorization.repo.ts';

/** An OAuth client as its request shows it. */
export interface AskingClient {
  /** The name that the client gives itself; null where it has that of its agent. */
  readonly name: string | null;
  /** The name comes from the developer who registered the client, from the host that published it, or from anybody. */
  readonly vouchedBy: 'developer' | 'host' | 'none';
  readonly host: string | null;
  /** Whether every address of the client leads to a program on the person's own machine. */
  readonly isLocal: boolean;
  /** The names of the resources that it asks for. */
  readonly resourceNames: readonly string[];
  /** Whether it gets refresh tokens. */
  readonly refreshes: boolean;
}

/** The client of a stored request; null for a request that no OAuth client made. */
export function clientOfRequest(client: unknown): AskingClient | null {
  const { name = null, vouchedBy, host = null, isLocal, resourceNames, refreshes } = Object(client);
  return vouchedBy === undefined ? null : { name, vouchedBy, host, isLocal, resourceNames, refreshes };
}

/** A request of an OAuth client, whose redirect URI is one that the client has registered. */
export interface ByClient {
  /** An id that was told before the request was made. */
  readonly requestId?: string;
  /** The key by whose proof alone the code is exchanged. */
  readonly keyThumbprint?: string;
  /** The way by which the client learns the decision, where that is no browser. Then a person decides in any case. */
  readonly channel?: NonNullable<RequestRow['channel']>;
  /** The text that the person compares with the other device. */
  readonly comparedText?: string;
  /** The client as the person is shown it. */
  readonly client?: AskingClient;
  /** Whether the agent is that of a client without an approval. */
  readonly isProposed?: boolean;
  /** The earliest sign-in of the person that counts. */
  readonly authenticatedSince?: Date;
  /** Whether no policy approves: neither does anybody answer for the client, nor has anything proved the person. */
  readonly needsPerson?: boolean;
  /** The longest life of a token. */
  readonly tokenSeconds?: number;
}

/**
 * Makes the agent of a client that was approved without a person an agent of the developer.
 * @throws PLAN_LIMIT_EXCEEDED: the code of the request is told to nobody then
 */
export function approveFirst(
  { db, clock, quotas }: { readonly db: Executor; readonly clock: Clock; readonly quotas: Quotas },
  caller: Caller,
  agentId: string,
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const acts = await adoptAgent(tx, quotas, caller, { agentId, at });
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
  });
}
