import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Proved, ShownToken } from '../../caller.ts';
import { type AppError, GRANT_TOKEN_REFUSED, grantTokenRefused } from '../../errors.ts';
import { anonymousBills, failureBills, tokenCharges } from '../limits/bills.ts';
import { type CallerKind, timesSent, unauthorized } from './credentials.ts';

/** An agent by its grant token, which is charged by its id and never to its developer's plan. Every other costs its address. */
export const grant: CallerKind = {
  chargesAddress: true,
  /** @throws UNAUTHORIZED with one sentence for every reason, RATE_LIMITED */
  async authenticate({ request, reply, charge, limits, credentials }) {
    const shown = shownToken(request);
    const read =
      shown === undefined
        ? { refusal: 'missing' }
        : await credentials.grant({ ...shown, takesExchanged: request.declared.takesExchanged === true });
    if ('refusal' in read) {
      await charge(failureBills(request, limits));
      request.log.info({ reason: read.refusal }, 'grant token refused');
      throw grantTokenUnauthorized(reply, shown, read);
    }
    await charge([...anonymousBills(request, limits), tokenCharges(request, read.tokenId, limits)]);
    return { kind: 'grant', caller: { ...read, requestId: request.id, address: request.ip } };
  },
};

/** Node joins the lines of a header that it does not know; each proof is a text without a comma. */
export function proofOf({ headers, method, url }: FastifyRequest): Proved {
  const sent = [headers.dpop ?? []].flat().flatMap((line) => line.split(','));
  return { proofs: sent, method, path: url.replace(/[?#].*$/s, '') };
}

/** The token of the only `Authorization` line, of either scheme; undefined when there is no such line, or two. */
function shownToken(request: FastifyRequest): ShownToken | undefined {
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
function grantTokenUnauthorized(
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
