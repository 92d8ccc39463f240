import { isDeepStrictEqual } from 'node:util';
import { type Authentication, authenticationColumns } from '@behest/protocol/authentication';
import { issuedDetails, narrowTools, type ToolsEntry } from '@behest/protocol/authorization-details';
import { parseDuration } from '@behest/protocol/durations';
import { narrowArguments } from '@behest/protocol/narrowed-arguments';
import { canHavePurpose } from '@behest/protocol/purposes';
import { namedConnectors } from '@behest/protocol/tool-scopes';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { afterCommit, type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { holdPrincipal, isPrincipalActive } from '../../../platform/db/principals.ts';
import { AppError, badField, principalInactive } from '../../../platform/errors.ts';
import { getAgentDid, getConcernedAgent, getShownAgent } from '../../accounts/agents/agents.queries.ts';
import { adoptAgent } from '../../accounts/agents/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { ConsentPins } from '../manifests/index.ts';
import { findPins } from '../manifests/manifests.queries.ts';
import { type PolicyDecision, refuseDenied } from '../policies/index.ts';
import { policiesHold, policiesVersion } from '../policies/policies.queries.ts';
import { hashOfWords, pinsOfWords, type WordsOfScopes } from '../resources/index.ts';
import { findScopeWords } from '../resources/resources.queries.ts';
import { findRequest, lockRequest, type RequestRow, updateRequest } from './authorization.repo.ts';
import {
  acceptTokenScopes,
  boundedSeconds,
  CODE_SECONDS,
  mustBeWithin,
  statusAt,
} from './authorization.rules.ts';
import type { AuthorizationRequestStatus } from './authorization.schema.ts';
import type { AuthorizationDeps } from './deps.ts';
import { freeRequests, letGo, newCode } from './in-flight.ts';

type ConsentMethod = NonNullable<RequestRow['consentMethod']>;

/** The part of a request that is allowed. An absent member stays as requested. */
interface Narrowing {
  readonly scopes?: readonly string[];
  readonly expiresIn?: string;
  /** The tools that stay, by connector. */
  readonly tools?: Readonly<Record<string, readonly string[]>>;
  /** The rules of arguments that stay, by connector and tool. */
  readonly arguments?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The manifests as the person was shown them. Absent where the person was shown none. */
  readonly manifests?: readonly ShownManifest[];
  /** The hash of the words of resources that the person was shown; null where there were none. */
  readonly scopeWordsSha256?: string | null;
}

interface Approval {
  readonly method: ConsentMethod;
  readonly narrowing: Narrowing;
  /** The origin of the decision. Only the audit entry has it. */
  readonly evidence?: Readonly<Record<string, unknown>>;
  /** The sign-in of the person, where there was one. */
  readonly authentication?: Authentication | undefined;
  /** Whether the person saw the request on the page. */
  readonly isShown?: boolean;
  /** Stores what belongs to the approval, in its transaction. @returns what the entry says of it */
  readonly alongside?: (tx: Tx, at: Date) => Promise<{ readonly consentHash: string }>;
}

/**
 * Approves a request, whole or narrowed. When several decisions come at once, exactly one takes effect.
 * @throws NOT_FOUND, GONE with the status, INVALID_SCOPE or BAD_REQUEST for a narrowing that is wider, CONFLICT when a
 * manifest has changed since the person was shown it, POLICY_DENIED
 */
export async function approveRequest(
  deps: AuthorizationDeps,
  caller: Caller,
  requestId: string,
  approval: Approval,
): Promise<{ request: RequestRow; code: string | undefined }> {
  const { method, narrowing, evidence, authentication, isShown, alongside } = approval;
  const at = deps.clock();
  const policies = await policiesOn(deps, caller, requestId, narrowing, at);
  // The store gets the code before the approval commits. Without an approval the code leads nowhere.
  const made = policies.hasCode ? newCode({ ...caller.tenant, requestId }, CODE_SECONDS) : undefined;
  if (made) await deps.store.put([made.entry]);

  const approved = await inTransaction(deps.db, async (tx) => {
    const { agentId } = policies;
    const adopted = policies.isProposed ? await adoptAgent(tx, deps.quotas, caller, { agentId, at }) : [];
    if (!(await holdPrincipal(tx, caller.tenant, policies.principalId))) throw principalInactive();
    const pending = await lockPending(tx, caller, requestId, at);
    if (!(await policiesHold(tx, caller.tenant, policies.version))) return undefined;
    const { columns, isNarrower } = narrow(pending, narrowing);
    const known = await pinsFor(tx, caller.tenant, [...columns.scopes, ...pending.scopes]);
    mustBeAsShown(known, narrowing.manifests ?? []);
    const pins = known && pinsWithin(known, columns.scopes);
    const words = isShown ? await wordsAsShown(tx, caller.tenant, pending, narrowing) : undefined;
    const request = await updateRequest(tx, caller.tenant, requestId, {
      ...columns,
      manifests: pins && JSON.stringify(pins),
      scopeWords: words ? storedWords(words, columns.scopes) : null,
      status: 'approved',
      consentMethod: method,
      shownAgent: isShown ? JSON.stringify(await getShownAgent(tx, caller.tenant, agentId)) : null,
      decidedAt: at,
      ...authenticationColumns(authentication),
      codeExpiresAt: new Date(at.getTime() + CODE_SECONDS * 1000),
    });
    const kept = await alongside?.(tx, at);
    const data = { authRequestId: requestId, scopes: request.scopes, method, narrowed: isNarrower, ...kept };
    const about = await concernedBy(tx, caller, request);
    const approved = method === 'link' ? { ...data, unverified: true as const } : data;
    const act: Act = {
      type: 'authorization.approved',
      ...about,
      data: approved,
      ...(evidence && { evidence }),
    };
    await recordActs(tx, caller, [...adopted, act], at);
    await afterCommit(tx, () => letGo(deps.store, [requestId], CODE_SECONDS));
    return { request, code: made?.code };
  });
  if (approved) return approved;
  // The policies have changed since they were asked, so they are asked again.
  if (made) await deps.store.remove(made.entry.key);
  return approveRequest(deps, caller, requestId, approval);
}

interface Pending {
  readonly principalId: string;
  readonly agentId: string;
  readonly isProposed: boolean;
  readonly hasCode: boolean;
}

/** Asks the policies about a request as it would be approved. */
async function policiesOn(
  deps: AuthorizationDeps,
  caller: Caller,
  requestId: string,
  narrowing: Narrowing,
  at: Date,
): Promise<PolicyDecision & Pending> {
  const { tenant } = caller;
  const found = await findRequest(deps.db, caller, requestId);
  if (found && !(await isPrincipalActive(deps.db, tenant, found.principalId))) throw principalInactive();
  const pending = mustBePending(found, at);
  const [version, agent] = await Promise.all([
    policiesVersion(deps.db, tenant),
    getConcernedAgent(deps.db, tenant, pending.agentId),
  ]);
  const { scopes } = narrow(pending, narrowing).columns;
  const { agentId, principalId, purpose } = pending;
  const about = { agentId, agentDid: agent.did, principalId, scopes, purpose };
  const decision = await refuseDenied(deps, caller, { version, at }, { operation: 'consent', ...about });
  const hasCode = pending.channel === null;
  return { ...decision, principalId, agentId, isProposed: agent.isProposed, hasCode };
}

/** @throws NOT_FOUND, GONE with the status */
export function denyRequest(
  deps: AuthorizationDeps,
  caller: Caller,
  requestId: string,
  { reason, evidence }: { reason?: string; evidence?: Readonly<Record<string, unknown>> } = {},
): Promise<RequestRow> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await lockPending(tx, caller, requestId, at);
    const request = await updateRequest(tx, caller.tenant, requestId, { status: 'denied', decidedAt: at });
    await freeRequests(tx, caller, { requestIds: [requestId], store: deps.store });
    const data = { authRequestId: requestId, ...(reason && { reason }) };
    const about = await concernedBy(tx, caller, request);
    await recordActs(
      tx,
      caller,
      [{ type: 'authorization.denied', ...about, data, ...(evidence && { evidence }) }],
      at,
    );
    return request;
  });
}

