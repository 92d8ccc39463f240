import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { decidedRequestsOf } from '../authorization/authorization.queries.ts';
import { grantsOf } from '../grants/grants.queries.ts';

interface Pair {
  readonly agentId: string;
  readonly principalId: string;
}

interface Sought {
  readonly at: Date;
  readonly since: Date;
  readonly replacesGrantId: string | null;
}

/** The grants of an agent for a person that no agent has delegated. */
const rootGrantsOf = (db: Executor, tenant: Tenant, { agentId, principalId }: Pair) =>
  grantsOf(db, tenant)
    .where('grant.principalId', '=', principalId)
    .where('grant.agentId', '=', agentId)
    .where('grant.parentGrantId', 'is', null);

/**
 * The last grant of this agent that the person decided themselves, with the request that they approved: the one that is to
 * be replaced, or the newest that is active, or else the newest. Grants of policies and of links decide nothing here, since nobody who was known decided them.
 */
export function findLastConsent(
  db: Executor,
  tenant: Tenant,
  pair: Pair,
  { at, since, replacesGrantId }: Sought,
) {
  return rootGrantsOf(db, tenant, pair)
    .innerJoin(decidedRequestsOf(db, tenant), 'request.requestId', 'grant.authRequestId')
    .selectAll('request')
    .select(['grant.id', 'grant.status', 'grant.issuedAt', 'grant.expiresAt'])
    .where('grant.issuedAt', '>', since)
    .where(({ or, and, eb }) =>
      or([
        eb('grant.consentMethod', 'in', ['developer', 'email', 'sso', 'passkey']),
        and([eb('grant.consentMethod', '=', 'sandbox'), eb('request.shownAgent', 'is not', null)]),
      ]),
    )
    .orderBy(sql`(${sql.ref('grant.id')} is not distinct from ${replacesGrantId})`, 'desc')
    .orderBy(sql`(${sql.ref('grant.status')} = 'active' and ${sql.ref('grant.expiresAt')} > ${at})`, 'desc')
    .orderBy('grant.issuedAt', 'desc')
    .orderBy('grant.id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** How many grants of the agent for the person are active, beside one of them. */
export async function countOtherActive(
  db: Executor,
  tenant: Tenant,
  pair: Pair,
  { grantId, at }: { readonly grantId: string; readonly at: Date },
): Promise<number> {
  const { others } = await rootGrantsOf(db, tenant, pair)
    .select(({ fn }) => fn.countAll<string>().as('others'))
    .where('grant.status', '=', 'active')
    .where('grant.expiresAt', '>', at)
    .where('grant.id', '<>', grantId)
    .executeTakeFirstOrThrow();
  return Number(others);
}
