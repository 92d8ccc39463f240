import { createHash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import type { Caller, KeptRequest, Loosening } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockOpenAccount } from '../developers/index.ts';
import {
  type ChangeRow,
  findChange,
  insertChange,
  listChangeRows,
  listOpenChanges,
  lockChange,
  updateChange,
} from './changes.repo.ts';
import type { ChangePage, ChangeQuery, LooseningChange } from './changes.schema.ts';

export interface ChangeDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** The answer to a request that waits. */
interface ProposedChange extends Pick<LooseningChange, 'changeId' | 'about' | 'expiresAt'> {
  readonly status: 'open';
}

/** Changes that wait at once, so that a person can look at each. */
const MAX_OPEN = 20;
const LIFE_MS = 86_400_000;

/**
 * Keeps a request that waits for a second member. The same request of the same actor is kept once.
 * @throws CONFLICT when too many wait
 */
export function proposeChange(
  { db, clock }: ChangeDeps,
  caller: Caller,
  kept: KeptRequest,
  { about, difference }: Loosening,
): Promise<ProposedChange> {
  const at = clock();
  const { tenant, actor, member } = caller;
  const hash = hashOf(kept);
  return inTransaction(db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    const open = await listOpenChanges(tx, tenant, at, MAX_OPEN);
    const same = open.find(
      (one) =>
        one.proposedBy === actor &&
        one.hash.equals(hash) &&
        canonicalJson(Object(one.difference)) === canonicalJson(difference),
    );
    if (same) return toProposed(same);
    if (open.length >= MAX_OPEN) throw tooMany();
    const id = newId('chg', at);
    const row = await insertChange(tx, tenant, {
      ...{ id, operation: kept.operation, about, hash, proposedBy: actor, createdAt: at },
      difference: JSON.stringify(difference),
      params: JSON.stringify(kept.params ?? {}),
      body: JSON.stringify(kept.body ?? {}),
      // A key is no person: whoever holds it may be one of the two.
      needed: member ? 1 : 2,
      expiresAt: new Date(at.getTime() + LIFE_MS),
    });
    await recordActs(tx, caller, [{ type: 'change.proposed', data: dataOf(row) }], at);
    return toProposed(row);
  });
}

const tooMany = () =>
  new AppError('CONFLICT', `${MAX_OPEN} changes wait for a second member. Withdraw one first.`);

/** What an entry and an event say of a change. */
export const dataOf = ({ id, operation, about, hash, proposedBy }: ChangeRow) => ({
  ...{ changeId: id, operation, about, proposedBy },
  hash: hash.toString('hex'),
});

function hashOf({ operation, params, body }: KeptRequest): Buffer {
  const text = canonicalJson({ operation, params: params ?? {}, body: body ?? {} });
  return createHash('sha256').update(text).digest();
}

const toProposed = ({ id, about, expiresAt }: ChangeRow): ProposedChange => ({
  ...{ changeId: id, status: 'open', about },
  expiresAt: expiresAt.toISOString(),
});

/** The newest first. */
export async function listChanges(
  { db, clock }: ChangeDeps,
  { tenant }: Caller,
  query: ChangeQuery,
): Promise<ChangePage> {
  const at = clock();
  if (query.status === 'open') {
    const open = await listOpenChanges(db, tenant, at, MAX_OPEN);
    return { changes: open.map((row) => toChange(row, at)), nextCursor: null };
  }
  const { page, nextCursor } = pageOf(await listChangeRows(db, tenant, query), byId, (row) =>
    toChange(row, at),
  );
  return { changes: page, nextCursor };
}

/** @throws NOT_FOUND */
export async function getChange(
  { db, clock }: ChangeDeps,
  { tenant }: Caller,
  id: string,
): Promise<LooseningChange> {
  const row = await findChange(db, tenant, id);
  if (!row) throw notFound();
  return toChange(row, clock());
}

/** Takes a change back, whoever proposed it: what is enforced stays. @throws NOT_FOUND, CONFLICT */
export function withdrawChange({ db, clock }: ChangeDeps, caller: Caller, id: string): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const row = await lockChange(tx, caller.tenant, id);
    if (!row) throw notFound();
    mustBeOpen(row, at);
    await updateChange(tx, caller.tenant, id, decided('withdrawn', at));
    await recordActs(tx, caller, [{ type: 'change.withdrawn', data: dataOf(row) }], at);
  });
}

/** @throws CONFLICT */
export function mustBeOpen({ status, expiresAt }: ChangeRow, at: Date): void {
  const found = status === 'open' && expiresAt <= at ? 'expired' : status;
  if (found === 'open') return;
  throw new AppError('CONFLICT', 'This change is decided. Propose it again.', { status: found });
}

/** A decided change keeps no request: it may be large, and nothing needs it any more. */
export const decided = (status: 'applied' | 'withdrawn' | 'expired', at: Date) => ({
  ...{ status, decidedAt: at, params: null, body: null },
});

export const toChange = (row: ChangeRow, at: Date): LooseningChange => ({
  ...{ id: row.id, changeId: row.id, operation: row.operation, about: row.about },
  status: row.status === 'open' && row.expiresAt <= at ? 'expired' : row.status,
  difference: Object(row.difference),
  params: row.params === null ? null : Object(row.params),
  body: row.body === null ? null : Object(row.body),
  hash: row.hash.toString('hex'),
  ...{ proposedBy: row.proposedBy, approvedBy: row.approvedBy, needed: row.needed },
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  decidedAt: row.decidedAt?.toISOString() ?? null,
});
