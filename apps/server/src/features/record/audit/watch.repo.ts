import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import type { AuditChecks } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';

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
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'h.developerId') // an erased account has a head still
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
