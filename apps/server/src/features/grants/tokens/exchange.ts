import { parseDuration } from '@behest/protocol/durations';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type AppError, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { countWrongVerifierOf, findByCode, MAX_WRONG_VERIFIERS } from '../authorization/index.ts';
import { refuseDenied } from '../policies/index.ts';
import { credentialFor } from './credential.ts';
import type { TokenWish } from './form.rules.ts';
import { allocated, grantCreated, type IssuableGrant, issueTokens, type TokenDeps } from './issue.ts';
import { redeem } from './redeem.ts';
import { reportReuse } from './reuse.ts';
import { newRoot } from './root.ts';
import { findRedeemable, type NewGrant, type Redeemable } from './tokens.repo.ts';
import { invalidGrant, redemptionRefusal, type Presented as Shown } from './tokens.rules.ts';
import type { Exchange, ExchangedTokens } from './tokens.schema.ts';
import { wishedForm } from './wish.ts';

interface Presented extends Shown {
  readonly credentialFormat: Exchange['credentialFormat'];
}

/** The tokens of a code. A client that has not asked for a refresh token is not told it. */
export type TokensOfCode = ExchangedTokens & { readonly refreshes?: false };

const keyOf = (wish: TokenWish | undefined) =>
  wish?.keyThumbprint === undefined ? {} : { keyThumbprint: wish.keyThumbprint };

/**
 * Makes a grant from an approved request. When several calls present one code at once, one of them succeeds.
 * @throws INVALID_GRANT with the reason, PLAN_LIMIT_EXCEEDED and POLICY_DENIED (the code stays valid), SERVICE_UNAVAILABLE
 */
export async function exchangeCode(
  deps: TokenDeps,
  caller: Caller,
  input: Presented & { readonly code: string },
  wish?: TokenWish,
): Promise<TokensOfCode> {
  const inFlight = await findByCode(deps.store, input.code);
  // The code of another developer, or of an agent out of reach, gets the same answer as an unknown code.
  if (!inFlight || inFlight.developerId !== caller.tenant.developerId) throw invalidGrant('code_unknown');
  return exchangeRequest(deps, caller, { ...input, requestId: inFlight.requestId }, wish);
}

/**
 * Makes a grant from an approved request, for a caller that has shown its code or polls for it.
 * @throws as `exchangeCode`
 */
export async function exchangeRequest(
  deps: TokenDeps,
  caller: Caller,
  input: Presented & { readonly requestId: string },
  wish?: TokenWish,
): Promise<ExchangedTokens> {
  const found = await findRedeemable(deps.db, caller, input.requestId);
  if (!found) throw invalidGrant('code_unknown');
  if (!found.isPrincipalActive) throw principalInactive();
  const at = deps.clock();
  const refusal = redemptionRefusal(found, { ...input, ...keyOf(wish) }, at, MAX_WRONG_VERIFIERS);
  if (refusal === 'pkce_mismatch') await countWrongVerifierOf(deps.db, caller, found.id);
  if (refusal === 'code_used') await reportReuse(deps, caller, reuseOf(found), at);
  if (refusal) throw invalidGrant(refusal);
  const form = await wishedForm(deps, caller, wish, found);
  const { version: policiesVersion } = await refuseDenied(
    deps,
    caller,
    { version: found.policiesVersion, at, quotas: ['active_grants', 'token_exchanges'] },
    { ...found, operation: 'token' },
  );

  const grant = grantOf(found, at);
  const allocation = allocationOf(found, grant.id, at);
  const issue = await issueTokens(deps, caller, grant, at, null, form);
  const { token, refresh, act, answer } = issue;
  const { credentialFormat = 'jwt' } = input;
  const { credential, acts, members } = await credentialFor(deps, caller, grant, { credentialFormat, at });
  const created = [grantCreated(grant), ...allocated(grant, allocation)];
  const grantLimit = limitOf(deps.quotas, caller, 'active_grants');
  const maxWrongVerifiers = MAX_WRONG_VERIFIERS;
  const monthLimit = limitOf(deps.quotas, caller, 'token_exchanges');
  const limits = { grantLimit, monthLimit, maxWrongVerifiers, policiesVersion };
  const write = { grant, token, refresh, allocation, credential, ...limits };
  const { replacesGrantId } = found;
  const lost = await redeem(deps, caller, { write, acts: [...created, act, ...acts], replacesGrantId }, at);
  if (lost === 'policies_changed' || lost === 'place_taken')
    return exchangeRequest(deps, caller, input, wish);
  if (lost === 'over_quota') throw overQuota(caller, 'active_grants', grantLimit);
  if (lost === 'over_month') throw overQuota(caller, 'token_exchanges', monthLimit);
  if (lost === 'code_used')
    throw await refusalOfLoser(deps, caller, { found, input: { ...input, ...keyOf(wish) }, at });
  if (lost === 'principal_inactive') throw principalInactive();
  if (lost) throw invalidGrant(lost);
  const { refreshes = true } = Object(found.client);
  return { ...answer, ...members, ...(!refreshes && { refreshes: false as const }) };
}

function reuseOf({ grantId, grantStatus, grantIssuedAt, agentId, agentDid, principalId }: Redeemable) {
  const about = concerning({ grantId, agentId, agentDid, principalId });
  return { kind: 'code' as const, about, usedAt: grantIssuedAt, isActive: grantStatus === 'active' };
}

/** Why an exchange lost its race: a rival has used the code, or ended its request, since the request was read. */
async function refusalOfLoser(
  deps: TokenDeps,
  caller: Caller,
  { found, input, at }: { found: Redeemable; input: Presented; at: Date },
): Promise<AppError> {
  const now = (await findRedeemable(deps.db, caller, found.id)) ?? found;
  const reason = redemptionRefusal(now, input, at, MAX_WRONG_VERIFIERS) ?? 'code_used';
  if (reason === 'code_used') await reportReuse(deps, caller, reuseOf(now), at);
  return invalidGrant(reason);
}

function allocationOf({ budgetInitial, budgetCurrency }: Redeemable, grantId: string, at: Date) {
  if (budgetInitial === null || budgetCurrency === null) return null;
  return { id: newId('bdg', at), grantId, currency: budgetCurrency, initial: budgetInitial };
}

function grantOf(request: Redeemable, at: Date): NewGrant & IssuableGrant {
  const { agentId, agentDid, principalId, scopes, audience, purpose, authorizationDetails, tokenSeconds } =
    request;
  const { consentMethod, manifests, policyId, authenticatedAt, authMethods } = request;
  const seconds = parseDuration(request.expiresIn);
  if (!consentMethod || !seconds)
    throw new Error('An approved request lacks its consent method or its lifetime.');
  return {
    ...newRoot(seconds, at),
    authRequestId: request.id,
    agentId,
    agentDid,
    principalId,
    scopes,
    audience,
    purpose,
    authorizationDetails,
    manifests,
    tokenSeconds,
    consentMethod,
    policyId,
    isUnverified: consentMethod === 'link',
    authenticatedAt,
    authMethods,
    budgetRemaining: request.budgetInitial,
    budgetCurrency: request.budgetCurrency,
    budgetInitial: request.budgetInitial,
  };
}
