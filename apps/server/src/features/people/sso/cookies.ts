import { stringifySetCookie } from 'cookie';
import { hashOf, secretParts } from '../../../platform/ids.ts';
import { hashOfBrowser, LOGIN_SECONDS } from './flight.ts';

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
