import { createHash } from 'node:crypto';
import { auditLine } from '@behest/protocol/audit-line';
import type { Tx } from '../../../platform/db/db.ts';
import { newId } from '../../../platform/ids.ts';
import { insertEntries, lockHead } from './operator.repo.ts';

/** A party that acts on the deployment: the holder of `ADMIN_API_KEY`, or the service by itself. */
export interface Operator {
  readonly actor: 'admin' | 'system';
  /** The id of the request, or the name of the work. */
  readonly requestId: string;
}

/** One thing that was done to the deployment. */
export interface OperatorAct {
  readonly action: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The place of a developer's id in the line of an entry. No developer has this id. */
export const OPERATOR = 'operator';

/**
 * Writes the entries of one transaction to the operator's chain. The caller passes the transaction that does the acts.
 * Call it last: it locks the end of the chain until the commit.
 */
export async function recordForOperator(
  tx: Tx,
  { actor, requestId }: Operator,
  acts: readonly OperatorAct[],
  now: Date,
): Promise<void> {
  if (acts.length === 0) return;
  const head = await lockHead(tx);
  const at = head.at && head.at > now ? head.at : now; // the clocks of two instances may differ
  let { hash: prevHash } = head;
  const entries = acts.map(({ action, data }, index) => {
    const id = newId('oplog', at);
    const metadata = { ...data, actor };
    const facts = { id, developerId: OPERATOR, action, metadata, status: 'success' } as const;
    const line = auditLine({ ...facts, timestamp: at.toISOString(), prevHash });
    const hash = createHash('sha256').update(line).digest('hex');
    const entry = {
      seq: String(Number(head.seq) + index + 1),
      id,
      action,
      metadata: JSON.stringify(metadata),
      requestId,
      at,
      prevHash,
      hash,
    };
    prevHash = hash;
    return entry;
  });
  await insertEntries(tx, entries);
}
