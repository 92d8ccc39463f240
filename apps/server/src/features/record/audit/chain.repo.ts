import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { AuditCheckpoints, AuditChecks } from '../../../platform/db/types.gen.ts';

/** A chain's head with its newest checkpoint. */
export function findHeadWithCheckpoint(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('auditHeads as h')
    .leftJoinLateral(
      (lateral) =>
        lateral
          .selectFrom('auditCheckpoints')
          .select(['seq as signedSeq', 'jws', 'signedAt'])
          .whereRef('developerId', '=', 'h.developerId')
          .orderBy('seq', 'desc')
          .limit(1)
          .as('c'),
      (join) => join.onTrue(),
    )
    .select(['h.seq', 'h.hash', sql<Date | null>`nullif(h.at, '-infinity')`.as('at')])
    .select(['c.signedSeq', 'c.jws', 'c.signedAt'])
    .where('h.developerId', '=', developerId)
    .executeTakeFirstOrThrow();
}

/** The newest checkpoint of a chain. */
export function findCheckpoint(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('auditCheckpoints')
    .select('jws')
    .where('developerId', '=', developerId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/**
 * The first checkpoint in this range whose hash differs from the entry's, or whose entry is missing. It
 * compares the columns beside the signed text, which agree with that text unless somebody changed a row.
 */
export function findBrokenCheckpoint(db: Executor, { developerId }: Tenant, fromSeq: number, toSeq: number) {
  return db
    .selectFrom('auditCheckpoints as c')
    .leftJoin('auditEntries as e', (join) =>
      join.onRef('e.developerId', '=', 'c.developerId').onRef('e.seq', '=', 'c.seq'),
    )
    .select('e.id')
    .where('c.developerId', '=', developerId)
    .where('c.seq', '>=', String(fromSeq))
    .where('c.seq', '<=', String(toSeq))
    .where((c) => c('e.hash', 'is distinct from', c.ref('c.hash')))
    .orderBy('c.seq')
    .limit(1)
    .executeTakeFirst();
}

/** Keeps an existing checkpoint: another instance may have signed the same position a moment before. */
export async function insertCheckpoint(
  db: Executor,
  { developerId }: Tenant,
  checkpoint: Omit<Selectable<AuditCheckpoints>, 'developerId'>,
): Promise<void> {
  await db
    .insertInto('auditCheckpoints')
    .values({ developerId, ...checkpoint })
    .onConflict((conflict) => conflict.columns(['developerId', 'seq']).doNothing())
    .execute();
}

/**
 * Chains with entries after the newest checkpoint and no checkpoint since `signedBefore`: a batch in the
 * order of developer ids, from the first id above `after`.
 */
export function listUnsignedHeadsAcrossTenants(
  db: Executor,
  signedBefore: Date,
  after: string,
  limit: number,
) {
  return db
    .selectFrom('auditHeads as h')
    .select(['h.developerId', 'h.seq', 'h.hash'])
    .where('h.developerId', '>', after)
    .where('h.seq', '>', '0')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('auditCheckpoints as c')
            .select('c.seq')
            .whereRef('c.developerId', '=', 'h.developerId')
            .where((c) => c.or([c('c.seq', '>=', c.ref('h.seq')), c('c.signedAt', '>', signedBefore)])),
        ),
      ),
    )
    .orderBy('h.developerId')
    .limit(limit)
    .execute();
}

export function findHead(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('auditHeads')
    .select(['seq', 'hash'])
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
}

/**
 * An entry above the chain's head. No append wrote it. The head is a value for the index, because a join of the two would
 * read the chain from its first entry on.
 */
export function findBeyondHead(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('auditEntries')
    .select('id')
    .where('developerId', '=', developerId)
    .where('seq', '>', (e) => e.selectFrom('auditHeads').select('seq').where('developerId', '=', developerId))
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
}

export type Progress = Pick<Selectable<AuditChecks>, 'seq' | 'hash' | 'beganAt'>;

/** Chains with entries after the last good one, or whose round began long ago, that no instance looked at since. */
export function listUnwatchedAcrossTenants(
  db: Executor,
  { lookedBefore, roundBefore }: { readonly lookedBefore: Date; readonly roundBefore: Date },
  after: string,
  limit: number,
) {
  return db
    .selectFrom('auditHeads as h')
    .leftJoin('auditChecks as c', 'c.developerId', 'h.developerId')
    .innerJoin('developers as developer', 'developer.id', 'h.developerId') // an erased account has a head still
    .select('h.developerId')
    .where('h.developerId', '>', after)
    .where('h.seq', '>', '0')
    .where((eb) =>
      eb.or([
        eb('c.seq', 'is', null),
        eb.and([
          eb('c.checkedAt', '<', lookedBefore),
          eb.or([eb('c.seq', '<', eb.ref('h.seq')), eb('c.beganAt', '<', roundBefore)]),
        ]),
      ]),
    )
    .orderBy('h.developerId')
    .limit(limit)
    .execute();
}

/** Takes the check of a chain, unless another instance has taken it since. @returns how far the check is */
export async function takeWatch(
  db: Executor,
  { developerId }: Tenant,
  at: Date,
  lookedBefore: Date,
): Promise<Progress | undefined> {
  return db
    .insertInto('auditChecks')
    .values({ developerId, seq: '0', hash: null, beganAt: at, checkedAt: at })
    .onConflict((conflict) =>
      conflict
        .column('developerId')
        .doUpdateSet({ checkedAt: at })
        .where('auditChecks.checkedAt', '<', lookedBefore),
    )
    .returning(['seq', 'hash', 'beganAt'])
    .executeTakeFirst();
}

export async function keepProgress(db: Executor, { developerId }: Tenant, progress: Progress): Promise<void> {
  await db.updateTable('auditChecks').set(progress).where('developerId', '=', developerId).execute();
}

/** The hash of one entry. */
export function findHash(db: Executor, { developerId }: Tenant, seq: string) {
  return db
    .selectFrom('auditEntries')
    .select(['id', 'hash'])
    .where('developerId', '=', developerId)
    .where('seq', '=', seq)
    .executeTakeFirst();
}

/** Erases rows of a closed account. */
export const eraseChecks = eraserOf('audit_checks');
