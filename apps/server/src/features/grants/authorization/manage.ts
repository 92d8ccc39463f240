import { writeAmount } from '@behest/protocol/amounts';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { byId, mustBeSpan, pageOf } from '../../../platform/paging.ts';
import { getAgentDid, listAgentDids } from '../../accounts/agents/agents.queries.ts';
import type { OnAgentRevoked } from '../../accounts/agents/index.ts';
import { findAccount, isSuccessor } from '../../accounts/developers/developers.queries.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  cancelRequestsOf,
  countWrongVerifier,
  endOfWalk,
  findRequest,
  listRequestRows,
  lockRequest,
  type Parties,
  type RequestRow,
  updateRequest,
} from './authorization.repo.ts';
import { type BudgetColumns, MAX_WRONG_VERIFIERS, statusAt, storedBudget } from './authorization.rules.ts';
import type {
  AuthorizationCode,
  AuthorizationRequest,
  ConsentLink,
  RequestPage,
  RequestQuery,
  SandboxDecision,
} from './authorization.schema.ts';
import { approveRequest, denyRequest, gone } from './decide.ts';
import type { AuthorizationDeps } from './deps.ts';
import { freeRequests, newCode, newTicket } from './in-flight.ts';
import { baseOfPages, linkOf } from './request.ts';

/** @throws NOT_FOUND */
export async function getRequest(
  deps: AuthorizationDeps,
  caller: Caller,
  id: string,
): Promise<AuthorizationRequest> {
  const request = await findRequest(deps.db, caller, id);
  if (!request) throw notFound();
  return toAuthorizationRequest(request, caller, deps.clock());
}

/**
 * Lists requests, newest first. A page may be short, or empty, and the list go on after it: each looks at so many requests
 * only, wanted or not.
 */
export async function listRequests(
  deps: AuthorizationDeps,
  caller: Caller,
  query: RequestQuery,
): Promise<RequestPage> {
  mustBeSpan(query);
  const now = deps.clock();
  const rows = await listRequestRows(deps.db, caller, query, now);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toAuthorizationRequest(row, caller, now));
  return { requests: page, nextCursor: nextCursor ?? (await endOfWalk(deps.db, caller, query)) };
}

/**
 * Makes a code for an approved request without a redirect URI. Earlier codes stay valid until one code of
 * the request is exchanged: that exchange consumes the request.
 * @throws NOT_FOUND, also to a `runtime` key that did not make the request, CONFLICT, GONE
 */
export async function createCode(
  deps: AuthorizationDeps,
  caller: Caller,
  id: string,
): Promise<AuthorizationCode> {
  const request = await findRequest(deps.db, caller, id);
  if (!request || !(await mayHaveCode(deps, caller, request))) throw notFound();
  const now = deps.clock();
  const status = statusAt(request, now);
  if (status === 'pending')
    throw new AppError('CONFLICT', 'The person has not decided yet; ask again later.');
  if (status !== 'approved' || !request.codeExpiresAt) throw gone(status);
  if (request.wrongVerifiers >= MAX_WRONG_VERIFIERS) throw gone('expired'); // its codes are void
  if (request.channel !== null) {
    throw new AppError('CONFLICT', 'The client of this request asks for its tokens.', { field: 'channel' });
  }
  if (request.redirectUri !== null) {
    const message = 'The code of this request goes only to its redirect URI.';
    throw new AppError('CONFLICT', message, { field: 'redirectUri' });
  }
  const seconds = Math.ceil((request.codeExpiresAt.getTime() - now.getTime()) / 1000);
  const { code, entry } = newCode({ ...caller.tenant, requestId: id }, seconds);
  await deps.store.put([entry]);
  return { authRequestId: id, code, expiresAt: request.codeExpiresAt.toISOString() };
}

/** A host must not take the code for which another host has asked, even if both act for the agent. */
async function mayHaveCode(
  { db }: AuthorizationDeps,
  { tenant, role, keyId }: Caller,
  { keyId: askerId }: RequestRow,
): Promise<boolean> {
  if (role === 'full' || (askerId !== null && keyId === askerId)) return true;
  return keyId !== undefined && askerId !== null && isSuccessor(db, tenant, keyId, askerId);
}

/** @throws NOT_FOUND, GONE when the request is no longer pending */
export function cancelRequest(deps: AuthorizationDeps, caller: Caller, id: string): Promise<void> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const request = await lockRequest(tx, caller, id);
    if (!request) throw notFound();
    const status = statusAt(request, at);
    if (status !== 'pending') throw gone(status);
    await updateRequest(tx, caller.tenant, id, { status: 'cancelled', decidedAt: at });
    await freeRequests(tx, caller, { requestIds: [id], store: deps.store });
    const agentDid = await getAgentDid(tx, caller.tenant, request.agentId);
    const about = concerning({ ...request, agentDid });
    const data = { authRequestId: id };
    await recordActs(tx, caller, [{ type: 'authorization.cancelled', ...about, data }], at);
  });
}

/** Approves without a person, in the sandbox only. @throws CONSENT_REQUIRED with a live key, NOT_FOUND */
export async function approveInSandbox(
  deps: AuthorizationDeps,
  caller: Caller,
  id: string,
): Promise<SandboxDecision> {
  await mustBePendingInSandbox(deps, caller, id);
  const approval = { method: 'sandbox', narrowing: {} } as const;
  const { code } = await approveRequest(deps, caller, id, approval).catch(unlessDecided);
  return { requestId: id, authRequestId: id, status: 'approved', ...(code !== undefined && { code }) };
}

