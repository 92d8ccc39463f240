import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Proved, ShownToken } from '../../caller.ts';
import { type AppError, GRANT_TOKEN_REFUSED, grantTokenRefused } from '../../errors.ts';
import { timesSent, unauthorized } from './credentials.ts';

/** Node joins the lines of a header that it does not know; each proof is a text without a comma. */
export function proofOf({ headers, method, url }: FastifyRequest): Proved {
  const sent = [headers.dpop ?? []].flat().flatMap((line) => line.split(','));
  return { proofs: sent, method, path: url.replace(/[?#].*$/s, '') };
}

/** The token of the only `Authorization` line, of either scheme; undefined when there is no such line, or two. */
export function shownToken(request: FastifyRequest): ShownToken | undefined {
  if (timesSent(request.raw, 'authorization') !== 1) return undefined;
  const [, scheme, token] = /^(Bearer|DPoP) +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (scheme === undefined || token === undefined) return undefined;
  const isBearer = scheme.toLowerCase() === 'bearer';
  return { token, scheme: isBearer ? 'Bearer' : 'DPoP', proof: proofOf(request) };
}

/**
 * One sentence for every reason. The challenge of a bound token has the scheme of such tokens, and with a nonce says that
 * the proof has to carry it.
 * @see RFC 9449 §7.1, §9
 */
export function grantTokenUnauthorized(
  reply: FastifyReply,
  shown: ShownToken | undefined,
  { nonce }: { readonly nonce?: string },
): AppError {
  if (shown?.scheme !== 'DPoP') return unauthorized(reply, shown?.token, GRANT_TOKEN_REFUSED);
  if (nonce !== undefined) reply.header('dpop-nonce', nonce);
  const error = nonce === undefined ? 'invalid_token' : 'use_dpop_nonce';
  reply.header('www-authenticate', `DPoP error="${error}", algs="ES256 RS256 EdDSA"`);
  return grantTokenRefused();
}
