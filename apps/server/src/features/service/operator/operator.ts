import { createHash, timingSafeEqual } from 'node:crypto';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { pageOf } from '../../../platform/paging.ts';
import { listEntryRows, type OperatorEntryRow } from './operator.repo.ts';
import type { OperatorEntry, OperatorEntryPage, OperatorEntryQuery } from './operator.schema.ts';
import { OPERATOR } from './record.ts';

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
