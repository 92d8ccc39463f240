import type { Egress } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { AppError } from '../../../platform/errors.ts';
import { objectIn } from '../../vault/providers/index.ts';

const unusable = (step: string, reason: string) =>
  new AppError('DISCOVERY_FAILED', 'The issuer cannot be used as it describes itself.', { step, reason });

/**
 * Finds the address of an issuer's keys in its metadata, which name the issuer itself.
 * @throws DISCOVERY_FAILED
 * @see OpenID Connect Discovery 1.0, section 4
 */
export async function findJwksUri(upstream: Egress, issuer: string): Promise<string> {
  if (!acceptUrl(issuer, upstream.rules)) throw unusable('issuer', 'blocked_address');
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await upstream.ask({ url, method: 'GET', headers: { accept: 'application/json' } });
  if (answer.failure !== undefined) throw unusable('fetch', answer.failure);
  const document = answer.status === 200 ? objectIn(answer.body) : undefined;
  if (!document) throw unusable('fetch', 'no_metadata');
  if (document.issuer !== issuer) throw unusable('issuer', 'mismatch');
  return mustBeReachable(upstream, String(document.jwks_uri));
}

/** @throws DISCOVERY_FAILED */
export function mustBeReachable(upstream: Egress, jwksUri: string): string {
  if (!acceptUrl(jwksUri, upstream.rules)) throw unusable('jwks_uri', 'blocked_address');
  return jwksUri;
}
