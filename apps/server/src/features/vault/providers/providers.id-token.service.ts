import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Clock } from '../../../platform/clock.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { isSameText } from '../../../platform/ids.ts';
import { objectIn } from './providers.discovery.service.ts';
import type { Found } from './providers.found.rules.ts';

interface Expected {
  readonly found: Pick<Found, 'issuer' | 'idTokenAlgorithms'>;
  readonly clientId: string;
  readonly nonce: string;
  readonly accessToken: string;
  readonly clock: Clock;
}

const SKEW_SECONDS = 60;
const OLDEST_SECONDS = 600;

/** Reads the keys of an issuer. @returns undefined when it does not answer with a set of keys */
export async function readKeySet(
  egress: Egress,
  { jwksUri }: Pick<Found, 'jwksUri'>,
): Promise<JSONWebKeySet | undefined> {
  if (jwksUri === null) return undefined;
  const answer = await egress.ask({ url: jwksUri, method: 'GET', headers: { accept: 'application/json' } });
  const keys = answer.failure === undefined && answer.status === 200 ? objectIn(answer.body) : undefined;
  return Array.isArray(keys?.keys) ? (keys as unknown as JSONWebKeySet) : undefined; // jose checks each key that it uses
}

/**
 * Checks an ID token of the code flow.
 * @returns its claims, or undefined for a token that proves nothing here
 * @see OpenID Connect Core 1.0, section 3.1.3.7
 */
export async function readIdToken(
  token: unknown,
  keys: JSONWebKeySet,
  { found, clientId, nonce, accessToken, clock }: Expected,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (typeof token !== 'string' || found.issuer === null) return undefined;
  try {
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer: found.issuer,
      audience: clientId,
      algorithms: [...found.idTokenAlgorithms],
      clockTolerance: SKEW_SECONDS,
      maxTokenAge: OLDEST_SECONDS,
      currentDate: clock(),
      requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
    });
    const { aud, azp, at_hash: hash, nonce: said } = payload;
    const several = Array.isArray(aud) && aud.length > 1;
    const isForUs = azp === undefined ? !several : azp === clientId;
    const isOurs = typeof said === 'string' && isSameText(said, nonce);
    const isBound = hash === undefined || hash === halfHash(protectedHeader.alg, accessToken);
    return isForUs && isOurs && isBound ? payload : undefined;
  } catch {
    return undefined; // jose throws for every token that is not good, and its words are about the upstream's token
  }
}

/** OpenID Connect Core 1.0, section 3.1.3.6. */
function halfHash(algorithm: string, accessToken: string): string {
  const name = algorithm === 'EdDSA' ? 'sha512' : `sha${algorithm.slice(-3)}`;
  const digest = createHash(name).update(accessToken).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
