import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { AuditErasures } from '../../../platform/db/types.gen.ts';
import {
  developersAcrossTenants,
  retentionAcrossTenants,
} from '../../accounts/developers/developers.queries.ts';
import { livingGrantsOfPrincipal } from '../../grants/grants/grants.queries.ts';

export type ErasureRow = Selectable<AuditErasures>;

export async function hasLivingGrant(db: Executor, tenant: Tenant, principalId: string, at: Date) {
  const grant = await livingGrantsOfPrincipal(db, tenant, principalId, at)
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return grant !== undefined;
}

export async function insertErasure(
  db: Executor,
  { developerId }: Tenant,
  row: Omit<Insertable<AuditErasures>, 'developerId'>,
): Promise<void> {
  await db
    .insertInto('auditErasures')
    .values({ developerId, ...row })
    .execute();
}

export function findErasure(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('auditErasures')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** @returns undefined when the erasure is done, or when another instance works at it */
export function lockRunning(tx: Tx, { developerId }: Tenant, id: string): Promise<ErasureRow | undefined> {
  return tx
    .selectFrom('auditErasures')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('finishedAt', 'is', null)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

export async function updateErasure(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<AuditErasures>,
): Promise<void> {
  await tx
    .updateTable('auditErasures')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** Erasures that run, after one of them, with the account that they are of. */
export function listRunningAcrossTenants(
  db: Executor,
  after: { readonly developerId: string; readonly id: string },
  limit: number,
) {
  return db
    .selectFrom('auditErasures as e')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'e.developerId')
    .select(['e.developerId', 'e.id', 'developer.mode', 'developer.plan'])
    .where('e.finishedAt', 'is', null)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('e.developerId', 'e.id'), '>', tuple(after.developerId, after.id)),
    )
    .orderBy('e.developerId')
    .orderBy('e.id')
    .limit(limit)
    .execute();
}

/** Accounts that erase old content, each with its newest erasure by age: the next goes on where that ended. */
export function listRetainingAcrossTenants(db: Executor, after: string, limit: number) {
  return db
    .selectFrom(retentionAcrossTenants(db))
    .leftJoinLateral(
      (lateral) =>
        lateral
          .selectFrom('auditErasures')
          .select(['createdAt as lastAt', 'lastSeq', 'beforeAt'])
          .whereRef('developerId', '=', 'retention.developerId')
          .where('beforeAt', 'is not', null)
          .orderBy('id', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .select(['retention.developerId', 'retention.days', 'last.lastAt', 'last.lastSeq', 'last.beforeAt'])
    .where('retention.developerId', '>', after)
    .orderBy('retention.developerId')
    .limit(limit)
    .execute();
}

/** Erases rows of a closed account. */
export const eraseErasures = eraserOf('audit_erasures');