/** Denies without a person, in the sandbox only. @throws the same as `approveInSandbox` */
export async function denyInSandbox(
  deps: AuthorizationDeps,
  caller: Caller,
  id: string,
): Promise<SandboxDecision> {
  await mustBePendingInSandbox(deps, caller, id);
  await denyRequest(deps, caller, id).catch(unlessDecided);
  return { requestId: id, authRequestId: id, status: 'denied' };
}

async function mustBePendingInSandbox(deps: AuthorizationDeps, caller: Caller, id: string): Promise<void> {
  const request = await findRequest(deps.db, caller, id);
  if (!request) throw notFound();
  if (caller.mode === 'live') {
    throw new AppError(
      'CONSENT_REQUIRED',
      'Only the person can decide this request; open `consentUrl` in a browser.',
    );
  }
  if (statusAt(request, deps.clock()) !== 'pending') throw notFound();
}

/** The two sandbox calls answer NOT_FOUND for a request that is decided already. */
function unlessDecided(error: unknown): never {
  throw error instanceof AppError && error.code === 'GONE' ? notFound() : error;
}

/** Cancels the open requests of a revoked agent. Its grants have ended before. */
export const cancelRequestsOfAgent: OnAgentRevoked = async (tx, caller, { agentId, at, store }) => {
  const { acts, requestIds } = await cancelRequests(tx, caller, { agentId }, at);
  await freeRequests(tx, caller, { requestIds, store });
  return acts;
};

/** Cancels the open requests of an account that is closed. It asks for no more, so its tickets may stay. */
export const cancelRequestsOfAccount: OnAccountClosed = async (tx, caller, at) => {
  const { acts, requestIds } = await cancelRequests(tx, caller, {}, at);
  await freeQuota(tx, caller, 'open_requests', requestIds.length);
  return acts;
};

interface Cancelled {
  readonly acts: Act[];
  readonly requestIds: readonly string[];
}

/**
 * Cancels open requests, approved ones included: their codes redeem nothing from then on. An exchange at the same
 * moment has either made its grant, which the caller sees afterwards, or finds its request cancelled. The caller gives
 * their places back with `freeRequests`, after it has ended grants.
 * @returns an act for each request, which the caller records with its own
 */
export async function cancelRequests(
  tx: Tx,
  { tenant }: Caller,
  parties: Parties,
  at: Date,
): Promise<Cancelled> {
  const cancelled = await cancelRequestsOf(tx, tenant, parties, at);
  if (cancelled.length === 0) return { acts: [], requestIds: [] };
  const agentIds = [...new Set(cancelled.map(({ agentId }) => agentId))];
  const dids = await listAgentDids(tx, tenant, agentIds);
  const acts = cancelled.map((request): Act => {
    const about = concerning({ ...request, grantId: undefined, agentDid: dids.get(request.agentId) });
    return { type: 'authorization.cancelled', ...about, data: { authRequestId: request.id } };
  });
  return { acts, requestIds: cancelled.map(({ id }) => id) };
}

/** Counts a wrong verifier. The fifth voids the code; see `MAX_WRONG_VERIFIERS`. */
export async function countWrongVerifierOf(
  db: Executor,
  { tenant }: Caller,
  requestId: string,
): Promise<void> {
  await inTransaction(db, (tx) => countWrongVerifier(tx, tenant, requestId));
}

/**
 * Makes a link to the consent page. The developer has no other for a request of a device or of CIBA. The ticket of the link
 * before opens nothing from then on.
 * @throws NOT_FOUND, GONE
 */
export async function createLink(deps: AuthorizationDeps, caller: Caller, id: string): Promise<ConsentLink> {
  const request = await findRequest(deps.db, caller, id);
  if (!request) throw notFound();
  const now = deps.clock();
  const status = statusAt(request, now);
  if (status !== 'pending') throw gone(status);
  const seconds = Math.ceil((request.expiresAt.getTime() - now.getTime()) / 1000);
  const { ticket, entry } = newTicket({ ...caller.tenant, requestId: id }, seconds);
  await deps.store.put([entry]);
  const base = await baseOfPages(deps, caller, await findAccount(deps.db, caller.tenant));
  return {
    authRequestId: id,
    consentUrl: linkOf(base, id, ticket),
    expiresAt: request.expiresAt.toISOString(),
  };
}

/** A request as answers show it. */
export function toAuthorizationRequest(
  request: Omit<RequestRow, 'developerId'>,
  { mode }: Caller,
  now: Date,
): AuthorizationRequest {
  const { id, redirectUri, state, audience, purpose, authorizationDetails, decidedAt } = request;
  const { replacesGrantId } = request;
  const budget = budgetOf(request);
  return {
    authRequestId: id,
    id,
    agentId: request.agentId,
    principalId: request.principalId,
    scopes: request.scopes,
    expiresIn: request.expiresIn,
    status: statusAt(request, now),
    createdAt: request.createdAt.toISOString(),
    expiresAt: (request.codeExpiresAt ?? request.expiresAt).toISOString(),
    ...(redirectUri !== null && { redirectUri }),
    ...(state !== null && { state }),
    ...(audience !== null && { audience }),
    ...(purpose !== null && { purpose }),
    ...(Array.isArray(authorizationDetails) && { authorizationDetails }),
    ...(budget && { budget }),
    ...(replacesGrantId !== null && { replacesGrantId }),
    ...(request.channel !== null && { channel: request.channel }),
    ...(mode === 'sandbox' && { sandbox: true as const }),
    ...(decidedAt && { decidedAt: decidedAt.toISOString() }),
  };
}

/** The budget that a request asks for, as answers show it. */
export const budgetOf = (request: BudgetColumns) => {
  const budget = storedBudget(request);
  return budget && { amount: writeAmount(budget.units), currency: budget.currency };
};
