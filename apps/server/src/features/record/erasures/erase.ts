import { type Caller, systemCaller, type Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { ErasePerson } from '../../../platform/db/personal-data.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import { countHoldsAgainst } from '../../extras/compliance/index.ts';
import { eraseRecordsIn } from '../../grants/consent/index.ts';
import { findSeqRange } from '../audit/audit.queries.ts';
import { digestErasure, eraseEntries, recordActs } from '../audit/index.ts';
import type { Catalogue } from '../events/index.ts';
import {
  type ErasureRow,
  findErasure,
  hasLivingGrant,
  insertErasure,
  listRetainingAcrossTenants,
  listRunningAcrossTenants,
  lockRunning,
  updateErasure,
} from './erasures.repo.ts';
import type { CreatedErasure, Erasure, NewErasure } from './erasures.schema.ts';

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
): Promise<CreatedErasure> {
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

export interface RunDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly longWork: LongWork;
  /** What other nouns erase of a person. */
  readonly erasers: readonly ErasePerson[];
  /** Called for each entry that is not what was hashed. */
  readonly onBroken: (developerId: string, entryId: string) => void;
  readonly onFailure: (error: unknown) => void;
}

const BATCH = 100;
/** Numbers of the chain in one transaction. A person's entries may be few among them. */
const WINDOW = 5000;
const DAY = 86_400_000; // milliseconds

/** Works at every erasure until it is done, is held, or the process stops. One failure stops no other. */
export async function runErasures(deps: RunDeps, signal: AbortSignal): Promise<void> {
  await beginByAge(deps, signal);
  let after = { developerId: '', id: '' };
  while (!signal.aborted) {
    const running = await listRunningAcrossTenants(deps.db, after, BATCH);
    for (const { developerId, id, ...account } of running) {
      const caller = systemCaller({ developerId }, account, 'erasure');
      const work = async () => {
        while (!signal.aborted && (await step(deps, caller, id)));
      };
      await work().catch(deps.onFailure);
      after = { developerId, id };
    }
    if (running.length < BATCH) return;
  }
}

/** One transaction of an erasure. @returns whether it goes on now */
function step(deps: RunDeps, caller: ReturnType<typeof systemCaller>, id: string): Promise<boolean> {
  const { tenant } = caller;
  return inTransaction(deps.db, async (tx) => {
    const run = await lockRunning(tx, tenant, id);
    // A hold that came later keeps the rest, and the erasure waits for its end.
    if (!run || (await countHoldsAgainst(tx, tenant, run.principalId)) > 0) return false;
    const fromSeq = Number(run.nextSeq);
    const toSeq = Math.min(Number(run.lastSeq), fromSeq + WINDOW - 1);
    const { entries, broken, nextSeq } =
      fromSeq > toSeq
        ? { entries: 0, broken: [], nextSeq: fromSeq }
        : await eraseEntries(tx, tenant, deps, {
            erasureId: id,
            principalId: run.principalId,
            part: { fromSeq, toSeq },
          });
    if (run.principalId === null) await eraseRecordsIn(tx, tenant, { fromSeq, toSeq: nextSeq - 1 });
    for (const entryId of broken) deps.onBroken(tenant.developerId, entryId);
    const done = {
      nextSeq: String(nextSeq),
      entries: String(Number(run.entries) + entries),
      broken: String(Number(run.broken) + broken.length),
    };
    if (nextSeq <= Number(run.lastSeq)) {
      await updateErasure(tx, tenant, id, done);
      return true;
    }
    if (run.principalId !== null) for (const erase of deps.erasers) await erase(tx, tenant, run.principalId);
    const finishedAt = deps.clock();
    await updateErasure(tx, tenant, id, { ...done, finishedAt, principalId: null, reason: null });
    const digest = await digestErasure(tx, tenant, id);
    const act = { type: 'audit.erased', data: { erasureId: id, ...digest } } as const;
    if (isTold(run, digest.count)) await recordActs(tx, { ...caller, actor: run.actor }, [act], finishedAt);
    return false;
  });
}

/** An erasure by age that found nothing says nothing, because it comes every day. */
const isTold = ({ beforeAt }: ErasureRow, count: number) => beforeAt === null || count > 0;

/** Begins the erasure of the day for accounts that keep content for a number of days. */
async function beginByAge({ db, clock, onFailure }: RunDeps, signal: AbortSignal): Promise<void> {
  const at = clock();
  let after: string | undefined = '';
  while (after !== undefined && !signal.aborted) {
    const accounts = await listRetainingAcrossTenants(db, after, BATCH);
    for (const { developerId, days, lastAt, lastSeq, beforeAt } of accounts) {
      if (lastAt && at.getTime() - lastAt.getTime() < DAY) continue;
      const before = new Date(at.getTime() - days * DAY);
      const isLater = beforeAt !== null && before > beforeAt;
      const nextSeq = isLater && lastSeq !== null ? Number(lastSeq) + 1 : 1;
      await beginUntil(db, { developerId }, { at, before, nextSeq }).catch(onFailure);
    }
    after = accounts.length < BATCH ? undefined : accounts.at(-1)?.developerId;
  }
}

interface ByAge {
  readonly at: Date;
  readonly before: Date;
  readonly nextSeq: number;
}

async function beginUntil(db: Executor, tenant: Tenant, { at, before, nextSeq }: ByAge): Promise<void> {
  const { toSeq } = await findSeqRange(db, tenant, { until: before.toISOString() });
  const part = { nextSeq: String(nextSeq), lastSeq: String(Math.max(toSeq, nextSeq - 1)) };
  await insertErasure(db, tenant, {
    id: newId('erasure', at),
    ...part,
    beforeAt: before,
    actor: 'system',
    createdAt: at,
  });
}
