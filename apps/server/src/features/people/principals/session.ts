import { createKindVerifier } from '@behest/protocol/kind-verifier';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, PrincipalSession, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { newId } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type KeyRing, signToken, verifySignature } from '../../service/keys/index.ts';
import { type OnEnforced, ssoRequired } from '../sso/index.ts';
import { demandedOf } from '../sso/sessions.queries.ts';
import { callerOfSession, principalsInSession } from './principals.queries.ts';
import {
  deleteSession,
  deleteSessions,
  deleteSessionsOf,
  type EndedSession,
  insertSession,
  insertSessionRow,
} from './principals.repo.ts';
import { readSessionClaims, sessionAudience, sessionClaims, sessionSeconds } from './principals.rules.ts';
import type { CreatedPrincipalSession, NewPrincipalSession } from './principals.schema.ts';

/** Says whether a feature has something that a principal sees on the own page. */
export type HasOwnPageEntries = (db: Executor, tenant: Tenant, principalId: string) => Promise<boolean>;

export const ownPageEntries = hook<HasOwnPageEntries>('entries of the own page');

export interface PrincipalDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly store: EphemeralStore;
  readonly keyRing: KeyRing;
  readonly issuer: string;
  readonly publicBaseUrl: string;
  readonly ownPageEntries: readonly HasOwnPageEntries[];
}

const TYPE = 'principal-session+jwt';

/**
 * Opens a session for a principal whom the developer has signed in.
 * @throws BAD_REQUEST, SSO_REQUIRED, and NOT_FOUND for a principal with nothing to see or to end: no active grant, no
 * connected account, and no entry of another feature
 */
export async function createSession(
  deps: PrincipalDeps,
  caller: Caller,
  { principalId, expiresIn }: NewPrincipalSession,
): Promise<CreatedPrincipalSession> {
  const at = deps.clock();
  const seconds = sessionSeconds(expiresIn);
  const expiresAt = new Date((Math.floor(at.getTime() / 1000) + seconds) * 1000); // in whole seconds
  const id = newId('psn', at);
  const { issuer, keyRing, publicBaseUrl } = deps;
  const { tenant, mode } = caller;
  const claims = sessionClaims({
    issuer,
    developerId: tenant.developerId,
    principalId,
    sessionId: id,
    issuedAt: at,
    expiresAt,
    isSandbox: mode === 'sandbox',
  });
  const sessionToken = await signToken(keyRing, TYPE, claims);

  await inTransaction(deps.db, async (tx) => {
    const demanded = await demandedOf(tx, tenant, principalId, at);
    if (demanded) throw ssoRequired(publicBaseUrl, demanded);
    const row = { id, principalId, expiresAt };
    if (!(await insertSession(tx, tenant, row, at))) {
      if (!(await hasEntries(deps, tx, tenant, principalId))) throw notFound();
      await insertSessionRow(tx, tenant, row);
    }
    const data = { sessionId: id };
    await recordActs(tx, caller, [{ type: 'principal.session_created', principalId, data }], at);
  });
  const dashboardUrl = `${publicBaseUrl}/permissions#session=${sessionToken}`;
  return { sessionToken, dashboardUrl, expiresAt: expiresAt.toISOString() };
}

async function hasEntries(
  deps: PrincipalDeps,
  tx: Tx,
  tenant: Tenant,
  principalId: string,
): Promise<boolean> {
  for (const hasAny of deps.ownPageEntries) if (await hasAny(tx, tenant, principalId)) return true;
  return false;
}

/** Checks signature, type, audience and time of a session token before any query. */
export function sessionReader({
  clock,
  keyRing,
  issuer,
}: Pick<PrincipalDeps, 'clock' | 'keyRing' | 'issuer'>) {
  const keys = () => keyRing.verificationKeys();
  const verify = createKindVerifier('principal-session', { keys, issuer, verifySignature });
  const audience = sessionAudience(issuer);
  return (token: string): Omit<PrincipalSession, 'requestId'> | undefined => {
    const verified = verify(token, { now: clock(), audience });
    const claims = verified.ok ? readSessionClaims(verified.payload) : undefined;
    if (!claims) return undefined;
    const { developerId, principalId, sessionId } = claims;
    return { tenant: { developerId }, principalId, sessionId };
  };
}

/** @throws UNAUTHORIZED when the session has already ended */
export async function endPrincipalSession(deps: PrincipalDeps, session: PrincipalSession): Promise<void> {
  const { tenant, sessionId, principalId } = session;
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    const parts = (await deleteSession(tx, session, at)) ? await findCallerParts(tx, tenant) : undefined;
    if (!parts) throw sessionEnded();
    const caller = callerOfSession(session, parts);
    await recordActs(tx, caller, [ended({ id: sessionId, principalId }, 'signed_out')], at);
  });
}

/** Ends the sessions of an account that is closed. */
export const endSessionsOfAccount: OnAccountClosed = async (tx, { tenant }) => {
  await deleteSessions(tx, tenant);
  return [];
};

/** Ends the sessions that principals opened before single sign-on was demanded of them. */
export const endSessionsBeforeSso: OnEnforced = async (tx, { tenant }, { concerned, at }) => {
  const principalIds = await concerned(await principalsInSession(tx, tenant));
  return endSessionsOfPrincipals(tx, tenant, principalIds, { reason: 'sso_enforced', at });
};

/** Ends the sessions of principals who have to sign in again, or may not. @returns acts, which the caller records */
export async function endSessionsOfPrincipals(
  tx: Tx,
  tenant: Tenant,
  principalIds: readonly string[],
  { reason, at }: { readonly reason: SessionEnd; readonly at: Date },
): Promise<Act[]> {
  if (principalIds.length === 0) return [];
  const rows = await deleteSessionsOf(tx, tenant, principalIds, at);
  return rows.map((row) => ended(row, reason));
}

/** Why a session ended before its time. */
export type SessionEnd = 'signed_out' | 'offboarded' | 'sso_enforced' | 'signal';

const ended = ({ id: sessionId, principalId }: EndedSession, reason: SessionEnd): Act => ({
  type: 'principal.session_ended',
  principalId,
  data: { sessionId, reason },
});

export const sessionEnded = () => new AppError('UNAUTHORIZED', 'This session has ended. Open a new session.');
