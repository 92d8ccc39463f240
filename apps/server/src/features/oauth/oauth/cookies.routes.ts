import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { newSecret } from '../../../platform/ids.ts';

interface Kept {
  /** Without the prefix that binds it to this host. */
  readonly name: string;
  readonly seconds: number;
}

/** Makes a function that tells a browser at a page by a secret cookie, which it gives to a browser without one. */
export function browserCookie(
  { publicBaseUrl }: { readonly publicBaseUrl: string },
  { name, seconds }: Kept,
): (request: FastifyRequest, reply: FastifyReply) => string {
  const isSecure = publicBaseUrl.startsWith('https:');
  const fullName = `${isSecure ? '__Host-' : ''}${name}`;
  return ({ headers }, reply) => {
    const known = cookiesIn(headers)[fullName];
    if (known !== undefined) return known;
    const browserId = newSecret();
    const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const;
    const cookie = { name: fullName, value: browserId, maxAge: seconds, ...attributes };
    reply.header('set-cookie', stringifySetCookie(cookie));
    return browserId;
  };
}
