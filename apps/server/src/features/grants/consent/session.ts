import { createHmac } from 'node:crypto';
import type { BrowserRequest, Caller, Mode, Plan } from '../../../platform/caller.ts';
import type { ChargeRecipient } from '../../../platform/charge.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, isSameText, newSecret } from '../../../platform/ids.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { PasskeyDeps } from '../../people/passkeys/index.ts';
import { cookieNames } from '../../people/sso/index.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import {
  type AuthorizationDeps,
  findTicket,
  gone,
  LATE_SECONDS,
  sessionKey,
  statusAt,
} from '../authorization/index.ts';
import { findScopeWords } from '../resources/resources.queries.ts';
import { type ConsentRow, findConsentRow } from './consent.repo.ts';
import type { Proofs } from './consent.rules.ts';
import type { ConsentRequest, ConsentSessionRequest, ConsentSessionResponse } from './consent.schema.ts';
import { readHint } from './hint.ts';
import { previousConsent } from './previous.ts';
import { showManifests, shownRequest, toolsOf } from './show.ts';
import { verifyPerson } from './verify.ts';

export interface ConsentDeps extends AuthorizationDeps, PasskeyDeps {
  readonly keyRing: KeyRing;
  /** The `iss` of tokens: the audience of hints, and the issuer that answers name. */
  readonly issuer: string;
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly chargeRecipient: ChargeRecipient;
  readonly onMailFailed: () => void;
}

/**
 * The consent session of one browser for one request, with the proofs that the browser brought. The store
 * keeps a hash of the cookie, so a reader of the store cannot open the page.
 */
interface StoredSession {
  readonly hash: string;
  readonly developerId: string;
  readonly mode: Mode;
  readonly plan: Plan;
  readonly proofs: Proofs;
}

/** The cookie's secret, by which a browser claims a request. */
export interface ConsentSession {
  readonly requestId: string;
  readonly secret: string;
  /** The cookie of a session of single sign-on. */
  readonly signOn?: string | undefined;
  /** `Accept-Language`, which chooses among the words of the developer. */
  readonly languages?: string | undefined;
}

export const CSRF_KEY_USE = 'behest/consent-csrf/v1';

type Browser = Pick<BrowserRequest, 'requestId' | 'ip' | 'userAgent' | 'hasAuthorization'>;

interface OpeningBrowser extends Browser {
  /** Counts this request for the authorization request. @throws RATE_LIMITED */
  readonly charge: () => Promise<void>;
  readonly session: ConsentSession;
}

/**
 * Opens the page's session with the ticket of the link. Without a hint, a browser that comes again keeps its session
 * and its proofs, unless its last hint was bad. Else the newest session replaces the one before, so the last browser wins. After a bad hint the proof
 * stays open, and the page says so. Only the holder of the ticket is counted, so that others cannot use up the person's
 * requests.
 * @throws NOT_FOUND for a wrong ticket and an unknown request alike, GONE when the request is decided or
 * expired
 */
export async function openSession(
  deps: ConsentDeps,
  requestId: string,
  { ticket, hint: sent }: ConsentSessionRequest,
  browser: OpeningBrowser,
): Promise<{ opened: ConsentSessionResponse; secret: string }> {
  mustBeBrowser(browser);
  const inFlight = await findTicket(deps.store, requestId);
  if (!inFlight || !isSameText(inFlight.hash, encodedHash(ticket))) throw notFound();
  await browser.charge();
  const row = await pendingRow(deps, inFlight.developerId, requestId);

  const { signOn } = browser.session;
  const found = sent === undefined ? await findSession(deps.store, browser.session) : undefined;
  const before = found?.proofs.hint === 'bad' ? undefined : found;
  const proofs = before?.proofs ?? (await lookAtHint(deps, row, sent, personWith(row, browser)));
  const secret = before ? browser.session.secret : newSecret();
  if (!before) {
    const { developerId, developerMode: mode, developerPlan: plan, expiresAt } = row;
    const stored: StoredSession = { hash: encodedHash(secret), developerId, mode, plan, proofs };
    await keepSession(deps, requestId, stored, expiresAt);
  }
  const csrfToken = csrfTokenOf(deps.keyRing, { requestId, secret });
  const { verification } = await verificationFor(deps, row, proofs, signOn);
  const { languages } = browser.session;
  const request = await lookAtRequest(deps, row, { csrfToken, verification, languages });
  return { opened: { id: requestId, csrfToken, verification, request }, secret };
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
  row: ConsentRow,
  hint: string | undefined,
  caller: Caller,
): Promise<Proofs> {
  if (hint === undefined) return { hint: 'none' };
  const now = deps.clock();
  const good = readHint(hint, row, { issuer: deps.issuer, now });
  if (good) {
    const { email, keyThumbprint } = good;
    const taken = { at: now.toISOString(), keyThumbprint, jwt: hint };
    return { hint: { ...taken, ...(email !== undefined && { email }) } };
  }
  await reportFailedProof(deps, caller, row, 'hint');
  return { hint: 'bad' };
}

