import { sql } from 'kysely';
import type { Tenant } from '../../caller.ts';
import type { Clock } from '../../clock.ts';
import type { Executor, Tx } from '../../db/db.ts';
import { eraserOf } from '../../db/personal-data.ts';
import type { Job } from '../../jobs/jobs.ts';

/** A stored answer. */
export interface KeptAnswer {
  /** A keyed hash of the request's query and body, which have to be the same when the request comes again. */
  readonly fingerprint: Buffer;
  readonly status: number;
  /** Sealed. */
  readonly body: Buffer;
}

const KEPT_SECONDS = 86_400;

/**
 * Holds the answer key until the transaction ends.
 * @returns the earlier answer, or that another request has it
 */
export async function claimAnswer(
  tx: Tx,
  { developerId }: Tenant,
  answerKey: Buffer,
  at: Date,
): Promise<KeptAnswer | 'taken' | undefined> {
  const { rows } = await sql<{ isTaken: boolean } & (KeptAnswer | { fingerprint: null })>`
    select is_taken, fingerprint, status, body from claim_idempotent_answer(${developerId}, ${answerKey}, ${at})`.execute(
    tx,
  );
  const [found] = rows;
  if (!found || found.isTaken) return 'taken';
  return found.fingerprint === null ? undefined : found;
}

/** Replaces an expired answer. Takes the transaction of the effect, so both commit or neither does. */
export async function keepAnswer(
  tx: Tx,
  { developerId }: Tenant,
  answerKey: Buffer,
  at: Date,
  answer: KeptAnswer,
): Promise<void> {
  const kept = { ...answer, expiresAt: new Date(at.getTime() + KEPT_SECONDS * 1000) };
  await tx
    .insertInto('idempotentAnswers')
    .values({ developerId, answerKey, ...kept })
    .onConflict((conflict) => conflict.columns(['developerId', 'answerKey']).doUpdateSet(kept))
    .execute();
}

/** Two instances at once delete different rows. @returns how many were deleted, at most `limit` */
export async function deleteDueAcrossTenants(db: Executor, at: Date, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('idempotentAnswers')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('developerId', 'answerKey'),
        'in',
        selectFrom('idempotentAnswers')
          .select(['developerId', 'answerKey'])
          .where('expiresAt', '<=', at)
          .orderBy('expiresAt')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('developerId', 'answerKey'),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Erases rows of a closed account. */
export const eraseAnswers = eraserOf('idempotent_answers');

const EVERY_SECONDS = 300;
interface ExpiryDeps {
  readonly db: Executor;
  readonly clock: Clock;
  /** Answers in one delete, so that each delete is short, with few locked rows. */
  readonly batch?: number;
}

/** Deletes expired answers. The service gives out no expired answer, whether it is deleted or not. */
export function expiryOfAnswers({ db, clock, batch = 500 }: ExpiryDeps): Job {
  return {
    name: 'expiry of answers',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await deleteDueAcrossTenants(db, clock(), batch)) === batch);
    },
  };
}
