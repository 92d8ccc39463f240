import { createHmac } from 'node:crypto';
import type { BrowserRequest, Caller, Mode, Plan } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, isSameText, newSalt, newSecret } from '../../../platform/ids.ts';
import { emailUnverified, thumbprintsOf } from '../../accounts/developers/index.ts';
import { nameInMail } from '../../accounts/emails/index.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import {
  checkMailedCode,
  type Proofs,
  readVouching,
  sendMailedCode,
  standingHint,
  unknownAddress,
  verificationOf,
  wrongCode,
} from '../consent/index.ts';
import { gone } from './connections.ask.service.ts';
import { type ConnectDeps, personIn } from './connections.deps.service.ts';
import { pageKey, ticketKey } from './connections.keys.service.ts';
import { findShownSession, type ShownRow } from './connections.repo.ts';
import { isOpen, statusAt, withQuery } from './connections.rules.ts';
import type { OpenedPage, OpenPage, ShownPage, Verified } from './connections.schema.ts';
import { shownConnect } from './connections.show.service.ts';

export const CSRF_KEY_USE = 'behest/connect-csrf/v1';

/** One browser at the page. The store keeps a hash of its cookie. */
export interface StoredPage {
  readonly hash: string;
  readonly developerId: string;
  readonly mode: Mode;
  readonly plan: Plan;
  /** A hint for this browser names it. Empty once it was used. */
  readonly nonce: string;
  readonly proofs: Proofs;
  /** The state of the last start, and its time: the person was proved then. */
  readonly started?: { readonly state: string; readonly at: string };
}

/** The cookie by which a browser claims a connect session. */
export interface PageHold {
  readonly sessionId: string;
  readonly secret: string;
}

const LATE_SECONDS = 3600;

interface OpeningBrowser extends Pick<BrowserRequest, 'requestId' | 'ip' | 'userAgent' | 'hasAuthorization'> {
  /** Counts this request for the connect session. @throws RATE_LIMITED */
  readonly charge: () => Promise<void>;
}

/**
 * Opens the page with the ticket of the link. The last browser wins, until a browser proves its
 * person: from then on the ticket opens nothing, and nobody takes the page from that browser.
 * @throws NOT_FOUND for an unknown session, a wrong ticket and a spent one alike, GONE
 */
export async function openPage(
  deps: ConnectDeps,
  sessionId: string,
  { ticket, hint }: OpenPage,
  browser: OpeningBrowser,
): Promise<{ opened: OpenedPage; secret: string }> {
  mustBeBrowser(browser);
  const found = await deps.store.get(ticketKey(sessionId));
  const kept: { developerId: string; hash: string } | undefined = found && JSON.parse(found);
  if (!kept || !isSameText(kept.hash, encodedHash(ticket))) throw notFound();
  await browser.charge();
  const row = await openRow(deps, kept.developerId, sessionId);
  const secret = newSecret();
  const { developerId, mode, plan } = row;
  const nonce = newSalt();
  const page: StoredPage = {
    hash: encodedHash(secret),
    developerId,
    mode,
    plan,
    nonce,
    proofs: { hint: 'none' },
  };
  await keepPage(deps, row, page);
  const hold = { sessionId, secret };
  const caller = personWith(row, browser);
  // Without a hint to look at, a sandbox is proved at once.
  if (hint === undefined) await spendTicket(deps, row, page);
  else await takeHint(deps, caller, hold, hint);
  return { opened: { ...(await showPage(deps, hold)), nonce }, secret };
}

/** The first proof spends the ticket. */
async function spendTicket(deps: ConnectDeps, row: ShownRow, page: StoredPage): Promise<void> {
  if (verificationFor(deps, row, page, deps.clock()).satisfied) await deps.store.remove(ticketKey(row.id));
}

async function keepPage({ store, clock }: ConnectDeps, row: ShownRow, page: StoredPage): Promise<void> {
  const left = Math.ceil((row.expiresAt.getTime() - clock().getTime()) / 1000);
  const value = JSON.stringify(page);
  await store.put([{ key: pageKey(row.id), value, seconds: Math.max(left, 600) + LATE_SECONDS }]);
}

/**
 * Takes the developer's word for the person, for this browser alone.
 * @throws as `pageOf`
 */