/** Records a hint, a code or a passkey that does not prove the person. */
export function reportFailedProof(
  { db, clock }: ConsentDeps,
  caller: Caller,
  { id: authRequestId, agentId, agentDid, principalId }: ConsentRow,
  method: 'hint' | 'email' | 'passkey',
): Promise<void> {
  const about = { agentId, agentDid, principalId };
  const data = { authRequestId, method };
  const attempt = { action: 'consent.verification_failed', about, data } as const;
  return inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}

/** Weighs the proofs that the person of this request has given so far. */
export function verificationFor(
  { db, principalProof, clock }: ConsentDeps,
  row: ConsentRow,
  proofs: Proofs,
  signOn: string | undefined,
) {
  const proofIsRequired = principalProof === 'required';
  return verifyPerson(db, { ...row, mode: row.developerMode, proofs, proofIsRequired, signOn }, clock());
}

/**
 * Authenticates the person by cookie and CSRF token.
 * @throws UNAUTHORIZED without the session of this request, FORBIDDEN, CONSENT_REQUIRED
 */
export function authenticateConsent(deps: Pick<ConsentDeps, 'store' | 'keyRing' | 'publicBaseUrl'>) {
  return async (browser: BrowserRequest): Promise<Caller> => {
    mustBeBrowser(browser);
    const { resourceId: requestId, cookies, csrfToken = '', isWrite } = browser;
    const session = { requestId, secret: cookies[cookieName(requestId, deps.publicBaseUrl)] ?? '' };
    const { developerId, mode, plan } = await getSession(deps.store, session);
    if (isWrite && !isSameText(csrfToken, csrfTokenOf(deps.keyRing, session))) {
      throw new AppError('FORBIDDEN', 'Send the `csrfToken` of this request as `X-CSRF-Token`.');
    }
    return personWith({ developerId, developerMode: mode, developerPlan: plan }, browser);
  };
}

/** A program holds the API key, and a program must not decide for the person. */
function mustBeBrowser({ hasAuthorization }: Pick<BrowserRequest, 'hasAuthorization'>): void {
  if (!hasAuthorization) return;
  throw new AppError(
    'CONSENT_REQUIRED',
    'Only the person can decide, in a browser. Send no `Authorization` header.',
  );
}

/** @throws as `requestOfSession` */
export async function showRequest(deps: ConsentDeps, session: ConsentSession): Promise<ConsentRequest> {
  const { row, verification } = await requestOfSession(deps, session);
  const csrfToken = csrfTokenOf(deps.keyRing, session);
  return lookAtRequest(deps, row, { csrfToken, verification, languages: session.languages });
}

interface SeenBy extends Pick<ConsentRequest, 'csrfToken' | 'verification'> {
  readonly languages: string | undefined;
}

async function lookAtRequest(deps: ConsentDeps, row: ConsentRow, seen: SeenBy): Promise<ConsentRequest> {
  const { verification, languages } = seen;
  const pins = await showManifests(deps, row);
  const words = await findScopeWords(deps.db, row, row);
  const before = await previousConsent(deps, row, { verification, pins, words, languages });
  const tools = await toolsOf(deps, row, { pins, languages });
  return shownRequest(row, { ...seen, pins, tools, words, before });
}

