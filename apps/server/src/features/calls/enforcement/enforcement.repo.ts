import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hotCall, type Records } from '../../../platform/db/hot-writes.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { sharedCallers, sharedPersons } from '../../../platform/db/principals.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import { grantsWithAgent } from '../../grants/grants/grants.queries.ts';
import { heldToken, type TokenRow } from '../../grants/tokens/tokens.queries.ts';

/** A token and all else that decides about a call with it, as it is now. */
export type EnforceableRow = TokenRow & {
  /** Null where the connector has no manifest. */
  readonly manifestRevision: number | null;
  readonly capsMode: 'enforce' | 'warn';
  readonly policiesVersion: string;
};

type FactsQuery = [
  developerId: string,
  tokenId: string,
  at: Date,
  connector: string,
  within: Reach['agentIds'],
];

const enforceable = lookUp<EnforceableRow, FactsQuery>(
  'find_enforceable',
  `select ${heldToken}, f.manifest_revision as "manifestRevision", f.caps_mode as "capsMode",
     f.policies_version as "policiesVersion"
   from find_enforceable($1, $2, $3, $4) f where $5::text[] is null or (f.held).agent_id = any ($5)`,
);

/** Sets the grant's last use when the token is valid, as every verification does. */
export async function findEnforceable(
  db: Executor,
  { tenant, agentIds }: Reach,
  { tokenId, connector, at }: { readonly tokenId: string; readonly connector: string; readonly at: Date },
): Promise<EnforceableRow | undefined> {
  return (await enforceable(db, tenant.developerId, tokenId, at, connector, agentIds))[0];
}

/** Grants as tokens that are not narrower than they are. */
export async function listWholeGrants(
  db: Executor,
  tenant: Tenant,
  grantIds: readonly string[],
): Promise<TokenRow[]> {
  const rows = await grantsWithAgent(db, tenant).where('grant.id', 'in', grantIds).execute();
  return rows.map((row) => ({
    ...row,
    agentStatus: 'active',
    tokenId: row.id,
    tokenIssuedAt: row.issuedAt,
    tokenExpiresAt: row.expiresAt,
    tokenRevokedAt: null,
    keyThumbprint: null,
    hasFewerScopes: false,
    grantDetails: row.authorizationDetails,
    actingResourceId: null,
  }));
}

/** A call whose units the meter holds. */
export interface HeldCall {
  readonly callId: string;
  readonly agentId: string;
  readonly grantId: string;
}

interface Ruled {
  readonly isAllowed: boolean;
  readonly held: HeldCall | undefined;
  /** Undefined for a token that the service does not know. */
  readonly parties: { readonly principalId: string; readonly agentId: string } | undefined;
  readonly records: Records;
}

/** A hot write: the entry of a call, its event if there is one, and the call itself when its units are held. */
export function writeRuling(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { isAllowed, held, parties, records }: Ruled,
): Promise<'stopped' | null> {
  const isUse = isAllowed && parties !== undefined;
  const values = { ...held, ...(isUse && { parties }) };
  const fact = isAllowed || held ? hotCall('write_enforced_call', values) : undefined;
  const turn = held && `call ${held.callId}`;
  return records.writeUnlessRefused<'stopped'>(db, {
    tenant,
    at,
    ...(fact && { fact }),
    ...(turn && { turn }),
    ...(isUse && {
      locks: [
        [sharedCallers, [parties.agentId]],
        [sharedPersons, [parties.principalId]],
      ],
    }),
  });
}

/** The agents whose call has this id, with its grant: a single agent, unless two chose the same id. */
export async function listCallers(db: Executor, { tenant, agentIds }: Reach, callId: string) {
  const all = db
    .selectFrom('enforcedCalls')
    .select(['agentId', 'grantId'])
    .where('developerId', '=', tenant.developerId)
    .where('callId', '=', callId);
  return (agentIds ? all.where('agentId', 'in', agentIds) : all).execute();
}

/** Deletes a batch of calls from before this time. @returns how many */
export async function deleteOldCallsAcrossTenants(
  db: Executor,
  before: Date,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('enforcedCalls')
    .where('createdAt', '<', before)
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('developerId', 'callId', 'agentId'),
        'in',
        selectFrom('enforcedCalls')
          .select(['developerId', 'callId', 'agentId'])
          .where('createdAt', '<', before)
          .orderBy('createdAt')
          .limit(limit)
          .$asTuple('developerId', 'callId', 'agentId'),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Erases rows of a closed account. */
export const eraseCalls = eraserOf('enforced_calls');
