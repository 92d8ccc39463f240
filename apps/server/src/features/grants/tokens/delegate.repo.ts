import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hotCall } from '../../../platform/db/hot-writes.ts';
import { sharedPrincipals } from '../../../platform/db/principals.ts';
import { row } from '../../../platform/db/row.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';
import { sharedAgents } from '../../accounts/agents/agents.queries.ts';
import { newCredential } from '../../extras/verifiable-credentials/verifiable-credentials.queries.ts';
import { newAllocation } from '../budgets/budgets.queries.ts';
import { renewalCauses, sharedDelegation } from '../grants/grants.queries.ts';
import { type AgentStatus, heldToken, type TokenRow } from './tokens.queries.ts';
import { type HeldBudget, heldBudget, type Redemption, type Within } from './tokens.repo.ts';

/** The presented token with its grant, and the agent that is to get a part of that grant. */
export type DelegableRow = TokenRow &
  HeldBudget & {
    /** Null where there is no such agent. */
    readonly subAgentDid: string | null;
    readonly subAgentStatus: AgentStatus | null;
    /** The scopes that the agent declares, and whether the developer enforces them. */
    readonly subAgentScopes: readonly string[] | null;
    readonly enforceAgentScopes: boolean;
    /** Null where the operator's setting applies. */
    readonly maxDepth: number | null;
    readonly policiesVersion: string;
    readonly isPrincipalActive: boolean;
    /** Why the person has to consent again. */
    readonly renewalCauses: readonly RenewalCause[];
  };

type Asked = [developerId: string, tokenId: string, subAgentId: string, within: Within, at: Date];

const delegable = lookUp<DelegableRow, Asked>(
  'find_delegable',
  `select ${heldToken}, ${heldBudget}, f.sub_agent_did as "subAgentDid", f.sub_agent_status as "subAgentStatus",
     f.sub_agent_scopes as "subAgentScopes", f.max_depth as "maxDepth",
     f.enforce_agent_scopes as "enforceAgentScopes", f.policies_version as "policiesVersion",
     principal_active($1, (f.held).principal_id) as "isPrincipalActive", ${renewalCauses('$5')}
   from find_delegable($1, $2, $3) f where $4::text[] is null or (f.held).agent_id = any ($4)`,
);

/** The facts that decide a delegation, in one read. Only the presented token has to be within reach. */
export async function findDelegable(
  db: Executor,
  { tenant, agentIds }: Reach,
  tokenId: string,
  { subAgentId, at }: { readonly subAgentId: string; readonly at: Date },
): Promise<DelegableRow | undefined> {
  return (await delegable(db, tenant.developerId, tokenId, subAgentId, agentIds, at))[0];
}

export type DelegationRefusal =
  | 'agent_inactive'
  | 'sub_agent_suspended'
  | 'sub_agent_revoked'
  | 'parent_revoked'
  | 'parent_expired'
  | 'currency_mismatch'
  | 'insufficient'
  | 'over_quota'
  | 'place_taken'
  | 'policies_changed'
  | 'principal_inactive'
  | null;

export type Delegation = Omit<Redemption, 'maxWrongVerifiers' | 'monthLimit' | 'refresh'> & {
  /** Null for a grant that only narrows. */
  readonly refresh: Redemption['refresh'] | null;
  readonly parentAgentId: string;
  readonly parentTokenId: string;
};

/** A hot write. @returns the reason when nothing was written, else null */
export function delegateGrant(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { parentAgentId, grant, token, refresh, allocation, credential, records, ...bounds }: Delegation,
): Promise<DelegationRefusal> {
  const { developerId } = tenant;
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('write_delegation', {
      ...bounds,
      grant: row({ ...grant, developerId }),
      token: row({ ...token, developerId }),
      refresh: refresh && row({ ...refresh, developerId }),
      allocation: allocation && newAllocation(tenant, allocation, at),
      credential: credential && newCredential(tenant, credential),
    }),
    locks: [
      [sharedAgents, [parentAgentId, grant.agentId]],
      [sharedDelegation, []],
      [sharedPrincipals, [grant.principalId]],
    ],
    turn: `quota ${grant.parentGrantId}`,
  });
}
