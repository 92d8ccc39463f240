import { parseDuration } from '@behest/protocol/durations';
import { createKindVerifier } from '@behest/protocol/kind-verifier';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, PrincipalSession, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { holdOpen, holdPrincipal } from '../../../platform/db/principals.ts';
import { AppError, badField, notFound, principalInactive } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { newId } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { lockOpenAccount, type OnAccountClosed } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type KeyRing, signToken, verifySignature } from '../../service/keys/index.ts';
import { type OnEnforced, readSessionCookie, ssoRequired } from '../sso/index.ts';
import { demandedOf, standingOf } from '../sso/sessions.queries.ts';
import { callerOfSession, principalsInSession } from './principals.queries.ts';
import {
  deleteAddresses,
  deleteSession,
  deleteSessions,
  deleteSessionsOf,
  type EndedSession,
  insertSession,
  insertSessionRow,
} from './principals.repo.ts';
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
  const { tenant, mode } = caller;
  const { row, created } = await signSession(deps, { tenant, mode, principalId }, sessionSeconds(expiresIn));

  await inTransaction(deps.db, async (tx) => {
    const demanded = await demandedOf(tx, tenant, principalId, at);
    if (demanded) throw ssoRequired(deps.publicBaseUrl, demanded);
    if (!(await holdOpen(tx, tenant, principalId))) throw notFound();
    if (!(await insertSession(tx, tenant, row, at))) {
      if (!(await hasEntries(deps, tx, tenant, principalId))) throw notFound();
      await insertSessionRow(tx, tenant, row);
    }
    const data = { sessionId: row.id };
    await recordActs(tx, caller, [{ type: 'principal.session_created', principalId, data }], at);
  });
  return created;
}

export type OwnSessionDeps = Pick<PrincipalDeps, 'db' | 'clock' | 'keyRing' | 'issuer' | 'publicBaseUrl'>;

/** The setting that says how people of an account prove who they are. */
type AccountOfSession = Pick<Awaited<ReturnType<typeof lockOpenAccount>>, 'consentMode'>;

/** A person who has shown the service itself who they are. */
export interface ShownPerson {
  readonly tenant: Tenant;
  readonly principalId: string;
  /** How they have shown it. The word of the developer, or a link that the developer handed on, shows nothing here. */
  readonly method: 'email' | 'sso' | 'passkey';
  /** By a mailed link alone. */
  readonly isMailed?: true;
  readonly requestId: string;
  /** The cookie of single sign-on of their browser. */
  readonly signOn: string | undefined;
}

/**
 * Opens a session for a person who comes by themselves. Single sign-on, where it is enforced or the account's people approve
 * by nothing else, has to be of this browser.
 * @param alongside takes what they have shown, in the same transaction. @returns acts, which are recorded with the opening
 * @throws UNAUTHORIZED for a closed account, PRINCIPAL_INACTIVE, SSO_REQUIRED
 */
export async function openOwnSession(
  deps: OwnSessionDeps,
  { tenant, principalId, method, isMailed, requestId, signOn }: ShownPerson,
  alongside?: (tx: Tx, caller: Caller, account: AccountOfSession) => Promise<readonly Act[]>,
): Promise<CreatedPrincipalSession> {
  const at = deps.clock();
  const parts = await findCallerParts(deps.db, tenant);
  if (!parts) throw sessionEnded();
  const { row, created } = await signSession(
    deps,
    { tenant, mode: parts.mode, principalId, ...(isMailed && { isMailed }) },
    OWN_SECONDS,
  );
  const caller = callerOfSession({ tenant, principalId, sessionId: row.id, requestId }, parts);
  const cookie = readSessionCookie(signOn);

  await inTransaction(deps.db, async (tx) => {
    const account = await lockOpenAccount(tx, tenant);
    if (!(await holdPrincipal(tx, tenant, principalId))) throw principalInactive();
    const demanded = await demandedOf(tx, tenant, principalId, at);
    const asking = { principalId, now: at, cookie, since: null, isDemanded: account.consentMode === 'sso' };
    const standing = await standingOf(tx, tenant, asking);
    const signInAt = demanded ?? standing?.signInAt;
    if (demanded || (standing && !standing.session)) throw ssoRequired(deps.publicBaseUrl, signInAt);
    const acts = (await alongside?.(tx, caller, account)) ?? [];
    if (!(await insertSession(tx, tenant, row, at))) await insertSessionRow(tx, tenant, row);
    const data = { sessionId: row.id, method };
    const opened: Act = { type: 'principal.session_created', principalId, data };
    await recordActs(tx, caller, [...acts, opened], at); // last, because it locks the account's chain
  });
  return created;
}

const OWN_SECONDS = 3600;

interface Signed {
  readonly tenant: Tenant;
  readonly mode: Caller['mode'];
  readonly principalId: string;
  readonly isMailed?: true;
}

