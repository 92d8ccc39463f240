import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

interface NamedCase {
  readonly tenant: Tenant;
  readonly grantId: string;
  readonly caseId: string;
}

/** The current version of a case. @returns undefined for a case that the developer has not declared for the grant */
export async function findDeclaredVersion(
  db: Executor,
  { tenant, grantId, caseId }: NamedCase,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('decisionCases')
    .select('caseVersion')
    .where('developerId', '=', tenant.developerId)
    .where('caseId', '=', caseId)
    .where((row) => row(row.val(grantId), '=', row.fn.any('grantIds')))
    .executeTakeFirst();
  return found?.caseVersion;
}
