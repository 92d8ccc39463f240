import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { Policy } from './match.rules.ts';
import { type PolicyFields, placeOf, type StoredPolicy } from './policies.rules.ts';
import type { PolicyQuery } from './policies.schema.ts';

/** A row of the policies of a version; of a developer without policies, one row of nulls. */
interface Versioned {
  readonly setVersion: string;
  readonly id: string | null;
}

const currentPolicies = lookUp<Policy & Versioned, [developerId: string]>(
  'current_policies',
  `select v.version as "setVersion", p.id, p.name, p.effect, p.priority, p.agent_id as "agentId",
     p.principal_id as "principalId", p.scopes, p.day_start as "dayStart", p.day_end as "dayEnd",
     p.time_zone as "timeZone", p.days_of_week as "daysOfWeek", p.purposes, p.networks, p.depth_min as "depthMin",
     p.depth_max as "depthMax", p.connector, p.tools, p.argument_rules as "argumentRules",
     p.created_at as "createdAt"
   from policy_versions v left join policies p on p.developer_id = v.developer_id
   where v.developer_id = $1`,
);

/** All policies of a developer with their version, as one statement sees them. */
export async function readPolicies(
  db: Executor,
  { developerId }: Tenant,
): Promise<{ version: string; policies: Policy[] }> {
  const rows = await currentPolicies(db, developerId);
  const version = rows[0]?.setVersion ?? '0';
  const policies = rows.filter(({ id }) => id !== null).map(({ setVersion: _, ...policy }) => policy);
  return { version, policies };
}

/** Begins a change of a developer's policies, which take turns. Call it first. */
export async function nextVersion(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select lock_policies(${developerId})`.execute(tx);
  await tx
    .insertInto('policyVersions')
    .values({ developerId, version: 1 })
    .onConflict((conflict) =>
      conflict.column('developerId').doUpdateSet({ version: sql<string>`policy_versions.version + 1` }),
    )
    .execute();
}

const columns = [
  'id',
  'name',
  'effect',
  'priority',
  'agentId',
  'principalId',
  'scopes',
  'dayStart',
  'dayEnd',
  'timeZone',
  'daysOfWeek',
  'purposes',
  'networks',
  'depthMin',
  'depthMax',
  'connector',
  'tools',
  'argumentRules',
  'version',
  'createdAt',
  'updatedAt',
] as const;

const policiesOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('policies').select(columns).where('developerId', '=', developerId).$castTo<StoredPolicy>();

export const findPolicy = (db: Executor, tenant: Tenant, id: string): Promise<StoredPolicy | undefined> =>
  policiesOf(db, tenant).where('id', '=', id).executeTakeFirst();

export async function countPolicies(db: Executor, { developerId }: Tenant): Promise<number> {
  const { count } = await db
    .selectFrom('policies')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** In the order of evaluation. */
export function listPolicyRows(db: Executor, tenant: Tenant, { cursor, limit }: PolicyQuery) {
  const all = policiesOf(db, tenant);
  const place = cursor === undefined ? undefined : placeOf(cursor);
  const page = place
    ? all.where(({ and, eb, or, refTuple, tuple }) =>
        or([
          eb('priority', '<', place.priority),
          and([
            eb('priority', '=', place.priority),
            eb(refTuple('effect', 'createdAt', 'id'), '>', tuple(place.effect, place.createdAt, place.id)),
          ]),
        ]),
      )
    : all;
  const inOrder = page.orderBy('priority', 'desc').orderBy('effect').orderBy('createdAt').orderBy('id');
  return readPage<StoredPolicy>(db, inOrder, limit);
}

/** The fields that the driver takes as lists of its own, and as JSON. */
const listsOf = ({ scopes, daysOfWeek, purposes, networks, tools, argumentRules }: PolicyFields) => ({
  scopes: scopes && [...scopes],
  daysOfWeek: daysOfWeek && [...daysOfWeek],
  purposes: purposes && [...purposes],
  networks: networks && [...networks],
  tools: tools && [...tools],
  argumentRules: argumentRules && JSON.parse(JSON.stringify(argumentRules)),
});

export async function insertPolicy(tx: Tx, { developerId }: Tenant, row: StoredPolicy): Promise<void> {
  await tx
    .insertInto('policies')
    .values({ ...row, ...listsOf(row), developerId })
    .execute();
}

export async function updatePolicy(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: PolicyFields & Pick<StoredPolicy, 'version' | 'updatedAt'>,
): Promise<void> {
  await tx
    .updateTable('policies')
    .set({ ...change, ...listsOf(change) })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

export async function deletePolicyRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('policies').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** Erases rows of a closed account. */
export const erasePolicies = eraserOf('policies', 'policy_revisions', 'policy_versions');

export const tellPolicies = exportOf('policy', 'policies', [
  'name',
  'effect',
  'priority',
  'agent_id',
  'scopes',
  'created_at',
  'updated_at',
]);

/** The digest and the size of the active Cedar bundle, if there is one. */
export const findActiveDigest = (db: Executor, { developerId }: Tenant) =>
  db
    .selectFrom('policyBundles')
    .select(({ fn }) => ['sha256', fn<number>('octet_length', ['content']).as('bytes')])
    .where('developerId', '=', developerId)
    .where('format', '=', 'cedar')
    .where('active', '=', true)
    .executeTakeFirst();

/** The content that has a digest. It stays readable when another bundle was activated meanwhile. */
export const findContentOf = (db: Executor, { developerId }: Tenant, sha256: string) =>
  db
    .selectFrom('policyBundles')
    .select('content')
    .where('developerId', '=', developerId)
    .where('format', '=', 'cedar')
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
