import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { countHoldsAgainst } from '../../extras/compliance/index.ts';
import { findSeqRange } from '../audit/audit.queries.ts';
import { findErasure, hasLivingGrant, insertErasure } from './erasures.repo.ts';
import type { BegunErasure, Erasure, NewErasure } from './erasures.schema.ts';

export interface ErasureDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/**
 * Begins to erase a person's content from the entries that the chain has now. A job does the work.
 * @throws CONFLICT while the person has an active grant, or a legal hold stands
 */
export function beginErasure(
  { db, clock }: ErasureDeps,
  { tenant, actor }: Caller,
  { principalId, reason }: NewErasure,
): Promise<BegunErasure> {
  const at = clock();
  const id = newId('erasure', at);

  return inTransaction(db, async (tx) => {
    const standing = await countHoldsAgainst(tx, tenant, principalId);
    if (standing > 0) {
      const message = 'A legal hold stands, so nothing of this person may be erased. Release it first.';
      throw new AppError('CONFLICT', message, { field: 'legalHold', standing });
    }
    if (await hasLivingGrant(tx, tenant, principalId, at)) {
      const message = 'The person has an active grant. Revoke their grants first.';
      throw new AppError('CONFLICT', message, { field: 'principalId' });
    }
    const { toSeq } = await findSeqRange(tx, tenant, {});
    const part = { nextSeq: '1', lastSeq: String(toSeq) };
    await insertErasure(tx, tenant, {
      id,
      principalId,
      reason: reason ?? null,
      actor,
      ...part,
      createdAt: at,
    });
    return { erasureId: id, status: 'running' };
  });
}

/** @throws NOT_FOUND */
export async function getErasure({ db }: ErasureDeps, { tenant }: Caller, id: string): Promise<Erasure> {
  const row = await findErasure(db, tenant, id);
  if (!row) throw notFound();
  return {
    erasureId: row.id,
    status: row.finishedAt ? 'done' : 'running',
    entries: Number(row.entries),
    brokenEntries: Number(row.broken),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}
