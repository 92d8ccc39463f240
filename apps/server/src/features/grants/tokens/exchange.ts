import { createHash, timingSafeEqual } from 'node:crypto';
import { parseDuration } from '@behest/protocol/durations';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { type AppError, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { holdAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { holdStatusPlace } from '../../extras/verifiable-credentials/verifiable-credentials.queries.ts';
import { prepareActs, recordActs } from '../../record/audit/index.ts';
import { holdRequest } from '../authorization/authorization.queries.ts';
import { countWrongVerifierOf, findByCode, MAX_WRONG_VERIFIERS } from '../authorization/index.ts';
import { holdDelegations, revokeGrantsWithin } from '../grants/index.ts';
import { refuseDenied } from '../policies/index.ts';
import {
  allocated,
  credentialFor,
  grantCreated,
  type IssuableGrant,
  issueTokens,
  newRoot,
  overridesFor,
  type TokenDeps,
} from './issue.ts';
import { reportReuse } from './refresh.ts';
import { findRedeemable, listReplaced, type NewGrant, type Redeemable } from './tokens.repo.ts';
import { type GrantRefusal, invalidGrant, type RequestedToken } from './tokens.rules.ts';
import type { CodeExchange, ExchangedTokens } from './tokens.schema.ts';
import { type Redemption, type RedemptionRefusal, redeemCode } from './write.repo.ts';

interface Presented {
  readonly agentId: string;
  readonly redirectUri?: string | undefined;
  readonly codeVerifier?: string | undefined;
  /** The key whose proof came with the code. */
  readonly keyThumbprint?: string;
  readonly credentialFormat: CodeExchange['credentialFormat'];
}

/** The tokens of a code. The answer to a client that has not asked for a refresh token leaves it out. */
export type TokensOfCode = ExchangedTokens & { readonly refreshes?: false };

const keyOf = (requested: RequestedToken | undefined) =>
  requested?.keyThumbprint === undefined ? {} : { keyThumbprint: requested.keyThumbprint };

/**
 * Makes a grant from an approved request. When several calls present one code at once, one of them succeeds.
 *
 * Refusals come in this order: the shape of the body (`tokens.schema.ts`); the code, by the rule's own name
 * (`redemptionRefusal`); policies and plans; a grant that does not fit into a token (`issue.ts`); and under lock the same
 * again (`write_redemption`). The code stays valid after PLAN_LIMIT_EXCEEDED and POLICY_DENIED.
 * @throws BAD_REQUEST, INVALID_GRANT with the reason, PRINCIPAL_INACTIVE, POLICY_DENIED, PLAN_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function exchangeCode(
  deps: TokenDeps,
  caller: Caller,
  input: Presented & { readonly code: string },
  requested?: RequestedToken,
): Promise<TokensOfCode> {
  const inFlight = await findByCode(deps.store, input.code);
  // The code of another developer, or of an agent out of reach, gets the same answer as an unknown code.
  if (!inFlight || inFlight.developerId !== caller.tenant.developerId) throw invalidGrant('code_unknown');
  return exchangeRequest(deps, caller, { ...input, requestId: inFlight.requestId }, requested);
}

/**
 * Makes a grant from an approved request, for a caller that has shown its code or polls for it.
 * @throws as `exchangeCode`
 */
export async function exchangeRequest(
  deps: TokenDeps,
  caller: Caller,
  input: Presented & { readonly requestId: string },
  requested?: RequestedToken,
): Promise<ExchangedTokens> {
  const found = await findRedeemable(deps.db, caller, input.requestId);
  if (!found) throw invalidGrant('code_unknown');
  if (!found.isPrincipalActive) throw principalInactive();
  const at = deps.clock();
  const refusal = redemptionRefusal(found, { ...input, ...keyOf(requested) }, at);
  if (refusal === 'pkce_mismatch') await countWrongVerifierOf(deps.db, caller, found.id);
  if (refusal === 'code_used') await reportReuse(deps, caller, reuseOf(found), at);
  if (refusal) throw invalidGrant(refusal);
  const form = await overridesFor(deps, caller, requested, found);
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
  const refused = await redeem(
    deps,
    caller,
    { write, acts: [...created, act, ...acts], replacesGrantId },
    at,
  );
  if (refused === 'policies_changed' || refused === 'place_taken')
    return exchangeRequest(deps, caller, input, requested);
  if (refused === 'over_quota') throw overQuota(caller, 'active_grants', grantLimit);
  if (refused === 'over_month') throw overQuota(caller, 'token_exchanges', monthLimit);
  if (refused === 'code_used')
    throw await refusalAfterRace(deps, caller, { found, input: { ...input, ...keyOf(requested) }, at });
  if (refused === 'principal_inactive') throw principalInactive();
  if (refused) throw invalidGrant(refused);
  const { refreshes = true } = Object(found.client);
  return { ...answer, ...members, ...(!refreshes && { refreshes: false as const }) };
}

/**
 * Why this code is not exchanged. Agent and redirect URI are compared first, so that another client learns nothing.
 * The verifier comes next, so that only the client that began the flow can cause the revocation that follows reuse.
 */
function redemptionRefusal(request: Redeemable, presented: Presented, now: Date): GrantRefusal | undefined {
  const { redirectUri = request.redirectUri } = presented;
  if (request.agentId !== presented.agentId || request.redirectUri !== redirectUri) return 'code_unknown';
  if (request.keyThumbprint !== null && request.keyThumbprint !== presented.keyThumbprint)
    return 'code_unknown';
  const pkce = pkceRefusal(request, presented);
  if (pkce) return pkce;
  if (request.wrongVerifiers >= MAX_WRONG_VERIFIERS) return 'code_unknown';
  if (request.status === 'consumed') return 'code_used';
  if (request.status === 'expired' && request.codeExpiresAt) return 'code_expired';
  if (request.status !== 'approved' || !request.codeExpiresAt) return 'not_approved';
  if (request.codeExpiresAt <= now) return 'code_expired';
  return request.agentStatus === 'active' ? undefined : 'agent_inactive';
}

function pkceRefusal({ codeChallenge }: Redeemable, { codeVerifier }: Presented): GrantRefusal | undefined {
  if (codeChallenge === null) return codeVerifier === undefined ? undefined : 'pkce_unexpected';
  if (codeVerifier === undefined) return 'pkce_required';
  return isVerifierOf(codeChallenge, codeVerifier) ? undefined : 'pkce_mismatch';
}

/** @see RFC 7636 §4.6 */
function isVerifierOf(challenge: string, verifier: string): boolean {
  const computed = createHash('sha256').update(verifier).digest('base64url');
  return (
    computed.length === challenge.length && timingSafeEqual(Buffer.from(computed), Buffer.from(challenge))
  );
}

function reuseOf({ grantId, grantStatus, grantIssuedAt, agentId, agentDid, principalId }: Redeemable) {
  const about = concerning({ grantId, agentId, agentDid, principalId });
  return { kind: 'code' as const, about, usedAt: grantIssuedAt, isActive: grantStatus === 'active' };
}

/** Why an exchange lost its race: a rival has used the code, or ended its request, since the request was read. */
async function refusalAfterRace(
  deps: TokenDeps,
  caller: Caller,
  { found, input, at }: { found: Redeemable; input: Presented; at: Date },
): Promise<AppError> {
  const now = (await findRedeemable(deps.db, caller, found.id)) ?? found;
  const reason = redemptionRefusal(now, input, at) ?? 'code_used';
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

interface RedeemDeps {
  readonly db: Executor;
}

/** An exchange that is ready to be written. */
interface PreparedExchange {
  readonly write: Omit<Redemption, 'records'>;
  readonly acts: readonly Act[];
}

/**
 * Writes the grant of an exchange, and ends the grant that it replaces.
 * @param replacesGrantId as the request names it; null for none
 * @returns why nothing was written, or null
 */
function redeem(
  deps: RedeemDeps,
  caller: Caller,
  { replacesGrantId, ...redeeming }: PreparedExchange & { readonly replacesGrantId: string | null },
  at: Date,
): Promise<RedemptionRefusal> {
  if (replacesGrantId !== null) return redeemReplacing(deps, caller, redeeming, { replacesGrantId, at });
  const records = prepareActs(caller, redeeming.acts, at);
  return redeemCode(deps.db, caller.tenant, at, { ...redeeming.write, records });
}

/** Rolls back what ended before the exchange was refused. */
class RedemptionRefused extends Error {
  readonly refusal: RedemptionRefusal;

  constructor(refusal: RedemptionRefusal) {
    super('An exchange that replaces a grant was refused.');
    this.refusal = refusal;
  }
}

/**
 * One transaction ends the replaced grant with all that was delegated from it, and writes the new one. A grant that has
 * expired or was revoked stays as it is. Locks are taken in the order of revocations: the agent, the turn
 * with delegations, the principal, and then those of an exchange.
 */
function redeemReplacing(
  { db }: RedeemDeps,
  caller: Caller,
  { write, acts }: PreparedExchange,
  { replacesGrantId, at }: { readonly replacesGrantId: string; readonly at: Date },
): Promise<RedemptionRefusal> {
  const { tenant } = caller;
  const { grant, credential } = write;
  return inTransaction(db, async (tx) => {
    await holdAgentStanding(tx, tenant, grant.agentId);
    await holdDelegations(tx, caller);
    await holdPrincipal(tx, tenant, grant.principalId);
    await holdRequest(tx, tenant, grant.authRequestId ?? '');
    if (credential) await holdStatusPlace(tx, tenant, credential, at);
    const replaced = await listReplaced(tx, tenant, replacesGrantId, at);
    const ended = await revokeGrantsWithin(tx, caller, replaced, { reason: 'superseded' }, at);
    const refused = await redeemCode(tx, tenant, at, { ...write, records: prepareActs(caller, [], at) });
    if (refused) throw new RedemptionRefused(refused);
    await recordActs(tx, caller, [...ended, ...acts], at); // a tree may have more acts than one statement takes
    return null;
  }).catch((error: unknown) => {
    if (error instanceof RedemptionRefused) return error.refusal;
    throw error;
  });
}
