import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';

const version = lookUp<{ readonly version: string }, [developerId: string]>(
  'policies_version',
  'select policies_version($1) as version',
);

/** The version of the developer's policies now; `0` before the first. */
export async function policiesVersion(db: Executor, { developerId }: Tenant): Promise<string> {
  return (await version(db, developerId))[0]?.version ?? '0';
}

const hold = statement<{ readonly holds: boolean }, [developerId: string, version: string]>(
  'policies_hold',
  'select policies_hold($1, $2) as holds',
);

/** Whether the policies are still those of a version. If so, they stay so until the commit. */
export async function policiesHold(tx: Tx, { developerId }: Tenant, version: string): Promise<boolean> {
  return (await hold(tx, developerId, version))[0]?.holds ?? false;
}

export async function countPolicies(db: Executor, { developerId }: Tenant): Promise<number> {
  const { total } = await db
    .selectFrom('policies')
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  return Number(total);
}

const policyNow = lookUp<
  { readonly effect: string; readonly updatedAt: Date },
  [developerId: string, policyId: string]
>(
  'find_policy_now',
  `select effect::text, updated_at as "updatedAt" from policies where developer_id = $1 and id = $2`,
);

/** What a policy does now; undefined when it is deleted. */
export async function findPolicyNow(db: Executor, { developerId }: Tenant, policyId: string) {
  return (await policyNow(db, developerId, policyId))[0];
}
