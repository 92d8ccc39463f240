import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { agentInactive, notFound, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { prepareActs } from '../../record/audit/index.ts';
import {
  acceptBudget,
  acceptTokenScopes,
  boundedSeconds,
  mustBeWithin,
  recordingScopes,
} from '../authorization/index.ts';
import type { NewAllocationRow } from '../budgets/budgets.queries.ts';
import { allocationRefused } from '../budgets/index.ts';
import { refuseDenied } from '../policies/index.ts';
import { type DelegatedPart, partOf } from './delegate.rules.ts';
import {
  allocated,
  credentialFor,
  grantCreated,
  type IssuableGrant,
  issueTokens,
  overridesFor,
} from './issue.ts';
import { assess, findGenuine, type LookUpDeps } from './look-up.ts';
import { mustBeConsented } from './refresh.ts';
import type { HeldBudget, NewGrant } from './tokens.repo.ts';
import type { RequestedToken } from './tokens.rules.ts';
import { type GrantRefusal, invalidGrant } from './tokens.rules.ts';
import type { DelegatedTokens, DelegationRequest } from './tokens.schema.ts';
import { type DelegableRow, delegateGrant, findDelegable } from './write.repo.ts';

export interface DelegateDeps extends LookUpDeps {
  readonly maxTtlSeconds: number;
  /** For developers that have not set their own. */
  readonly maxDelegationDepth: number;
}

interface ByProof {
  readonly requested?: RequestedToken;
  /** The key whose proof came with the call, which a bound parent token needs. */
  readonly provedKey?: string | undefined;
  /** Whether the parent token is all that the caller proves. */
  readonly isByToken?: boolean;
}

/**
 * Gives a part of a grant to another agent. The holder of the grant presents its token. The principal is not
 * asked again, so no part reaches further than the principal allowed.
 * @throws BAD_REQUEST, INVALID_GRANT with the reason, INVALID_SCOPE, INVALID_PURPOSE,
 * DELEGATION_DEPTH_EXCEEDED, NOT_FOUND, AGENT_INACTIVE, PLAN_LIMIT_EXCEEDED, POLICY_DENIED, CURRENCY_MISMATCH, INSUFFICIENT_BUDGET
 */
export async function delegate(
  deps: DelegateDeps,
  caller: Caller,
  input: DelegationRequest,
  { requested, provedKey = requested?.keyThumbprint, isByToken = false }: ByProof = {},
): Promise<DelegatedTokens> {
  const scopes = acceptTokenScopes(input.scopes);
  const lifetimeSeconds = boundedSeconds('expiresIn', input.expiresIn, deps.maxGrantLifetimeSeconds);
  const budget = input.budget && acceptBudget(input.budget);
  const at = deps.clock();
  const parent = await findParent(deps, caller, input, { at, keyThumbprint: provedKey ?? null });
  const maxDepth = parent.maxDepth ?? deps.maxDelegationDepth;
  const subAgentDid = parent.subAgentDid ?? '';
  const asked = { operation: 'delegate', about: concerning({ ...parent, grantId: parent.id }) } as const;
  const part = await recordingScopes(deps, caller, asked, () =>
    partOf(parent, { ...input, scopes, lifetimeSeconds, subAgentDid }, { at, maxDepth, isByToken }),
  );
  const longestToken = Math.min(deps.maxTtlSeconds, parent.tokenSeconds);
  const tokenSeconds = input.tokenExpiresIn
    ? boundedSeconds('tokenExpiresIn', input.tokenExpiresIn, longestToken)
    : longestToken;
  const { subAgentDid: agentDid } = parent;
  if (agentDid === null || parent.subAgentStatus === 'revoked') throw notFound();
  if (parent.subAgentStatus !== 'active') throw agentInactive();
  // Otherwise an agent could get a scope from another agent that it may not request from a principal.
  if (parent.enforceAgentScopes) {
    await recordingScopes(deps, caller, asked, () => mustBeWithin(parent.subAgentScopes ?? [], scopes));
  }

  const { version: policiesVersion } = await refuseDenied(
    deps,
    caller,
    { version: parent.policiesVersion, at, quotas: ['active_grants'] },
    {
      operation: 'delegate',
      agentId: input.subAgentId,
      agentDid,
      principalId: parent.principalId,
      scopes: part.scopes,
      purpose: parent.purpose,
      grant: parent,
    },
  );

  const id = newId('grnt', at);
  const allocation = budget
    ? {
        ...budget,
        currency: budget.currency ?? parent.budgetCurrency ?? 'USD',
        id: newId('bdg', at),
        grantId: id,
      }
    : null;
  const held = {
    agentId: input.subAgentId,
    agentDid,
    tokenSeconds,
    at,
    id,
    ...budgetBelow(parent, allocation),
  };
  const grant = childOf(parent, part, held);
  const form = await overridesFor(deps, caller, requested, grant);
  const { token, refresh, act, answer } = await issueTokens(deps, caller, grant, at, null, form);
  const { credentialFormat } = input;
  const { credential, acts, members } = await credentialFor(deps, caller, grant, { credentialFormat, at });
  const created = [grantCreated(grant), ...allocated(grant, allocation)];
  const records = prepareActs(caller, [...created, act, ...acts], at);
  const grantLimit = limitOf(deps.quotas, caller, 'active_grants');
  const write = {
    parentAgentId: parent.agentId,
    parentTokenId: parent.tokenId,
    grant,
    token,
    refresh: part.endsWithToken ? null : refresh,
    allocation,
    credential,
    grantLimit,
    policiesVersion,
    records,
  };
  const refused = await delegateGrant(deps.db, caller.tenant, at, write);
  if (refused === 'policies_changed' || refused === 'place_taken')
    return delegate(deps, caller, input, {
      isByToken,
      ...(requested && { requested }),
      ...(provedKey && { provedKey }),
    });
  if (refused === 'over_quota') throw overQuota(caller, 'active_grants', grantLimit);
  if (refused === 'sub_agent_revoked') throw notFound();
  if (refused === 'sub_agent_suspended') throw agentInactive();
  if (refused === 'currency_mismatch' || refused === 'insufficient') {
    const above = { parentGrantId: parent.id, initial: String(allocation?.initial) };
    throw await allocationRefused(deps, caller, refused, above);
  }
  if (refused === 'principal_inactive') throw principalInactive();
  if (refused) throw invalidGrant(refused);
  return {
    ...answer,
    ...members,
    ...(part.endsWithToken && { refreshToken: null, refreshExpiresAt: null }),
    parentGrantId: parent.id,
    delegationDepth: part.delegationDepth,
  };
}

/** The budget that a part of a grant can spend: its own, as far as those above it cover it. */
function budgetBelow(parent: HeldBudget, own: NewAllocationRow | null): HeldBudget {
  if (!own) return { ...held(parent), budgetInitial: null };
  const { budgetRemaining } = parent;
  const isCovered = budgetRemaining === null || BigInt(own.initial) <= BigInt(budgetRemaining);
  return {
    budgetRemaining: isCovered ? own.initial : budgetRemaining,
    budgetCurrency: own.currency,
    budgetInitial: own.initial,
  };
}

const held = ({ budgetRemaining, budgetCurrency }: HeldBudget) => ({ budgetRemaining, budgetCurrency });

/** Another developer's token gets the same answer as an unknown token. @throws INVALID_GRANT */
async function findParent(
  deps: DelegateDeps,
  caller: Caller,
  { parentGrantToken, subAgentId }: DelegationRequest,
  { at, keyThumbprint }: { readonly at: Date; readonly keyThumbprint: string | null },
): Promise<DelegableRow> {
  const genuine = findGenuine(deps, parentGrantToken, at);
  const claims = genuine?.verified.claims;
  if (!claims || claims.developerId !== caller.tenant.developerId) throw invalidGrant('parent_invalid');
  const found = await findDelegable(deps.db, caller, claims.tokenId, { subAgentId, at });
  const { row, reason } = assess(genuine, found, caller, at);
  // A bound token is worth nothing without the proof of its key.
  if (!row || (row.keyThumbprint !== null && row.keyThumbprint !== keyThumbprint))
    throw invalidGrant('parent_invalid');
  if (!row.isPrincipalActive) throw principalInactive();
  if (reason) throw invalidGrant(refusals[reason]);
  await mustBeConsented(deps, caller, row);
  return row;
}

const refusals = {
  revoked: 'parent_revoked',
  expired: 'parent_expired',
  grant_inactive: 'parent_expired',
  agent_inactive: 'agent_inactive',
} as const satisfies Record<string, GrantRefusal>;

interface Child extends HeldBudget {
  readonly id: string;
  readonly agentId: string;
  readonly agentDid: string;
  readonly tokenSeconds: number;
  readonly at: Date;
}

function childOf(
  parent: DelegableRow,
  { entries, endsWithToken: _, ...part }: DelegatedPart,
  { at, ...held }: Child,
): NewGrant & IssuableGrant {
  return {
    ...part,
    ...held,
    authRequestId: null,
    principalId: parent.principalId,
    authorizationDetails: entries.length > 0 ? JSON.parse(JSON.stringify(entries)) : null,
    status: 'active',
    consentMethod: 'delegated',
    policyId: null,
    isUnverified: parent.isUnverified,
    issuedAt: at,
    revokedAt: null,
    expiryAnnouncedAt: null,
    revokedReason: null,
    lastUsedAt: null,
    manifests: parent.manifests,
    authenticatedAt: parent.authenticatedAt,
    authMethods: parent.authMethods,
    parentGrantId: parent.id,
    parentTokenId: parent.tokenId,
    rootGrantId: parent.rootGrantId,
    delegatedBy: [parent.agentDid, ...parent.delegatedBy],
  };
}
