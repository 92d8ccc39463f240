import { createHash, timingSafeEqual } from 'node:crypto';
import { auditLine } from '@behest/protocol/audit-line';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { pageOf } from '../../../platform/paging.ts';
import { insertEntries, listEntryRows, lockHead, type OperatorEntryRow } from './operator.repo.ts';
import type { OperatorEntry, OperatorEntryPage, OperatorEntryQuery } from './operator.schema.ts';

/** A party that acts on the deployment: the holder of `ADMIN_API_KEY`, or the service by itself. */
export interface Operator {
  readonly actor: 'admin' | 'system';
  /** The id of the request, or the name of the work. */
  readonly requestId: string;
}

/** One thing that was done to the deployment. */
interface OperatorAct {
  readonly action: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The place of a developer's id in the line of an entry. No developer has this id. */
const OPERATOR = 'operator';

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

/**
 * Says of a text whether it is the operator's key.
 * @throws NOT_CONFIGURED when there is no such key
 */
export function operatorKeyCheck(key: string | undefined): (text: string | undefined) => boolean {
  const setting = 'ADMIN_API_KEY';
  const expected = key === undefined ? undefined : digestOf(key);
  return (text) => {
    if (!expected) {
      throw new AppError('NOT_CONFIGURED', `The operator has not set ${setting}.`, { setting });
    }
    return text !== undefined && timingSafeEqual(digestOf(text), expected);
  };
}

/** A digest has the same length for every text, which a comparison in constant time needs. */
const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** The chain from its beginning, so that its reader can check it. */
export async function listOperatorEntries(
  { db }: { readonly db: Executor },
  { limit, cursor }: OperatorEntryQuery,
): Promise<OperatorEntryPage> {
  const rows = await listEntryRows(db, Number(cursor ?? 0), limit);
  const { page, nextCursor } = pageOf(rows, ({ seq }) => seq, toEntry);
  return { entries: page, nextCursor };
}

function toEntry({
  id,
  seq,
  action,
  metadata,
  requestId,
  at,
  prevHash,
  hash,
}: OperatorEntryRow): OperatorEntry {
  return {
    id,
    seq: Number(seq),
    developerId: OPERATOR,
    action,
    metadata: Object(metadata),
    status: 'success',
    requestId,
    timestamp: at.toISOString(),
    prevHash,
    hash,
  };
}
