import { hashOf } from '../../../platform/ids.ts';

/** The names of the cookies. Browsers take `__Host-` over `https` only. */
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
  const [developerId = '', id = '', secret = ''] = value.split('.');
  return secret === '' ? undefined : { developerId, id, secretHash: hashOf(secret) };
}
