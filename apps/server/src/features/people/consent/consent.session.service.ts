import { createHmac } from 'node:crypto';
import type { BrowserRequest, Caller, Mode, Plan } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, isSameText, newSecret } from '../../../platform/ids.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import {
  type AuthorizationDeps,
  findTicket,
  gone,
  LATE_SECONDS,
  statusAt,
} from '../../access/authorization/index.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { readHint } from './consent.hint.service.ts';
import { findShown, type ShownRow } from './consent.repo.ts';
import { type Proofs, verificationOf } from './consent.rules.ts';
import type { OpenedSession, OpenSession, ShownRequest, Verification } from './consent.schema.ts';
import { shownRequest } from './consent.show.service.ts';

export interface ConsentDeps extends AuthorizationDeps {
  readonly keyRing: KeyRing;
  /** The `iss` of tokens, which a hint is meant for and an answer comes from. */
  readonly issuer: string;
  /** Undefined where no mail is sent. */
  readonly mailer?: Mailer;
}

/**
 * One browser's hold on one request, with what it has brought as a proof. The store keeps a hash of the cookie, so
 * reading it opens nothing.
 */
interface StoredSession {
  readonly hash: string;
  readonly developerId: string;
  readonly mode: Mode;
  readonly plan: Plan;
  readonly proofs: Proofs;
}

/** A browser's claim to hold a request: the secret of its cookie. */
export interface ConsentSession {
  readonly requestId: string;
  readonly secret: string;
}

export const CSRF_KEY_USE = 'behest/consent-csrf/v1';

const sessionKey = (requestId: string) => `bh:{${requestId}}:session`;

type Browser = Pick<BrowserRequest, 'requestId' | 'ip' | 'userAgent' | 'hasAuthorization'>;

/**
 * Opens the page's session with the ticket that the person was sent. Opening again takes the place of the session
 * before: the last browser wins. A hint that is not good leaves the proof open, and the page says so.
 * @throws NOT_FOUND for a wrong ticket and an unknown request alike, GONE when it is decided or too late
 */
export async function openSession(
  deps: ConsentDeps,
  requestId: string,
  { ticket, hint: sent }: OpenSession,
  browser: Browser,
): Promise<{ opened: OpenedSession; secret: string; expiresAt: Date }> {
  mustBeBrowser(browser);
  const inFlight = await findTicket(deps.store, requestId);
  if (!inFlight || !isSameText(inFlight.hash, encodedHash(ticket))) throw notFound();
  const row = await pendingRow(deps, inFlight.developerId, requestId);

  const proofs = await lookAtHint(deps, row, sent, personWith(row, browser));
  const secret = newSecret();
  const { developerId, developerMode: mode, developerPlan: plan, expiresAt } = row;
  const stored: StoredSession = { hash: encodedHash(secret), developerId, mode, plan, proofs };
  await keepSession(deps, requestId, stored, expiresAt);
  const csrfToken = csrfTokenOf(deps.keyRing, { requestId, secret });
  const verification = verificationFor(deps, row, proofs);
  const request = shownRequest(row, csrfToken, verification);
  return { opened: { id: requestId, csrfToken, verification, request }, secret, expiresAt };
}

async function keepSession(
  { store, clock }: ConsentDeps,
  requestId: string,
  stored: StoredSession,
  until: Date,
): Promise<void> {
  const seconds = Math.ceil((until.getTime() - clock().getTime()) / 1000) + LATE_SECONDS;
  await store.put([{ key: sessionKey(requestId), value: JSON.stringify(stored), seconds }]);
}

async function lookAtHint(
  deps: ConsentDeps,
  row: ShownRow,
  hint: string | undefined,
  caller: Caller,
): Promise<Proofs> {
  if (hint === undefined) return { hint: 'none' };
  const now = deps.clock();
  const good = readHint(hint, row, { issuer: deps.issuer, now });
  if (good) return { hint: 'good', ...(good.email !== undefined && { email: good.email }) };
  await reportFailedProof(deps, caller, row, 'hint');
  return { hint: 'bad' };
}

/** A hint or a code that does not prove the person. */
export function reportFailedProof(
  { db, clock }: ConsentDeps,
  caller: Caller,
  { id: authRequestId, agentId, agentDid, principalId }: ShownRow,
  method: 'hint' | 'email',
): Promise<void> {
  const about = { agentId, agentDid, principalId };
  const data = { authRequestId, method };
  const attempt = { action: 'consent.verification_failed', about, data } as const;
  return inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}

/** Judged anew each time: a proof that the developer configures meanwhile is demanded from then on. */
function verificationFor({ principalProof }: ConsentDeps, row: ShownRow, proofs: Proofs): Verification {
  return verificationOf({
    mode: row.developerMode,
    consentMode: row.consentMode,
    hasConsentKeys: Array.isArray(row.consentKeys) && row.consentKeys.length > 0,
    proofs,
    proofIsRequired: principalProof === 'required',
  });
}

