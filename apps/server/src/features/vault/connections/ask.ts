import type { Act } from '../../../platform/acts.ts';
import type { Caller, GrantHolder, PrincipalSession } from '../../../platform/caller.ts';
import { afterCommit, inTransaction } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { currentKey } from '../../../platform/envelope.ts';
import { AppError, notFound, principalInactive } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { countUsableAgents, holdAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import { isRedirectUri, thumbprintsOf } from '../../accounts/developers/index.ts';
import { recordActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import { disconnect, findReplaced, listConnections, matchingScope } from '../credentials/index.ts';
import { findConnectable, foundOf, settingsOf } from '../providers/index.ts';
import { ticketKey } from './browser.ts';
import { findOwner, findSession, insertSession, listWaitingSessions } from './connections.repo.ts';
import { isOpen, openSeconds, scopesToAsk, statusAt } from './connections.rules.ts';
import type {
  AskByAgent,
  ConnectSession,
  CreatedConnectSession,
  NewConnectSession,
  OwnConnectionPage,
  OwnQuery,
} from './connections.schema.ts';
import { type ConnectDeps, personIn, toSession } from './deps.ts';
import { endSession } from './end.ts';

/** An agent pushes out its own sessions alone, and none that a person has begun. */
const MAX_WAITING = 10;
/** For this long, a person who comes late reads that the session expired, not that it is unknown. */
const LATE_SECONDS = 3600;

/**
 * Makes a link by which a person connects an account.
 * @throws BAD_REQUEST, INVALID_SCOPE, INVALID_REDIRECT_URI, NOT_FOUND, CONFLICT where nobody could prove to be the
 * principal, PRINCIPAL_INACTIVE, NOT_CONFIGURED
 */
export async function askForConnection(
  deps: ConnectDeps,
  caller: Caller,
  input: NewConnectSession,
): Promise<CreatedConnectSession> {
  const { service, principalId, agentId = null, returnUrl = null, state = null } = input;
  const at = deps.clock();
  const seconds = openSeconds(input.expiresIn);
  const account = await findAccount(deps.db, caller.tenant);
  if (returnUrl !== null && !mayReturnTo(account, returnUrl)) {
    throw new AppError(
      'INVALID_REDIRECT_URI',
      'Register `returnUrl` among the redirect URIs of the account.',
    );
  }
  const provider = await findConnectable(deps.db, caller.tenant, service);
  if (agentId !== null && (await countUsableAgents(deps.db, caller.tenant, [agentId])) === 0) {
    throw notFound();
  }
  const before = await findReplaced(deps.db, caller, { principalId, service });
  const scopes = scopesToAsk(offeredBy(provider), input.scopes, before?.facts?.scopesGranted ?? []);
  mustBeProvable(account);
  currentKey(deps.vault);

  const ticket = newSecret();
  const id = newId('conn', at);
  const { developerId } = caller.tenant;
  const kept = JSON.stringify({ developerId, hash: hashOf(ticket).toString('base64url') });
  await deps.store.put([{ key: ticketKey(id), value: kept, seconds: seconds + LATE_SECONDS }]);
  return inTransaction(deps.db, async (tx) => {
    const standing = agentId === null ? 'active' : await holdAgentStanding(tx, caller.tenant, agentId);
    if (standing === undefined || standing === 'revoked') throw notFound();
    if (!(await holdPrincipal(tx, caller.tenant, principalId))) throw principalInactive();
    const acts: Act[] = [];
    const asked = { principalId, service, agentId };
    for (const { id: oldest } of await listWaitingSessions(tx, caller.tenant, asked, MAX_WAITING - 1)) {
      acts.push(...(await endSession(tx, caller, oldest, { to: 'cancelled', reason: 'too_many', at })));
    }
    const row = await insertSession(tx, caller.tenant, {
      id,
      providerId: provider.id,
      service,
      principalId,
      agentId,
      scopes,
      returnUrl,
      state,
      status: 'pending',
      starts: 0,
      createdAt: at,
      expiresAt: new Date(at.getTime() + seconds * 1000),
    });
    const data = { connectSessionId: id, service, providerId: provider.id, scopes };
    const about = { principalId, ...(agentId !== null && { agentId }) };
    await recordActs(tx, caller, [{ ...about, type: 'vault.connection.requested', data }, ...acts], at);
    const connectUrl = `${deps.publicBaseUrl}/connect?session=${id}#t=${ticket}`;
    return { ...toSession(row, at), connectUrl };
  });
}

/** An MCP server names its scopes itself, unless the developer does. */
function offeredBy(provider: Awaited<ReturnType<typeof findConnectable>>) {
  const { scopes } = settingsOf(provider);
  const { defaultScopes } = foundOf(provider);
  return scopes.required.length > 0 ? scopes : { ...scopes, required: defaultScopes };
}

type Account = NonNullable<Awaited<ReturnType<typeof findAccount>>>;

function mayReturnTo({ mode, redirectUris }: Account, url: string): boolean {
  const mustBeRegistered = mode === 'live' || redirectUris.length > 0;
  return isRedirectUri(url) && (!mustBeRegistered || redirectUris.includes(url));
}

/** The holder of a link is not thereby the principal. @throws CONFLICT */
function mustBeProvable({ mode, consentMode, consentKeys, connectLoginUrl }: Account): void {
  if (mode === 'sandbox' && consentMode === 'developer') return;
  if (consentMode === 'passkey' || consentMode === 'sso') return; // which no word of the developer can replace
  const missing = thumbprintsOf(consentKeys).length === 0 ? 'consentKeys' : 'connectLoginUrl';
  if (missing === 'connectLoginUrl' && connectLoginUrl !== null) return;
  const message = 'Without it, nobody could prove to be the principal on the page.';
  throw new AppError('CONFLICT', message, { field: missing });
}

/**
 * As `askForConnection`, by an agent for its own principal.
 * @throws FORBIDDEN without a scope for the service
 */
export async function askAsAgent(
  deps: ConnectDeps,
  holder: GrantHolder,
  input: AskByAgent,
): Promise<CreatedConnectSession> {
  const { service } = input;
  const may =
    matchingScope(holder.scopes, service) !== undefined || holder.scopes.includes(`vault:${service}:proxy`);
  if (!may) {
    const attempt = {
      action: 'vault.connection.blocked',
      about: { agentId: holder.agentId, agentDid: holder.agentDid, principalId: holder.principalId },
      data: { service, reason: 'scope' },
    } as const;
    await inTransaction(deps.db, (tx) => recordBlockedAttempt(tx, holder, attempt, deps.clock()));
    throw new AppError('FORBIDDEN', 'The grant has no scope for the credential of this service.');
  }
  const { principalId, agentId } = holder;
  return askForConnection(deps, holder, { ...input, principalId, agentId });
}

/** As `askForConnection`, by the person from the page of their session. @throws UNAUTHORIZED */
export async function askAsPerson(
  deps: ConnectDeps,
  session: PrincipalSession,
  input: AskByAgent,
): Promise<CreatedConnectSession> {
  const caller = await personOf(deps, session);
  return askForConnection(deps, caller, { ...input, principalId: session.principalId });
}

/** @throws UNAUTHORIZED when the session has ended */
async function personOf({ db, clock }: ConnectDeps, session: PrincipalSession): Promise<Caller> {
  const found = await findOwner(db, session, clock());
  if (!found) throw new AppError('UNAUTHORIZED', 'The session has ended.');
  return personIn({ ...session, ...found });
}

/** @param principalId the person whose session it has to be. @throws NOT_FOUND */
export async function getSession(
  deps: ConnectDeps,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
  principalId?: string,
): Promise<ConnectSession> {
  const row = await findSession(deps.db, tenant, id, principalId);
  if (!row) throw notFound();
  return toSession(row, deps.clock());
}

/** @throws NOT_FOUND, GONE once it has ended or its person came back from the upstream */
export async function cancelSession(
  deps: ConnectDeps,
  caller: Caller,
  id: string,
  principalId?: string,
): Promise<void> {
  const row = await findSession(deps.db, caller.tenant, id, principalId);
  if (!row) throw notFound();
  const at = deps.clock();
  const isEarly = row.status === 'pending' || row.status === 'started';
  await inTransaction(deps.db, async (tx) => {
    const acts =
      isEarly && isOpen(row, at)
        ? await endSession(tx, caller, id, { to: 'cancelled', reason: 'cancelled', at })
        : [];
    if (acts.length === 0) throw gone(statusAt(row, at));
    await recordActs(tx, caller, acts, at);
    await afterCommit(tx, () => void deps.store.remove(ticketKey(id)).catch(() => {}));
  });
}

export const gone = (status: string) =>
  new AppError('GONE', 'This connect session is no longer open.', { status });

/** @throws UNAUTHORIZED when the session has ended */
export async function listOwnConnections(
  deps: ConnectDeps,
  session: PrincipalSession,
  query: OwnQuery,
): Promise<OwnConnectionPage> {
  const caller = await personOf(deps, session);
  const rows = await listConnections(deps.db, caller, session.principalId, query);
  const { page, nextCursor } = pageOf(rows, byId, (row) => ({
    id: row.id,
    service: row.service,
    providerName: row.providerName,
    account: row.connection.account,
    scopesGranted: row.connection.scopesGranted,
    status: row.connection.status,
    reason: row.connection.reason,
    connectedAt: row.connection.connectedAt,
    lastExchangedAt: row.lastExchangedAt?.toISOString() ?? null,
  }));
  return { connections: page, nextCursor };
}

/** @throws UNAUTHORIZED when the session has ended, NOT_FOUND for a connection of another principal */
export async function disconnectOwn(deps: ConnectDeps, session: PrincipalSession, id: string): Promise<void> {
  const caller = await personOf(deps, session);
  if (!(await disconnect(deps, caller, { id, principalId: session.principalId }))) throw notFound();
}
