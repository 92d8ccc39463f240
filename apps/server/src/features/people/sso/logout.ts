import { stringifySetCookie } from 'cookie';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { hashOf, secretParts } from '../../../platform/ids.ts';
import { unseal } from '../../../platform/seal.ts';
import { recordActs } from '../../record/audit/index.ts';
import { callerFor } from './callback.ts';
import type { SsoDeps } from './deps.ts';
import { hashOfBrowser, LOGIN_SECONDS } from './flight.ts';
import type { SsoLogout } from './login.schema.ts';
import { issuerMetadata } from './oidc.ts';
import { membersOf } from './secrets.ts';
import { deleteSession, findSession, type SessionRow } from './sessions.repo.ts';
import { type ConnectionRow, findConnection } from './sso.repo.ts';
import { isOwnPath } from './sso.rules.ts';

/** The names of the cookies. Browsers take `__Host-` over `https` only. Each login has `login`, a dot and its own end. */
export function cookieNames(publicBaseUrl: string) {
  const isSecure = publicBaseUrl.startsWith('https:');
  const prefix = isSecure ? '__Host-' : '';
  return { login: `${prefix}bh_sso`, session: `${prefix}bh_sso_session`, isSecure };
}

interface SessionCookie {
  readonly developerId: string;
  readonly id: string;
  readonly secret: string;
}

export const sessionCookie = ({ developerId, id, secret }: SessionCookie): string =>
  [developerId, id, secret].join('.');

/** The session that a cookie names, with the hash of its secret. */
export function readSessionCookie(value = '') {
  const { developerId, id, secret } = secretParts(value);
  return secret === '' ? undefined : { developerId, id, secretHash: hashOf(secret) };
}

type Cookies = Readonly<Record<string, string | undefined>>;

const MAX_LOGINS = 8; // of one browser at once

/** The cookies of the logins that a browser has begun, each of a tab, the oldest first (RFC 6265, section 5.4). */
const loginsIn = (cookies: Cookies, login: string) =>
  Object.entries(cookies).flatMap(([name, secret = '']) =>
    secret !== '' && (name === login || name.startsWith(`${login}.`)) ? [{ name, secret }] : [],
  );

/** The secrets of a browser's logins. */
export const loginSecretsIn = (cookies: Cookies, publicBaseUrl: string): string[] =>
  loginsIn(cookies, cookieNames(publicBaseUrl).login).map(({ secret }) => secret);

interface NewLogin {
  readonly secret: string;
  readonly sameSite: 'none' | 'lax';
}

/** Header lines that give a browser the cookie of a new login, and take those from it that are too many. */
export function loginCookieLines(cookies: Cookies, publicBaseUrl: string, added: NewLogin): string[] {
  const { login, isSecure } = cookieNames(publicBaseUrl);
  const { secret, sameSite } = added;
  const common = { path: '/', httpOnly: true, secure: isSecure } as const;
  const end = hashOfBrowser(secret).slice(0, 12);
  const own = { name: `${login}.${end}`, value: secret, ...common, sameSite, maxAge: LOGIN_SECONDS };
  const held = loginsIn(cookies, login);
  const surplus = held.slice(0, Math.max(0, held.length + 1 - MAX_LOGINS));
  const gone = surplus.map(({ name }) => ({ name, value: '', ...common, maxAge: 0 }));
  return [own, ...gone].map((cookie) => stringifySetCookie(cookie));
}

/** Header lines that take the cookie of a login from its browser. Logins in other tabs go on. */
export function endedLoginLines(
  cookies: Cookies,
  publicBaseUrl: string,
  browserHash: string | null,
): string[] {
  const { login, isSecure } = cookieNames(publicBaseUrl);
  const own = loginsIn(cookies, login).filter(({ secret }) => hashOfBrowser(secret) === browserHash);
  const common = { value: '', path: '/', httpOnly: true, secure: isSecure, maxAge: 0 } as const;
  return own.map(({ name }) => stringifySetCookie({ name, ...common }));
}

interface Leaving {
  readonly requestId: string;
  readonly cookie: string | undefined;
  readonly returnTo: string | undefined;
}

/** The session of a browser and its connection. @throws BAD_REQUEST for an address that the connection does not list */
async function heldBy(deps: SsoDeps, { cookie, returnTo }: Omit<Leaving, 'requestId'>) {
  const named = readSessionCookie(cookie);
  const tenant = { developerId: named?.developerId ?? '' };
  const found = named && (await findSession(deps.db, tenant, named.id, deps.clock()));
  const held = found?.secretHash.equals(named?.secretHash ?? Buffer.alloc(0)) ? found : undefined;
  const row = held && (await findConnection(deps.db, tenant, held.connectionId));
  const listed = row ? membersOf(row).redirectUris : [];
  if (returnTo !== undefined && !listed.includes(returnTo) && !isOwnPath(returnTo, deps.publicBaseUrl)) {
    throw badField(
      'return_to',
      'not_allowed',
      'Send a path of this service, or an address of `redirectUris`.',
    );
  }
  return { tenant, held, row };
}

/** Whether there is a session to end. @throws as `signOut` */
export const isSignedIn = async (deps: SsoDeps, leaving: Omit<Leaving, 'requestId'>): Promise<boolean> =>
  (await heldBy(deps, leaving)).held !== undefined;

/**
 * Ends the session of a browser, and says where the browser goes: to the provider where it publishes a place for that
 * (OpenID Connect RP-Initiated Logout 1.0), and else back.
 * @throws BAD_REQUEST for an address that the connection does not list
 */
export async function signOut(
  deps: SsoDeps,
  { requestId, cookie, returnTo }: Leaving,
): Promise<SsoLogout & { readonly goesTo: string | null }> {
  const { tenant, held, row } = await heldBy(deps, { cookie, returnTo });
  if (held) {
    const at = deps.clock();
    const { id: sessionId, connectionId, principalId } = held;
    const caller = await callerFor(deps, tenant, connectionId, requestId);
    await inTransaction(deps.db, async (tx) => {
      if (!(await deleteSession(tx, tenant, sessionId, at))) return; // another request has ended it
      const data = { connectionId, sessionId, reason: 'signed_out' };
      const about = principalId === null ? {} : { principalId };
      await recordActs(tx, caller, [{ type: 'sso.session.revoked', ...about, data }], at);
    });
  }
  const atProvider = row?.protocol === 'oidc' ? await providersPlace(deps, row, { held, returnTo }) : null;
  return { signedOut: held !== undefined, providerUrl: atProvider, goesTo: atProvider ?? returnTo ?? null };
}

/** The session has ended by now, so a provider that does not answer keeps nobody signed in here. */
async function providersPlace(
  deps: SsoDeps,
  row: ConnectionRow,
  { held, returnTo }: { readonly held: SessionRow | undefined; readonly returnTo: string | undefined },
): Promise<string | null> {
  const { issuerUrl = '', clientId = '', redirectUris } = membersOf(row);
  try {
    const { endSessionEndpoint } = await issuerMetadata(deps, issuerUrl);
    if (endSessionEndpoint === null) return null;
    const url = new URL(endSessionEndpoint);
    url.searchParams.set('client_id', clientId);
    const hint = held?.logoutHint && unseal(deps.stateKeys, held.logoutHint, Buffer.from(held.id));
    if (hint) url.searchParams.set('id_token_hint', hint);
    if (returnTo !== undefined && redirectUris.includes(returnTo)) {
      url.searchParams.set('post_logout_redirect_uri', returnTo);
    }
    return url.href;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