/** Who asks, when a browser does. @throws UNAUTHORIZED without the session of this request, FORBIDDEN, CONSENT_REQUIRED */
export function authenticateConsent(deps: Pick<ConsentDeps, 'store' | 'keyRing' | 'publicBaseUrl'>) {
  return async (browser: BrowserRequest): Promise<Caller> => {
    mustBeBrowser(browser);
    const { resourceId: requestId, cookies, csrfToken = '', isWrite } = browser;
    const session = { requestId, secret: cookies[cookieName(requestId, deps.publicBaseUrl)] ?? '' };
    const { developerId, mode, plan } = await getSession(deps.store, session);
    if (isWrite && !isSameText(csrfToken, csrfTokenOf(deps.keyRing, session))) {
      throw new AppError('FORBIDDEN', 'Send `X-CSRF-Token` as the page was given it.');
    }
    return personWith({ developerId, developerMode: mode, developerPlan: plan }, browser);
  };
}

/** An API key is held by a program, and to let that decide would be to ask nobody. */
function mustBeBrowser({ hasAuthorization }: Pick<BrowserRequest, 'hasAuthorization'>): void {
  if (!hasAuthorization) return;
  throw new AppError('CONSENT_REQUIRED', 'Only the person can decide this, in a browser.');
}

/** @throws as `requestOfSession` */
export async function showRequest(deps: ConsentDeps, session: ConsentSession): Promise<ShownRequest> {
  const { row, verification } = await requestOfSession(deps, session);
  return shownRequest(row, csrfTokenOf(deps.keyRing, session), verification);
}

/**
 * The request as it is now, and what this browser has proved: not what the one has proved that took its place a
 * moment ago. @throws UNAUTHORIZED when that happened, GONE when the request is no longer open
 */
export async function requestOfSession(deps: ConsentDeps, session: ConsentSession) {
  const stored = await getSession(deps.store, session);
  const row = await pendingRow(deps, stored.developerId, session.requestId);
  return { row, proofs: stored.proofs, verification: verificationFor(deps, row, stored.proofs) };
}

/** Notes in the session what this browser has proved beside what it brought. @throws as `requestOfSession` */
export async function storeProof(
  deps: ConsentDeps,
  session: ConsentSession,
  proof: Partial<Proofs>,
): Promise<void> {
  const stored = await getSession(deps.store, session);
  const row = await pendingRow(deps, stored.developerId, session.requestId);
  const proofs = { ...stored.proofs, ...proof };
  await keepSession(deps, session.requestId, { ...stored, proofs }, row.expiresAt);
}

/** The browser has to begin again, with the link. */
export const endConsentSession = ({ store }: ConsentDeps, { requestId }: ConsentSession) =>
  store.remove(sessionKey(requestId));

/** @throws NOT_FOUND, GONE */
async function pendingRow(deps: ConsentDeps, developerId: string, requestId: string): Promise<ShownRow> {
  const row = await findShown(deps.db, { developerId }, requestId);
  if (!row) throw notFound();
  const status = statusAt(row, deps.clock());
  if (status !== 'pending') throw gone(status);
  return row;
}

/** Its name has the request's id in it, so that two requests in two tabs do not disturb each other. */
export function cookieName(requestId: string, publicBaseUrl: string): string {
  return `${isSecure(publicBaseUrl) ? '__Host-' : ''}bh_consent_${requestId}`;
}

export const isSecure = (publicBaseUrl: string) => publicBaseUrl.startsWith('https:');

function csrfTokenOf(keyRing: KeyRing, { requestId, secret }: ConsentSession): string {
  const { current } = keyRing.derive(CSRF_KEY_USE);
  return createHmac('sha256', current).update(`${requestId}.${secret}`).digest('base64url');
}

/** @throws UNAUTHORIZED for an unknown request and for a known one alike */
async function getSession(
  store: EphemeralStore,
  { requestId, secret }: ConsentSession,
): Promise<StoredSession> {
  const found = secret === '' ? undefined : await store.get(sessionKey(requestId));
  const stored: StoredSession | undefined = found === undefined ? undefined : JSON.parse(found);
  if (stored && isSameText(stored.hash, encodedHash(secret))) return stored;
  const message = 'This browser does not hold this request; use the link you were sent.';
  throw new AppError('UNAUTHORIZED', message);
}

const encodedHash = (secret: string) => hashOf(secret).toString('base64url');

function personWith(
  {
    developerId,
    developerMode,
    developerPlan,
  }: Pick<ShownRow, 'developerId' | 'developerMode' | 'developerPlan'>,
  { requestId, ip, userAgent }: Pick<Browser, 'requestId' | 'ip' | 'userAgent'>,
): Caller {
  return {
    tenant: { developerId },
    actor: 'principal',
    role: 'runtime',
    mode: developerMode,
    plan: developerPlan,
    requestId,
    browser: { ip, userAgent: userAgent ?? null },
  };
}