/** Makes the token of a session, and the row without which it opens nothing. */
async function signSession(
  { clock, keyRing, issuer, publicBaseUrl }: OwnSessionDeps,
  { tenant, mode, principalId, isMailed }: Signed,
  seconds: number,
) {
  const issuedAt = clock();
  const expiresAt = new Date((Math.floor(issuedAt.getTime() / 1000) + seconds) * 1000); // in whole seconds
  const id = newId('psn', issuedAt);
  const claims = sessionClaims({
    ...{ issuer, developerId: tenant.developerId, principalId, sessionId: id, issuedAt, expiresAt },
    isSandbox: mode === 'sandbox',
    ...(isMailed && { isMailed }),
  });
  const sessionToken = await signToken(keyRing, TYPE, claims);
  const dashboardUrl = `${publicBaseUrl}/permissions#session=${sessionToken}`;
  return {
    row: { id, principalId, expiresAt },
    created: { sessionToken, dashboardUrl, expiresAt: expiresAt.toISOString() },
  };
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

const LONGEST_SESSION = 86_400; // seconds

/** The length of a session. A longer wish gets the longest session. @throws BAD_REQUEST */
function sessionSeconds(expiresIn = '1h'): number {
  const seconds = parseDuration(expiresIn);
  if (seconds === undefined) throw badField('expiresIn', 'format');
  return Math.min(seconds, LONGEST_SESSION);
}

const PURPOSE = 'principal_dashboard';

interface SessionClaims {
  readonly developerId: string;
  readonly principalId: string;
  readonly sessionId: string;
  readonly isMailed?: boolean;
}

/** The audience of session tokens: these routes, and no other route that takes a token. */
const sessionAudience = (issuer: string) => `${issuer}/v1/principal`;

function sessionClaims(session: SessionClaims & Signing): Readonly<Record<string, unknown>> {
  const { issuer, developerId, principalId, sessionId, issuedAt, expiresAt, isSandbox, isMailed } = session;
  return {
    iss: issuer,
    aud: sessionAudience(issuer),
    sub: principalId,
    dev: developerId,
    purpose: PURPOSE,
    jti: sessionId,
    iat: epochSeconds(issuedAt),
    exp: epochSeconds(expiresAt),
    ...(isSandbox && { sandbox: true }),
    ...(isMailed && { mailed: true }),
  };
}

interface Signing {
  readonly issuer: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly isSandbox: boolean;
}

/** Reads the claims of a token that is genuine and for this audience. */
function readSessionClaims(payload: Readonly<Record<string, unknown>>): SessionClaims | undefined {
  const { sub, dev, jti, purpose, mailed } = payload;
  if (purpose !== PURPOSE || 'scp' in payload) return undefined;
  if (!isText(sub) || !isText(dev) || !isText(jti)) return undefined;
  return { developerId: dev, principalId: sub, sessionId: jti, isMailed: mailed === true };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const epochSeconds = (time: Date) => Math.floor(time.getTime() / 1000);

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
    const { developerId, ...session } = claims;
    return { tenant: { developerId }, ...session };
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

/** Ends the sessions of an account that is closed, and forgets the addresses to which links were mailed. */
export const endSessionsOfAccount: OnAccountClosed = async (tx, { tenant }) => {
  await deleteSessions(tx, tenant);
  await deleteAddresses(tx, tenant);
  return [];
};

/** Ends the sessions that principals opened before single sign-on was demanded of them. */
export const endSessionsBeforeSso: OnEnforced = async (tx, { tenant }, { concerned, at }) => {
  const principalIds = await concerned(await principalsInSession(tx, tenant));
  return endSessionsOfPrincipals(tx, tenant, principalIds, { reason: 'sso_enforced', at });
};

/**
 * Ends the sessions of principals who have to sign in again, or may not. @param ending with the session that goes on
 * @returns acts, which the caller records
 */
export async function endSessionsOfPrincipals(
  tx: Tx,
  tenant: Tenant,
  principalIds: readonly string[],
  {
    reason,
    ...ending
  }: { readonly reason: SessionEnd; readonly at: Date; readonly kept?: string | undefined },
): Promise<Act[]> {
  if (principalIds.length === 0) return [];
  const rows = await deleteSessionsOf(tx, tenant, principalIds, ending);
  return rows.map((row) => ended(row, reason));
}

/** Why a session ended before its time. */
export type SessionEnd = 'signed_out' | 'offboarded' | 'sso_enforced' | 'signal' | 'address_removed';

const ended = ({ id: sessionId, principalId }: EndedSession, reason: SessionEnd): Act => ({
  type: 'principal.session_ended',
  principalId,
  data: { sessionId, reason },
});

export const sessionEnded = () => new AppError('UNAUTHORIZED', 'This session has ended. Open a new session.');