async function lockPending(tx: Tx, caller: Caller, requestId: string, at: Date): Promise<RequestRow> {
  return mustBePending(await lockRequest(tx, caller, requestId), at);
}

function mustBePending(request: RequestRow | undefined, at: Date): RequestRow {
  const status = request && statusAt(request, at);
  if (!request || status !== 'pending') throw gone(status ?? 'expired');
  return request;
}

export const gone = (status: AuthorizationRequestStatus) =>
  new AppError('GONE', 'This request is no longer open.', { status });

async function concernedBy(tx: Tx, { tenant }: Caller, request: RequestRow) {
  return concerning({ ...request, agentDid: await getAgentDid(tx, tenant, request.agentId) });
}

/** The columns that a narrowing replaces, and whether any of them allows less. No column becomes wider. */
function narrow(request: RequestRow, narrowing: Narrowing) {
  const { scopes, expiresIn = request.expiresIn, tools } = narrowing;
  const kept = scopes ? keptScopes(request, scopes) : request.scopes;
  const longest = parseDuration(request.expiresIn) ?? 0;
  const seconds = boundedSeconds('expiresIn', expiresIn, longest);
  const purpose = request.purpose ?? undefined;
  const before: ToolsEntry[] = Array.isArray(request.authorizationDetails)
    ? JSON.parse(JSON.stringify(request.authorizationDetails))
    : [];
  const limited = narrowArguments(before, narrowing.arguments ?? {});
  const narrowed = limited.ok
    ? narrowTools({ purpose, scopes: kept, entries: limited.entries }, tools ?? {})
    : limited;
  if (!narrowed.ok) {
    const message = 'Some tools or arguments were not requested; keep only what was requested.';
    throw new AppError('BAD_REQUEST', message, { fields: narrowed.faults });
  }
  const details = issuedDetails(purpose, kept, narrowed.entries);
  const keepsScopes = request.scopes.every((scope) => kept.includes(scope));
  const isWhole = keepsScopes && seconds === longest && isDeepStrictEqual(details, before);
  const authorizationDetails = details.length > 0 ? JSON.stringify(details) : null;
  return { columns: { scopes: kept, expiresIn, authorizationDetails }, isNarrower: !isWhole };
}

