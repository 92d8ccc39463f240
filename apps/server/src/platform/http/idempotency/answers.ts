import { sql } from 'kysely';
import type { Role, Tenant } from '../../caller.ts';
import type { Executor, Tx } from '../../db/db.ts';

/** An answer as it is kept. */
export interface KeptAnswer {
  /** Of the request's query and body: what has to be the same when the request comes again. */
  readonly fingerprint: Buffer;
  readonly role: Role;
  readonly status: number;
  /** Sealed. */
  readonly body: Buffer;
}

const KEPT_SECONDS = 86_400;

/** Holds the answer key until the transaction ends. @returns what was answered there, or that somebody else has it. */
export async function claimAnswer(
  tx: Tx,
  { developerId }: Tenant,
  answerKey: Buffer,
  at: Date,
): Promise<KeptAnswer | 'taken' | undefined> {
  const { rows } = await sql<{ isTaken: boolean } & (KeptAnswer | { fingerprint: null })>`
    select * from claim_idempotent_answer(${developerId}, ${answerKey}, ${at})`.execute(tx);
  const [found] = rows;
  if (!found || found.isTaken) return 'taken';
  return found.fingerprint === null ? undefined : found;
}

/** In place of one whose time is over. Takes the transaction of the effect: neither is there without the other. */
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

/** Of two instances at once, each deletes others. @returns how many were deleted, at most `limit` */
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
