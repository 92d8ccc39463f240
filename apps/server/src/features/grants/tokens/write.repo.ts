import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hotCall, type Records } from '../../../platform/db/hot-writes.ts';
import { sharedPrincipals } from '../../../platform/db/principals.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';
import { row } from '../../../platform/db/values.ts';
import { sharedAgents } from '../../accounts/agents/agents.queries.ts';
import {
  type NewCredentialRow,
  newCredential,
} from '../../extras/verifiable-credentials/verifiable-credentials.queries.ts';
import { type NewAllocationRow, newAllocation } from '../budgets/budgets.queries.ts';
import { renewalCauses, sharedDelegation } from '../grants/grants.queries.ts';
import { type AgentStatus, heldToken, type TokenRow } from './tokens.queries.ts';
import {
  type HeldBudget,
  heldBudget,
  type NewGrant,
  type NewRefreshToken,
  type NewToken,
  type Within,
} from './tokens.repo.ts';

export interface Redemption {
  readonly grant: NewGrant;
  readonly token: NewToken;
  readonly refresh: NewRefreshToken;
  readonly allocation: NewAllocationRow | null;
  readonly credential: NewCredentialRow | null;
  readonly grantLimit: number | null;
  /** The most exchanges of a calendar month. */
  readonly monthLimit: number | null;
  readonly maxWrongVerifiers: number;
  /** The version of the policies that let it pass. */
  readonly policiesVersion: string;
  readonly records: Records;
}

export type RedemptionRefusal =
  | 'agent_inactive'
  | 'code_unknown'
  | 'code_used'
  | 'code_expired'
  | 'over_month'
  | 'over_quota'
  | 'place_taken'
  | 'policies_changed'
  | 'principal_inactive'
  | null;

/** A hot write. @returns the reason when nothing was written, else null */
export function redeemCode(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { grant, token, refresh, allocation, credential, records, ...limits }: Redemption,
): Promise<RedemptionRefusal> {
  const { developerId } = tenant;
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('write_redemption', {
      grant: row({ ...grant, developerId }),
      token: row({ ...token, developerId }),
      refresh: row({ ...refresh, developerId }),
      allocation: allocation && newAllocation(tenant, allocation, at),
      credential: credential && newCredential(tenant, credential),
      ...limits,
    }),
    locks: [
      [sharedAgents, [grant.agentId]],
      [sharedPrincipals, [grant.principalId]],
    ],
    turn: `quota ${grant.authRequestId}`,
  });
}

type Rotation = Pick<Redemption, 'token' | 'refresh' | 'policiesVersion' | 'records'> & {
  readonly agentId: string;
  readonly principalId: string;
};

type RotationRefusal =
  | 'agent_inactive'
  | 'grant_revoked'
  | 'refresh_reused'
  | 'policies_changed'
  | 'principal_inactive'
  | null;

/** A hot write. @returns the reason when nothing was written, else null */
export function rotateRefreshToken(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { agentId, principalId, token, refresh, policiesVersion, records }: Rotation,
): Promise<RotationRefusal> {
  const { developerId } = tenant;
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('write_rotation', {
      token: row({ ...token, developerId }),
      refresh: row({ ...refresh, developerId }),
      policiesVersion,
    }),
    locks: [
      [sharedAgents, [agentId]],
      [sharedPrincipals, [principalId]],
    ],
    turn: `grant ${refresh.predecessorId}`,
  });
}

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

type DelegableArguments = [
  developerId: string,
  tokenId: string,
  subAgentId: string,
  within: Within,
  at: Date,
];

const delegable = lookUp<DelegableRow, DelegableArguments>(
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

type DelegationRefusal =
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

type Delegation = Omit<Redemption, 'maxWrongVerifiers' | 'monthLimit' | 'refresh'> & {
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

/** The agent that is to get a grant on the word of an identity provider. */
export interface AssertableAgent {
  readonly agentDid: string;
  readonly agentStatus: AgentStatus;
  readonly agentScopes: readonly string[];
  readonly enforceAgentScopes: boolean;
  readonly policiesVersion: string;
}

const assertable = lookUp<AssertableAgent, [developerId: string, agentId: string]>(
  'find_assertable',
  `select agent_did as "agentDid", agent_status as "agentStatus", agent_scopes as "agentScopes",
     enforce_agent_scopes as "enforceAgentScopes", policies_version as "policiesVersion"
   from find_assertable($1, $2)`,
);

export async function findAssertable(
  db: Executor,
  { developerId }: Tenant,
  agentId: string,
): Promise<AssertableAgent | undefined> {
  return (await assertable(db, developerId, agentId))[0];
}

/** Why nothing was written. `changed`: a fact is no longer as it was read. */
type AssertionRefusal = 'agent_inactive' | 'principal_inactive' | 'changed' | 'over_quota';

export interface AssertionWrite {
  readonly grant: NewGrant;
  readonly isNew: boolean;
  readonly token: NewToken;
  readonly policiesVersion: string;
  readonly grantLimit: number | null;
}

const writingAssertion = statement<{ refusal: AssertionRefusal | null }, [string, at: Date, write: string]>(
  'write_assertion',
  'select write_assertion($1, $2, $3) as refusal',
);

/** Writes in the caller's transaction. @returns the reason when nothing was written, else null */
export async function writeAssertion(
  tx: Tx,
  { developerId }: Tenant,
  at: Date,
  { grant, token, ...facts }: AssertionWrite,
): Promise<AssertionRefusal | null> {
  const write = { ...facts, grant: row({ ...grant, developerId }), token: row({ ...token, developerId }) };
  const [made] = await writingAssertion(tx, developerId, at, JSON.stringify(write));
  return made?.refusal ?? null;
}

/** A hot write. @returns whether the received token was still good */
export async function writeResourceExchange(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { agentId, token, records }: Pick<Redemption, 'token' | 'records'> & { readonly agentId: string },
): Promise<boolean> {
  const refusal = await records.writeUnlessRefused<'token_ended'>(db, {
    tenant,
    at,
    fact: hotCall('write_resource_exchange', { token: row({ ...token, developerId: tenant.developerId }) }),
    locks: [[sharedAgents, [agentId]]],
    turn: `grant ${token.grantId}`,
  });
  return refusal === null;
}
