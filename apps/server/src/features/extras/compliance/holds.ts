import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordEntry } from '../../record/audit/index.ts';
import {
  countStandingHolds,
  findHold,
  type HoldRow,
  insertHold,
  isOpenAccount,
  listHoldRows,
  lockHolds,
  releaseHoldRow,
} from './compliance.repo.ts';
import type { HoldQuery, LegalHold, LegalHoldPage, NewLegalHold } from './compliance.schema.ts';

export interface HoldDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

const MAX_STANDING = 100;

/** @throws CONFLICT when 100 holds stand, UNAUTHORIZED when another call closed the account meanwhile */
export function placeHold({ db, clock }: HoldDeps, caller: Caller, input: NewLegalHold): Promise<LegalHold> {
  const at = clock();
  const { tenant } = caller;
  const { name, reason = null, principalId = null } = input;

  return inTransaction(db, async (tx) => {
    await lockHolds(tx, tenant);
    // The close of the account ended this key a moment ago.
    if (!(await isOpenAccount(tx, tenant))) throw new AppError('UNAUTHORIZED', 'This account was closed.');
    if ((await countStandingHolds(tx, tenant)) >= MAX_STANDING) {
      throw new AppError(
        'CONFLICT',
        `At most ${MAX_STANDING} legal holds stand at a time. Release one first.`,
      );
    }
    const id = newId('hold', at);
    const row = { ...tenant, id, name, reason, principalId, createdAt: at, releasedAt: null };
    const hold = await insertHold(tx, row);
    await record(tx, caller, hold, 'placed', at);
    return toHold(hold);
  });
}

/** @throws NOT_FOUND */
export function releaseHold({ db, clock }: HoldDeps, caller: Caller, id: string): Promise<LegalHold> {
  const at = clock();
  const { tenant } = caller;

  return inTransaction(db, async (tx) => {
    await lockHolds(tx, tenant);
    const hold = await findHold(tx, tenant, id);
    if (!hold) throw notFound();
    if (hold.releasedAt !== null) return toHold(hold);
    await releaseHoldRow(tx, tenant, id, at);
    await record(tx, caller, hold, 'released', at);
    return toHold({ ...hold, releasedAt: at });
  });
}

export async function listHolds(
  { db }: HoldDeps,
  { tenant }: Caller,
  query: HoldQuery,
): Promise<LegalHoldPage> {
  const { page, nextCursor } = pageOf(await listHoldRows(db, tenant, query), byId, toHold);
  return { holds: page, nextCursor };
}

/** The close of an account, which erases its rows later, waits for the end of its holds. @throws CONFLICT */
export async function refuseHeld(tx: Tx, { tenant }: Caller): Promise<[]> {
  await lockHolds(tx, tenant);
  const standing = await countStandingHolds(tx, tenant);
  if (standing === 0) return [];
  const message = 'A legal hold stands, so nothing of the account may be erased. Release it first.';
  throw new AppError('CONFLICT', message, { field: 'legalHold', standing });
}

/**
 * Counts the holds that keep content: those about the account, and those about this person. Content that is erased for its
 * age is of all people, so there every hold counts. No hold comes or goes until the transaction ends.
 */
export async function countHoldsAgainst(tx: Tx, tenant: Tenant, principalId: string | null): Promise<number> {
  await lockHolds(tx, tenant);
  return countStandingHolds(tx, tenant, principalId);
}

const record = (tx: Tx, caller: Caller, { id }: HoldRow, change: 'placed' | 'released', at: Date) =>
  recordEntry(tx, caller, { action: 'compliance.hold_changed', data: { id, change } }, at);

const toHold = ({ developerId: _, createdAt, releasedAt, ...row }: HoldRow): LegalHold => ({
  ...row,
  createdAt: createdAt.toISOString(),
  releasedAt: releasedAt?.toISOString() ?? null,
});