/** Checks a narrowing before the person proves it. @throws INVALID_SCOPE, BAD_REQUEST */
export function mustBeNarrower(request: RequestRow, narrowing: Narrowing): void {
  narrow(request, narrowing);
}

function keptScopes({ scopes: asked, purpose }: RequestRow, scopes: readonly string[]): string[] {
  const kept = acceptTokenScopes(scopes); // `*` covers every text, even a malformed scope
  mustBeWithin(asked, kept);
  if (purpose !== null && !canHavePurpose(kept)) {
    throw badField('scopes', 'not_allowed', 'The purpose needs a tool scope; keep one that was requested.');
  }
  return kept;
}

/** A manifest as a person was shown it; null where the connector had none. */
export interface ShownManifest {
  readonly connector: string;
  readonly sha256: string | null;
}

/** The manifests under which these scopes are given; null where no scope names a connector. */
export async function pinsFor(
  db: Executor,
  tenant: Tenant,
  scopes: readonly string[],
): Promise<ConsentPins | null> {
  const connectors = namedConnectors(scopes);
  return connectors.length === 0 ? null : findPins(db, tenant, connectors);
}

/** The pins of the connectors that these scopes name. */
function pinsWithin({ mode, pins }: ConsentPins, scopes: readonly string[]): ConsentPins | null {
  const named = namedConnectors(scopes);
  return named.length === 0
    ? null
    : { mode, pins: pins.filter(({ connector }) => named.includes(connector)) };
}

/**
 * What resources say about the scopes of a request.
 * @throws CONFLICT when they say something else than the person was shown
 */
async function wordsAsShown(
  tx: Tx,
  tenant: Tenant,
  { scopes, audience }: RequestRow,
  { scopeWordsSha256: shown }: Narrowing,
): Promise<WordsOfScopes> {
  const words = await findScopeWords(tx, tenant, { scopes, audience });
  if (shown === undefined || shown === hashOfWords(words)) return words;
  const message = 'The words of a permission have changed meanwhile; look at the request again.';
  throw new AppError('CONFLICT', message, { field: 'scopeWords' });
}

function storedWords(words: WordsOfScopes, scopes: readonly string[]): string | null {
  const pins = pinsOfWords(words, scopes);
  return Object.keys(pins).length === 0 ? null : JSON.stringify(pins);
}

/** @throws CONFLICT when a manifest has another version than the person was shown */
function mustBeAsShown(pins: ConsentPins | null, shown: readonly ShownManifest[]): void {
  const current = new Map(pins?.pins.map(({ connector, sha256 }) => [connector, sha256]));
  if (shown.every(({ connector, sha256 }) => (current.get(connector) ?? null) === sha256)) return;
  throw new AppError('CONFLICT', 'A tool of this request has changed meanwhile; look at the request again.', {
    field: 'manifests',
  });
}
