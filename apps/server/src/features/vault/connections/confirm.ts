import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { unproved } from '../../grants/consent/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { findReplaced, storeConnection } from '../credentials/index.ts';
import { gone } from './ask.ts';
import type { PageHold } from './browser.ts';
import { changeSession, type ShownRow } from './connections.repo.ts';
import { statusAt, withQuery } from './connections.rules.ts';
import type { ConnectConfirmation, EndedConnections } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';
import { endSession, openTokens, revokeReturned } from './end.ts';
import { type Held, pageOf, verificationFor } from './held.ts';
import { mustAllowReplacing, resultOf } from './show.ts';

/**
 * The person has seen which account came back, and wants it.
 * @throws GONE unless an account came back, SSO_REQUIRED once the sign-on is missing, CONFLICT until the person lets another credential go, PLAN_LIMIT_EXCEEDED
 */
export async function confirm(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  { replaceAccount = false }: ConnectConfirmation,
): Promise<EndedConnections> {
  const ended = await storeReturned(deps, caller, hold, { replaceAccount });
  if (!ended) throw gone('pending');
  return ended;
}

interface Storing {
  readonly replaceAccount?: boolean;
  /** Stores without a question, which is right for the account that is connected already. */
  readonly isSameAccountOnly?: true;
}

/** @returns undefined when nothing came back, or when the person has to be asked first */
export async function storeReturned(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  { replaceAccount = false, isSameAccountOnly }: Storing,
): Promise<EndedConnections | undefined> {
  const held = await pageOf(deps, hold);
  const { row } = held;
  const result = resultOf(row);
  const returned = openTokens(deps, row);
  if (row.status !== 'returned' || !result || !returned) return undefined;
  await mustBeSignedOn(deps, held);
  const before = await findReplaced(deps.db, caller, row);
  const mustAsk = mustAllowReplacing(before, result.account);
  if (isSameAccountOnly && (mustAsk || result.account === null || !before)) return undefined;
  if (mustAsk && !replaceAccount) {
    const message = 'Another credential of this service is stored. Say that it may be replaced.';
    throw new AppError('CONFLICT', message, { field: 'replaceAccount' });
  }
  const at = deps.clock();
  const { account, scopesAsked, scopesGranted, requiredScopes, refreshTokenExpiresAt } = result;
  const method = row.method ?? 'unknown';
  const credentialId = await inTransaction(deps.db, async (tx) => {
    const { service, principalId, providerId } = row;
    const facts = {
      account,
      scopesAsked,
      scopesGranted,
      requiredScopes,
      connectedAt: at.toISOString(),
      method,
      refreshTokenExpiresAt,
    };
    const stored = await storeConnection(deps, tx, caller, {
      principalId,
      service,
      providerId,
      tokens: returned.tokens,
      tokenExpiresAt: result.tokenExpiresAt === null ? null : new Date(result.tokenExpiresAt),
      facts,
      frozen: returned.frozen,
    });
    const to = {
      status: 'connected',
      credentialId: stored.credentialId,
      decidedAt: at,
      tokens: null,
      dataKey: null,
    } as const;
    const settled = await changeSession(tx, caller.tenant, row.id, { from: ['returned'], to });
    if (!settled) throw gone(statusAt(row, at)); // another press was first, and its connection stays
    const data = {
      connectSessionId: row.id,
      credentialId: stored.credentialId,
      providerId,
      service,
      scopesAsked,
      scopesGranted,
      method,
      replaced: stored.replaced,
    };
    const about = { principalId, ...(row.agentId !== null && { agentId: row.agentId }) };
    const connected = { ...about, type: 'vault.connection.connected', data } as const;
    await recordActs(tx, caller, [stored.act, { ...connected, evidence: { ...caller.browser } }], at);
    return stored.credentialId;
  });
  return { status: 'connected', credentialId, ...back(row, 'connected') };
}

/**
 * The proof stood when the person began. Single sign-on counts as it is now: the session may have ended since, or the demand
 * begun.
 * @throws SSO_REQUIRED
 */
async function mustBeSignedOn(deps: ConnectDeps, held: Held): Promise<void> {
  const verified = await verificationFor(deps, held, deps.clock());
  const { standing, verification } = verified;
  if (!standing || standing.session) return;
  throw unproved(deps.publicBaseUrl, { standing, verification: { ...verification, methods: ['sso'] } });
}

/** The person does not go on. Tokens that came back are revoked at the upstream. @throws GONE */
export async function cancel(deps: ConnectDeps, caller: Caller, hold: PageHold): Promise<EndedConnections> {
  const { row } = await pageOf(deps, hold);
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    const acts = await endSession(tx, caller, row.id, { to: 'cancelled', reason: 'cancelled', at });
    if (acts.length === 0) throw gone(statusAt(row, at));
    await recordActs(tx, caller, acts, at);
  });
  await revokeReturned(deps, row);
  return { status: 'cancelled', ...back(row, 'cancelled') };
}

function back({ returnUrl, id, state }: ShownRow, status: string): { redirectTo?: string } {
  if (returnUrl === null) return {};
  return { redirectTo: withQuery(returnUrl, { connect_session: id, status, state }) };
}
