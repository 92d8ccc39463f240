import { type ActSubject, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, agentInactive, badField, notFound, principalInactive } from '../../../platform/errors.ts';
import { isRedirectUri } from '../../accounts/developers/index.ts';
import { refuseWhenFull } from '../../accounts/quotas/index.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import { findGrant, type GrantRow } from '../grants/grants.queries.ts';
import { grantStatus } from '../grants/index.ts';
import { type AuthorizationFacts, getAuthorizationFacts } from './authorization.repo.ts';
import { type AcceptedRequest, acceptRequest, mustBeWithin } from './authorization.rules.ts';
import type { AuthorizationInput } from './authorization.schema.ts';
import type { AuthorizationDeps } from './deps.ts';
import type { ClientRequestOptions } from './request.ts';

/**
 * Checks everything about a request but the policies. The writes of the engine check it again.
 * @throws as `requestConsent`
 */
export async function admit(
  deps: AuthorizationDeps,
  caller: Caller,
  input: AuthorizationInput,
  options?: ClientRequestOptions,
): Promise<{ accepted: AcceptedRequest; facts: AuthorizationFacts; agentDid: string }> {
  const accepted = acceptRequest(input, deps.lifetimes);
  if (input.autoApprove !== undefined && caller.mode === 'live') {
    throw badField('autoApprove', 'not_allowed', 'Only the sandbox has `autoApprove`; leave it out.');
  }
  // Both are asked in one turn, and go to the database together.
  const [facts, replaced] = await Promise.all([
    getAuthorizationFacts(deps.db, caller, input),
    findNamed(deps, caller, input),
  ]);
  const asked = {
    operation: 'authorize',
    about: concerning({ ...input, agentDid: facts.agentDid }),
  } as const;
  const agentDid = await recordingScopes(deps, caller, asked, () =>
    mustBeAllowed(deps, caller, options ? {} : input, {
      scopes: accepted.scopes,
      facts,
      isProposed: options?.isProposed === true,
      replaced,
    }),
  );
  if (!facts.isPrincipalActive) throw principalInactive();
  // The end of the grant makes room for the new one.
  await mustHaveRoom(deps, caller, replaced ? { ...facts, activeGrants: null } : facts, deps.clock());
  return { accepted, facts, agentDid };
}

interface AdmissionFacts {
  readonly scopes: readonly string[];
  readonly facts: AuthorizationFacts;
  readonly isProposed: boolean;
  /** The grant that the request names; null when it names none that is the agent's for the principal. */
  readonly replaced: GrantRow | null | undefined;
}

/** The grant that a request is to replace. A caller who names another's grant learns nothing of it. */
async function findNamed(
  { db }: AuthorizationDeps,
  caller: Caller,
  { replacesGrantId, agentId, principalId }: AuthorizationInput,
): Promise<GrantRow | null | undefined> {
  if (replacesGrantId === undefined) return undefined;
  const found = await findGrant(db, caller, replacesGrantId);
  return found?.agentId === agentId && found.principalId === principalId ? found : null;
}

/** @returns the agent's DID. @throws in the order in which the refusals are documented. */
function mustBeAllowed(
  deps: AuthorizationDeps,
  caller: Caller,
  { redirectUri }: Pick<AuthorizationInput, 'redirectUri'>,
  { scopes, facts, isProposed, replaced }: AdmissionFacts,
): string {
  const { agentDid, agentStatus, agentScopes } = facts;
  if (facts.enforceAgentScopes && agentScopes) mustBeWithin(agentScopes, scopes);
  const mustBeRegistered = caller.mode === 'live' || facts.redirectUris.length > 0;
  const isFit = (uri: string) =>
    isRedirectUri(uri) && (!mustBeRegistered || facts.redirectUris.includes(uri));
  if (redirectUri !== undefined && !isFit(redirectUri)) {
    throw new AppError('INVALID_REDIRECT_URI', 'This redirect URI is not registered; register it first.');
  }
  if (agentDid === null || agentStatus === 'revoked' || replaced === null) throw notFound();
  if (agentStatus !== 'active' && !isProposed) throw agentInactive();
  if (replaced) mustLive(replaced, deps.clock());
  const hasProof = facts.consentMode !== 'developer' || toArray(facts.consentKeys).length > 0;
  if (caller.mode === 'live' && !hasProof && deps.principalProof === 'required') {
    const message = 'Register `consentKeys` first: without them the service cannot tell who consents.';
    throw new AppError('CONFLICT', message, { field: 'consentKeys' });
  }
  return agentDid;
}

/** @throws GRANT_INACTIVE */
function mustLive(grant: GrantRow, now: Date): void {
  const reason = grantStatus(grant, now);
  if (reason === 'active') return;
  const message = 'The grant to replace has ended; ask without `replacesGrantId`.';
  throw new AppError('GRANT_INACTIVE', message, { reason });
}

/** Refuses a request to come, of an agent that need not exist yet. @returns the facts about it @throws PLAN_LIMIT_EXCEEDED */
export async function mustHaveRoomFor(
  deps: AuthorizationDeps,
  caller: Caller,
  asked: Pick<AuthorizationInput, 'agentId' | 'principalId'>,
): Promise<AuthorizationFacts> {
  const facts = await getAuthorizationFacts(deps.db, caller, asked);
  await mustHaveRoom(deps, caller, facts, deps.clock());
  return facts;
}

/** Refuses before the store gets a ticket. The write decides about requests, and the exchange about grants. */
async function mustHaveRoom(
  { db, quotas }: AuthorizationDeps,
  caller: Caller,
  { openRequests, activeGrants }: AuthorizationFacts,
  at: Date,
): Promise<void> {
  const [open, active] = [Number(openRequests ?? 0), Number(activeGrants ?? 0)];
  await refuseWhenFull(db, quotas, caller, { resource: 'open_requests', used: open, at });
  await refuseWhenFull(db, quotas, caller, { resource: 'active_grants', used: active, at });
}

const toArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

interface ScopeCheck {
  readonly operation: 'authorize' | 'delegate';
  readonly about: ActSubject;
}

/**
 * Decides whether an agent may ask for its scopes, and records a refusal of them, so that detection sees an agent that
 * tries. @throws as `decide`
 */
export async function recordingScopes<Decided>(
  { db, clock }: { readonly db: Executor; readonly clock: Clock },
  caller: Caller,
  { operation, about }: ScopeCheck,
  decide: () => Decided,
): Promise<Decided> {
  try {
    return decide();
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_SCOPE') {
      const data = { operation, reason: 'scope_exceeded', ...error.details };
      const attempt = { action: 'authorization.scope_refused', about, data, hasOwnEntry: true } as const;
      await inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
    }
    throw error;
  }
}