export async function takeHint(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  hint: string,
): Promise<Verified> {
  const { row, page } = await pageOf(deps, hold);
  const now = deps.clock();
  const { developerId, consentKeys, principalId, id } = row;
  const claims = { conn: id, nonce: page.nonce };
  const vouched = { developerId, consentKeys, principalId, claims };
  const good =
    page.nonce === '' ? undefined : readVouching('connect-hint', hint, vouched, { issuer: deps.issuer, now });
  if (!good) {
    await reportBlocked(deps, caller, row, 'proof');
    const kept = page.proofs.hint === 'none' ? { ...page, proofs: { hint: 'bad' as const } } : page;
    await keepPage(deps, row, kept);
    return { verification: verificationFor(deps, row, kept, now) };
  }
  const { email, keyThumbprint } = good;
  const taken = { at: now.toISOString(), keyThumbprint, ...(email !== undefined && { email }) };
  const next = { ...page, nonce: '', proofs: { ...page.proofs, hint: taken } };
  await keepPage(deps, row, next);
  await spendTicket(deps, row, next);
  return { verification: verificationFor(deps, row, next, now) };
}

/** Records what did not prove the person, or came from elsewhere. */
export function reportBlocked(
  { db, clock }: ConnectDeps,
  caller: Caller,
  { id, principalId, service }: Pick<ShownRow, 'id' | 'principalId' | 'service'>,
  reason: 'proof' | 'browser' | 'provider' | 'issuer',
): Promise<void> {
  const data = { connectSessionId: id, service, reason };
  const attempt = { action: 'vault.connection.blocked', about: { principalId }, data } as const;
  return inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}

/** Sends a code to the address that the hint names. @throws CONFLICT and as `sendMailedCode` */
export async function sendCode(deps: ConnectDeps, caller: Caller, hold: PageHold) {
  const { row, page } = await pageOf(deps, hold);
  const email = standingHint(page.proofs, thumbprintsOf(row.consentKeys))?.email;
  if (row.consentMode !== 'email' || email === undefined) throw unknownAddress();
  if (!row.emailVerified) throw emailUnverified();
  const mailOf = (code: string) => ({
    subject: `${code} is your code to connect an account`,
    text: `Nothing is connected without this code. If you did not open a page that asks for it, do nothing.

    ${code}

You are about to connect an account of yours for an application. Type the code into the page that asked for it. The code is good for 10 minutes. Tell it to nobody.

The application: ${nameInMail(row.developerName, row.developerId)}
`,
  });
  return sendMailedCode(deps, caller, { subjectId: row.id, email, mailOf });
}

/** @throws BAD_REQUEST for a wrong code, TOKEN_EXPIRED, UNAUTHORIZED after the last try */
export async function checkCode(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  code: string,
): Promise<Verified> {
  const { row, page } = await pageOf(deps, hold);
  const outcome = await checkMailedCode(deps, row.id, code);
  if (outcome !== 'right') {
    await reportBlocked(deps, caller, row, 'proof');
    if (outcome === 'last') await deps.store.remove(pageKey(row.id));
    throw wrongCode(outcome);
  }
  const now = deps.clock();
  const next = { ...page, proofs: { ...page.proofs, mailReadAt: now.toISOString() } };
  await keepPage(deps, row, next);
  await spendTicket(deps, row, next);
  return { verification: verificationFor(deps, row, next, now) };
}

/** @throws as `pageOf` */
export async function showPage(deps: ConnectDeps, hold: PageHold): Promise<ShownPage> {
  const { row, page } = await pageOf(deps, hold);
  const verification = verificationFor(deps, row, page, deps.clock());
  const back = `${deps.publicBaseUrl}/connect?session=${row.id}`;
  const needsLogin = !verification.satisfied && verification.methods.includes('hint');
  return {
    id: row.id,
    status: statusAt(row, deps.clock()),
    reason: row.reason,
    csrfToken: csrfTokenOf(deps, hold),
    loginUrl:
      needsLogin && row.connectLoginUrl !== null
        ? withQuery(row.connectLoginUrl, { connect: row.id, nonce: page.nonce, return: back })
        : null,
    verification,
    connect: await shownConnect(deps, row),
  };
}

/** A link alone proves nothing here, whatever the operator's settings say of consent. */
export function verificationFor(
  _deps: Pick<ConnectDeps, 'clock'>,
  row: ShownRow,
  page: Pick<StoredPage, 'proofs'>,
  now: Date,
) {
  return verificationOf({
    mode: row.mode,
    consentMode: row.consentMode,
    consentKeys: thumbprintsOf(row.consentKeys),
    proofs: page.proofs,
    proofIsRequired: true,
    now,
  });
}

