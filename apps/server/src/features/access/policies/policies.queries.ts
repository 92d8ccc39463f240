import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';

const version = lookUp<{ readonly version: string }, [developerId: string]>(
  'policies_version',
  'select policies_version($1) as version',
);

/** The version of the developer's policies now; `0` before the first. */
export async function policiesVersion(db: Executor, { developerId }: Tenant): Promise<string> {
  return (await version(db, developerId))[0]?.version ?? '0';
}
