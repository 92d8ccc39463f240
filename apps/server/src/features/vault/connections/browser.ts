import { createHmac } from 'node:crypto';
import type { BrowserRequest, Caller, Mode, Plan } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import { type Proofs, signOnCookieName } from '../../grants/consent/index.ts';
import { type ConnectDeps, personIn } from './deps.ts';

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
  /** The cookie of a session of single sign-on. */
  readonly signOn?: string | undefined;
  /** `Accept-Language`, for the mail to the person. */
  readonly languages?: string | undefined;
}

/** @throws UNAUTHORIZED for an unknown session and for a known one alike */
export async function storedPage(
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
export function mustBeBrowser({ hasAuthorization }: Pick<BrowserRequest, 'hasAuthorization'>): void {
  if (!hasAuthorization) return;
  throw new AppError(
    'CONSENT_REQUIRED',
    'Only the person can connect, in a browser. Send no `Authorization` header.',
  );
}

export const personWith = (
  { developerId, mode, plan }: Pick<StoredPage, 'developerId' | 'mode' | 'plan'>,
  { requestId, ip, userAgent }: Pick<BrowserRequest, 'requestId' | 'ip' | 'userAgent'>,
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

/** The cookie of a session of single sign-on. */
export const signOnIn = (cookies: BrowserRequest['cookies'], publicBaseUrl: string) =>
  cookies[signOnCookieName(publicBaseUrl)];

export const isSecure = (publicBaseUrl: string) => publicBaseUrl.startsWith('https:');

export function csrfTokenOf(
  { keyRing }: Pick<ConnectDeps, 'keyRing'>,
  { sessionId, secret }: PageHold,
): string {
  const { current } = keyRing.derive(CSRF_KEY_USE);
  return createHmac('sha256', current).update(`${sessionId}.${secret}`).digest('base64url');
}

export const encodedHash = (secret: string) => hashOf(secret).toString('base64url');

/** Where the store keeps what is in flight between a person and an upstream. It may lose all of it. */
export const ticketKey = (sessionId: string) => `bh:{${sessionId}}:connect-ticket`;
export const pageKey = (sessionId: string) => `bh:{${sessionId}}:connect-page`;
export const stateHash = (state: string) => hashOf(state).toString('base64url');
export const stateKey = (state: string) => `bh:{connect:${stateHash(state)}}:state`;
/** Taken by the first callback with a state, so that a state works once. */
export const usedKey = (state: string) => `bh:{connect:${stateHash(state)}}:used`;
