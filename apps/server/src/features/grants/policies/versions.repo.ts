import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { exportOf } from '../../../platform/db/personal-data.ts';
import { fieldsIn, type StoredPolicy, shownFields } from './policies.rules.ts';
import type { PolicyVersionQuery } from './policies.schema.ts';

/** How many versions of a policy are kept, and how many bytes of them. The newest two stay in any case. */
const MOST = { versions: 50, bytes: 524_288 } as const;

/** Keeps what a policy is from now on, and forgets its oldest versions. */
export async function insertRevision(
  tx: Tx,
  { developerId }: Tenant,
  row: StoredPolicy,
  actor: string,
): Promise<void> {
  const { id: policyId, version, principalId, updatedAt: createdAt } = row;
  const policy = JSON.stringify(shownFields(fieldsIn(row)));
  await tx
    .insertInto('policyRevisions')
    .values({ developerId, policyId, version, policy, principalId, actor, createdAt })
    .execute();
  await sql`delete from policy_revisions r using (
      select version, row_number() over newest as place, sum(octet_length(policy::text)) over newest as bytes
      from policy_revisions where developer_id = ${developerId} and policy_id = ${policyId}
      window newest as (order by version desc)) as kept
    where r.developer_id = ${developerId} and r.policy_id = ${policyId} and r.version = kept.version
      and (kept.place > 2 and (kept.place > ${MOST.versions} or kept.bytes > ${MOST.bytes})
        or r.is_erased and kept.place > 1)`.execute(tx);
}

/** Forgets the versions that name a person. One that is in force stays as long as it is. */
export async function eraseRevisionsOf(tx: Tx, { developerId }: Tenant, principalId: string): Promise<void> {
  await sql`with theirs as (
      select r.policy_id, r.version, r.version = p.version as is_newest
      from policy_revisions r join policies p on p.developer_id = r.developer_id and p.id = r.policy_id
      where r.developer_id = ${developerId} and r.principal_id = ${principalId}
    ), marked as (
      update policy_revisions r set is_erased = true from theirs
      where r.developer_id = ${developerId} and r.policy_id = theirs.policy_id and r.version = theirs.version
        and theirs.is_newest
    )
    delete from policy_revisions r using theirs
    where r.developer_id = ${developerId} and r.policy_id = theirs.policy_id and r.version = theirs.version
      and not theirs.is_newest`.execute(tx);
}

/** The newest first. */
export function listRevisions(
  db: Executor,
  { developerId }: Tenant,
  policyId: string,
  { cursor, limit }: PolicyVersionQuery,
) {
  const all = db
    .selectFrom('policyRevisions')
    .select(['version', 'policy', 'actor', 'createdAt'])
    .where('developerId', '=', developerId)
    .where('policyId', '=', policyId);
  const page = cursor === undefined ? all : all.where('version', '<', Number(cursor));
  return readPage(db, page.orderBy('version', 'desc'), limit);
}

export async function deleteRevisions(tx: Tx, { developerId }: Tenant, policyId: string): Promise<void> {
  await tx
    .deleteFrom('policyRevisions')
    .where('developerId', '=', developerId)
    .where('policyId', '=', policyId)
    .execute();
}

export const tellRevisions = exportOf(
  'policy_version',
  sql`(select developer_id, principal_id, policy_id || '.' || version as id, policy_id, version, policy, created_at
    from policy_revisions where principal_id is not null) as versions`,
  ['policy_id', 'version', 'policy', 'created_at'],
);
