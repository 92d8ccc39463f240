import { authenticationColumns } from '@behest/protocol/authentication';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { agentInactive, notFound, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { adoptAgent } from '../../accounts/agents/index.ts';
import { findPageHost } from '../../accounts/domains/domains.queries.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { isEnforced, isEnforcedFor, mustHaveActiveConnection } from '../../people/sso/sso.queries.ts';
import { prepareActs, recordActs } from '../../record/audit/index.ts';
import { needsRenewal } from '../grants/grants.queries.ts';
import { type PolicyDecision, refuseDenied } from '../policies/index.ts';
import { admit } from './admit.ts';
import { type AuthorizationFacts, type RequestRow, requestAuthorization } from './authorization.repo.ts';
import { budgetColumns, CODE_SECONDS } from './authorization.rules.ts';
import type { AuthorizationInput, CreatedAuthorizationRequest } from './authorization.schema.ts';
import { pinsFor } from './decide.ts';
import type { AuthorizationDeps } from './deps.ts';
import { newCode, newTicket } from './in-flight.ts';
import { toAuthorizationRequest } from './manage.ts';

/**
 * Asks a principal for consent. In the sandbox the answer has a code at once, unless `autoApprove` is false; and so it has
 * where the developer lets policies approve, and one does.
 * @throws BAD_REQUEST, INVALID_SCOPE, INVALID_PURPOSE, INVALID_REDIRECT_URI, NOT_FOUND, AGENT_INACTIVE,
 * GRANT_INACTIVE, PRINCIPAL_INACTIVE, CONFLICT, PLAN_LIMIT_EXCEEDED, POLICY_DENIED, SERVICE_UNAVAILABLE
 */
export async function requestConsent(
  deps: AuthorizationDeps,
  caller: Caller,
  input: AuthorizationInput,
  options?: ClientRequestOptions,
): Promise<CreatedAuthorizationRequest> {
  const at = deps.clock();
  // Both are asked in one turn, and go to the database together.
  const [{ accepted, facts, agentDid }, pins] = await Promise.all([
    admit(deps, caller, input, options),
    pinsFor(deps.db, caller.tenant, input.scopes),
  ]);
  const decision = await refuseDenied(
    deps,
    caller,
    { version: facts.policiesVersion, at, quotas: ['authorizations'] },
    { operation: 'authorize', ...input, agentDid, scopes: accepted.scopes },
  );
  const own = options?.channel ? null : approvalOf(caller, input, facts, decision);
  // A policy does not sign a person in, and single sign-on is enforced at the person.
  const mustSignIn = options?.authenticatedSince !== undefined;
  const needsPerson =
    own === 'policy' &&
    (mustSignIn ||
      options?.needsPerson ||
      (await isEnforcedFor(deps.db, caller.tenant, input.principalId)) ||
      (await needsRenewal(deps.db, caller.tenant, input, at)));
  const method = needsPerson ? null : own;
  const isApproved = method !== null;
  const mustSignInAtProvider = !isApproved && caller.mode === 'live' && facts.consentMode === 'sso';
  if (mustSignInAtProvider) await mustHaveActiveConnection(deps.db, caller.tenant);
  const policyId = method === 'policy' ? decision.policyId : null;
  const id = options?.requestId ?? newId('areq', at);
  const request: Omit<RequestRow, 'developerId'> = {
    id,
    keyId: caller.keyId ?? null,
    agentId: input.agentId,
    principalId: input.principalId,
    scopes: accepted.scopes,
    expiresIn: input.expiresIn,
    tokenSeconds: Math.min(accepted.tokenSeconds, options?.tokenSeconds ?? accepted.tokenSeconds),
    redirectUri: input.redirectUri ?? null,
    state: input.state ?? null,
    codeChallenge: input.codeChallenge ?? null,
    keyThumbprint: options?.keyThumbprint ?? null,
    client: options?.client ? jsonOf(options.client) : null,
    audience: input.audience ?? null,
    purpose: accepted.purpose ?? null,
    authorizationDetails: accepted.details.length > 0 ? jsonOf(accepted.details) : null,
    manifests: isApproved ? jsonOf(pins) : null,
    ...budgetColumns(accepted.budget),
    replacesGrantId: input.replacesGrantId ?? null,
    status: isApproved ? 'approved' : 'pending',
    consentMethod: method,
    shownAgent: null,
    scopeWords: null,
    policyId,
    wrongVerifiers: 0,
    createdAt: at,
    expiresAt: new Date(at.getTime() + accepted.openSeconds * 1000),
    decidedAt: isApproved ? at : null,
    codeExpiresAt: isApproved ? new Date(at.getTime() + CODE_SECONDS * 1000) : null,
    channel: options?.channel ?? null,
    comparedText: options?.comparedText ?? null,
    authenticatedSince: options?.authenticatedSince ?? null,
    ...authenticationColumns(undefined),
  };

  const inFlight = { developerId: caller.tenant.developerId, requestId: id };
  const { ticket, entry } = newTicket(inFlight, isApproved ? CODE_SECONDS : accepted.openSeconds);
  const code = isApproved ? newCode(inFlight, CODE_SECONDS) : undefined;
  const entries = code ? [entry, code.entry] : [entry];
  await deps.store.put(entries);
  const records = prepareActs(caller, actsOf(request, agentDid), at);
  const openLimit = limitOf(deps.quotas, caller, 'open_requests');
  const monthLimit = limitOf(deps.quotas, caller, 'authorizations');
  const policiesVersion = decision.version;
  const opening = { request, openLimit, monthLimit, policiesVersion, records };
  const refusal = await requestAuthorization(deps.db, caller.tenant, at, opening);
  if (refusal) {
    // Refused calls that come together would fill the store, which the quota bounds.
    await Promise.all(entries.map(({ key }) => deps.store.remove(key)));
    if (refusal === 'policies_changed') return requestConsent(deps, caller, input, options);
    if (refusal === 'principal_inactive') throw principalInactive();
    if (refusal === 'over_quota') throw overQuota(caller, 'open_requests', openLimit);
    if (refusal === 'over_month') throw overQuota(caller, 'authorizations', monthLimit);
    throw refusal === 'revoked' ? notFound() : agentInactive();
  }

  if (isApproved && options?.isProposed) await approveFirst(deps, caller, input.agentId);
  return {
    ...toAuthorizationRequest(request, caller, at),
    consentUrl: linkOf(await baseOfPages(deps, caller, facts), id, ticket),
    ...(code && { code: code.code }),
    ...(policyId !== null && { policyEnforced: true as const, effect: 'allow' as const, policyId }),
  };
}

/** @returns how the request is approved without a person; null when a person decides */
function approvalOf(
  { mode }: Caller,
  { autoApprove }: AuthorizationInput,
  { policyAutoApproval, consentMode }: AuthorizationFacts,
  { effect, policyId, namesScopes }: PolicyDecision,
): 'sandbox' | 'policy' | null {
  if (effect === 'require_approval') return null;
  if (mode === 'sandbox') return autoApprove === false ? null : 'sandbox';
  if (!policyAutoApproval || consentMode === 'passkey') return null;
  // A policy without scopes would approve everything, which its author may not have meant.
  return effect === 'allow' && policyId !== null && namesScopes ? 'policy' : null;
}

/** The address of the consent page of a request. */
export const linkOf = (base: string, requestId: string, ticket: string) =>
  `${base}/consent?req=${requestId}#ticket=${ticket}`;

/** Identity providers send browsers back to the service's own host, where the page's cookie has to be. */
export async function baseOfPages(
  { db, publicBaseUrl, linksToDomains }: AuthorizationDeps,
  { tenant }: Caller,
  { consentMode }: Pick<AuthorizationFacts, 'consentMode'>,
) {
  const host = linksToDomains && consentMode !== 'sso' ? await findPageHost(db, tenant) : undefined;
  if (host === undefined || (await isEnforced(db, tenant))) return publicBaseUrl;
  return `${new URL(publicBaseUrl).protocol}//${host}`;
}

/** The same value, in the type of a column that holds JSON. */
const jsonOf = (value: unknown) => JSON.parse(JSON.stringify(value));

function actsOf(request: Omit<RequestRow, 'developerId'>, agentDid: string): Act[] {
  const { id: authRequestId, scopes, consentMethod: method, policyId, channel, replacesGrantId } = request;
  const about = concerning({ ...request, agentDid });
  const asked = {
    authRequestId,
    scopes,
    ...(channel !== null && { channel }),
    ...(replacesGrantId !== null && { replacesGrantId }),
  };
  const requested: Act = { type: 'authorization.requested', ...about, data: asked };
  if (method === null) return [requested];
  const data = { authRequestId, scopes, method, narrowed: false, ...(policyId !== null && { policyId }) };
  return [requested, { type: 'authorization.approved', ...about, data }];
}

/** An OAuth client as its request shows it. */
export interface RequestingClient {
  /** The name that the client gives itself; null where it has that of its agent. */
  readonly name: string | null;
  /** The name comes from the developer who registered the client, from the host that published it, or from anybody. */
  readonly vouchedBy: 'developer' | 'host' | 'nobody';
  readonly host: string | null;
  /** Whether every address of the client leads to a program on the person's own machine. */
  readonly isLocal: boolean;
  /** The names of the resources that it asks for. */
  readonly resourceNames: readonly string[];
  /** Whether it gets refresh tokens. */
  readonly refreshes: boolean;
}

/** The client of a stored request; null for a request that no OAuth client made. */
export function clientOfRequest(client: unknown): RequestingClient | null {
  const { name = null, vouchedBy, host = null, isLocal, resourceNames, refreshes } = Object(client);
  return vouchedBy === undefined ? null : { name, vouchedBy, host, isLocal, resourceNames, refreshes };
}

/** A request of an OAuth client, whose redirect URI is one that the client has registered. */
export interface ClientRequestOptions {
  /** An id that was given out before the request was made. */
  readonly requestId?: string;
  /** The key without whose proof no code is exchanged. */
  readonly keyThumbprint?: string;
  /** The way by which the client learns the decision, where that is no browser. Then a person decides in any case. */
  readonly channel?: NonNullable<RequestRow['channel']>;
  /** The text that the person compares with the other device. */
  readonly comparedText?: string;
  /** The client as the person is shown it. */
  readonly client?: RequestingClient;
  /** Whether the agent is that of a client without an approval. */
  readonly isProposed?: boolean;
  /** The earliest sign-in of the person that counts. */
  readonly authenticatedSince?: Date;
  /** Whether no policy approves: neither does anybody answer for the client, nor has anything proved the person. */
  readonly needsPerson?: boolean;
  /** The longest life of a token. */
  readonly tokenSeconds?: number;
}

/**
 * Makes the agent of a client that was approved without a person an agent of the developer.
 * @throws PLAN_LIMIT_EXCEEDED: the answer has no code then
 */
function approveFirst(
  { db, clock, quotas }: { readonly db: Executor; readonly clock: Clock; readonly quotas: Quotas },
  caller: Caller,
  agentId: string,
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const acts = await adoptAgent(tx, quotas, caller, { agentId, at });
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
  });
}
