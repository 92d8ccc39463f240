import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { grantsOf } from '../../grants/grants/grants.queries.ts';

interface NewCaseRow {
  readonly caseId: string;
  readonly caseVersion: string;
  /** Absent: the case keeps its grants. */
  readonly grantIds?: readonly string[];
}

/** Sets the version of a case. @returns its grants */
export async function setCase(
  tx: Tx,
  { developerId }: Tenant,
  { caseId, caseVersion, grantIds }: NewCaseRow,
): Promise<string[]> {
  const grants = grantIds && { grantIds: [...new Set(grantIds)] };
  const set = await tx
    .insertInto('decisionCases')
    .values({ developerId, caseId, caseVersion, grantIds: [], ...grants })
    .onConflict((there) => there.columns(['developerId', 'caseId']).doUpdateSet({ caseVersion, ...grants }))
    .returning('grantIds')
    .executeTakeFirstOrThrow();
  return set.grantIds;
}

/** Forgets a case. @returns its version, or undefined where nobody had set one */
export async function deleteCase(tx: Tx, { developerId }: Tenant, caseId: string) {
  const deleted = await tx
    .deleteFrom('decisionCases')
    .where('developerId', '=', developerId)
    .where('caseId', '=', caseId)
    .returning('caseVersion')
    .executeTakeFirst();
  return deleted?.caseVersion;
}

export async function findCaseVersion(db: Executor, { developerId }: Tenant, caseId: string) {
  const found = await db
    .selectFrom('decisionCases')
    .select('caseVersion')
    .where('developerId', '=', developerId)
    .where('caseId', '=', caseId)
    .executeTakeFirst();
  return found?.caseVersion;
}

/** Those of some ids that are grants of the account, whatever became of them. */
export async function listKnownGrants(
  db: Executor,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await grantsOf(db, tenant)
    .select('grant.id')
    .where('grant.id', 'in', [...ids, ''])
    .execute();
  return new Set(rows.map(({ id }) => id));
}