/**
 * Reads the request as it is now, with the proofs of this browser. A newer session's proofs do not count for
 * it.
 * @throws UNAUTHORIZED when a newer session took its place, GONE when the request is no longer open
 */
export async function requestOfSession(deps: ConsentDeps, session: ConsentSession) {
  const stored = await getSession(deps.store, session);
  const row = await pendingRow(deps, stored.developerId, session.requestId);
  const verified = await verificationFor(deps, row, stored.proofs, session.signOn);
  return { row, proofs: stored.proofs, ...verified };
}

/** As `requestOfSession`, of a request that is decided too. @throws UNAUTHORIZED, NOT_FOUND */
export async function personOfSession(deps: ConsentDeps, session: ConsentSession) {
  const { developerId, proofs } = await getSession(deps.store, session);
  const row = await findConsentRow(deps.db, { developerId }, session.requestId);
  if (!row) throw notFound();
  return { row, ...(await verificationFor(deps, row, proofs, session.signOn)) };
}

/** Adds a proof to the session. @throws as `requestOfSession` */
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

/** Ends the session. The browser needs the link to open the next. */
export const endConsentSession = ({ store }: ConsentDeps, { requestId }: ConsentSession) =>
  store.remove(sessionKey(requestId));

/** @throws NOT_FOUND, GONE */
async function pendingRow(deps: ConsentDeps, developerId: string, requestId: string): Promise<ConsentRow> {
  const row = await findConsentRow(deps.db, { developerId }, requestId);
  if (!row) throw notFound();
  const status = statusAt(row, deps.clock());
  if (status !== 'pending') throw gone(status);
  return row;
}

/** The name holds the request's id, so two requests in two tabs do not disturb each other. */
export function cookieName(requestId: string, publicBaseUrl: string): string {
  return `${isSecure(publicBaseUrl) ? '__Host-' : ''}bh_consent_${requestId}`;
}

/** The name of the cookie of single sign-on. */
export const signOnCookieName = (publicBaseUrl: string) => cookieNames(publicBaseUrl).session;

export const isSecure = (publicBaseUrl: string) => publicBaseUrl.startsWith('https:');

function csrfTokenOf(keyRing: KeyRing, { requestId, secret }: ConsentSession): string {
  const { current } = keyRing.derive(CSRF_KEY_USE);
  return createHmac('sha256', current).update(`${requestId}.${secret}`).digest('base64url');
}

/** @throws UNAUTHORIZED for an unknown request and for a known one alike */
async function getSession(store: EphemeralStore, session: ConsentSession): Promise<StoredSession> {
  const stored = await findSession(store, session);
  if (stored) return stored;
  const message =
    'This browser has no session for this request. Open the link again from the application that sent you.';
  throw new AppError('UNAUTHORIZED', message);
}

async function findSession(
  store: EphemeralStore,
  { requestId, secret }: ConsentSession,
): Promise<StoredSession | undefined> {
  const found = secret === '' ? undefined : await store.get(sessionKey(requestId));
  const stored: StoredSession | undefined = found === undefined ? undefined : JSON.parse(found);
  return stored && isSameText(stored.hash, encodedHash(secret)) ? stored : undefined;
}

const encodedHash = (secret: string) => hashOf(secret).toString('base64url');

function personWith(
  {
    developerId,
    developerMode,
    developerPlan,
  }: Pick<ConsentRow, 'developerId' | 'developerMode' | 'developerPlan'>,
  { requestId, ip, userAgent }: Pick<Browser, 'requestId' | 'ip' | 'userAgent'>,
): Caller {
  return {
    tenant: { developerId },
    agentIds: null,
    actor: 'principal',
    role: 'runtime',
    mode: developerMode,
    plan: developerPlan,
    requestId,
    browser: { ip, userAgent: userAgent ?? null },
  };
}