/** Keeps the state of a start, which voids the one before. */
export const rememberStart = (deps: ConnectDeps, row: ShownRow, page: StoredPage, state: string) =>
  keepPage(deps, row, { ...page, started: { state, at: deps.clock().toISOString() } });

/**
 * The session as it is now, with what its browser has proved.
 * @throws UNAUTHORIZED for another browser, GONE
 */
export async function pageOf(deps: ConnectDeps, hold: PageHold) {
  const page = await storedPage(deps, hold);
  return { page, row: await openRow(deps, page.developerId, hold.sessionId) };
}

/** @throws NOT_FOUND, GONE */
async function openRow(deps: ConnectDeps, developerId: string, id: string): Promise<ShownRow> {
  const row = await findShownSession(deps.db, { developerId }, id);
  if (!row) throw notFound();
  if (!isOpen(row, deps.clock())) throw gone(statusAt(row, deps.clock()));
  return row;
}

/** @throws UNAUTHORIZED for an unknown session and for a known one alike */
async function storedPage(
  { store }: Pick<ConnectDeps, 'store'>,
  { sessionId, secret }: PageHold,
): Promise<StoredPage> {
  const found = secret === '' ? undefined : await store.get(pageKey(sessionId));
  const page: StoredPage | undefined = found === undefined ? undefined : JSON.parse(found);
  if (page && isSameText(page.hash, encodedHash(secret))) return page;
  const message =
    'This browser has no session for this request. Open the link again from the application that sent you.';
  throw new AppError('UNAUTHORIZED', message);
}

/** @returns undefined for a browser that does not hold the session */
export const findPage = (deps: Pick<ConnectDeps, 'store'>, hold: PageHold): Promise<StoredPage | undefined> =>
  storedPage(deps, hold).catch((error: unknown) => {
    if (error instanceof AppError) return undefined;
    throw error;
  });

/** Authenticates the browser by cookie and CSRF token. @throws UNAUTHORIZED, FORBIDDEN, CONSENT_REQUIRED */
export function authenticateConnect(deps: Pick<ConnectDeps, 'store' | 'keyRing' | 'publicBaseUrl'>) {
  return async (browser: BrowserRequest): Promise<Caller> => {
    mustBeBrowser(browser);
    const { resourceId: sessionId, cookies, csrfToken = '', isWrite } = browser;
    const hold = { sessionId, secret: cookies[cookieName(sessionId, deps.publicBaseUrl)] ?? '' };
    const page = await storedPage(deps, hold);
    if (isWrite && !isSameText(csrfToken, csrfTokenOf(deps, hold))) {
      throw new AppError('FORBIDDEN', 'Send the `csrfToken` of this session as `X-CSRF-Token`.');
    }
    return personWith(page, browser);
  };
}

/** A program holds the API key, and a program must not connect in a person's name. */
function mustBeBrowser({ hasAuthorization }: Pick<BrowserRequest, 'hasAuthorization'>): void {
  if (!hasAuthorization) return;
  throw new AppError(
    'CONSENT_REQUIRED',
    'Only the person can connect, in a browser. Send no `Authorization` header.',
  );
}

export const personWith = (
  { developerId, mode, plan }: Pick<StoredPage, 'developerId' | 'mode' | 'plan'>,
  { requestId, ip, userAgent }: Pick<OpeningBrowser, 'requestId' | 'ip' | 'userAgent'>,
): Caller =>
  personIn({
    tenant: { developerId },
    mode,
    plan,
    requestId,
    browser: { ip, userAgent: userAgent ?? null },
  });

/** The name holds the session's id, so two sessions in two tabs do not disturb each other. */
export const cookieName = (sessionId: string, publicBaseUrl: string): string =>
  `${isSecure(publicBaseUrl) ? '__Host-' : ''}bh_connect_${sessionId}`;

export const isSecure = (publicBaseUrl: string) => publicBaseUrl.startsWith('https:');

function csrfTokenOf({ keyRing }: Pick<ConnectDeps, 'keyRing'>, { sessionId, secret }: PageHold): string {
  const { current } = keyRing.derive(CSRF_KEY_USE);
  return createHmac('sha256', current).update(`${sessionId}.${secret}`).digest('base64url');
}

const encodedHash = (secret: string) => hashOf(secret).toString('base64url');
