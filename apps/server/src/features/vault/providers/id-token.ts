import { createHash } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Clock } from '../../../platform/clock.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { isSameText } from '../../../platform/ids.ts';
import { objectIn } from './discovery.ts';
import type { Found } from './found.rules.ts';

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

/** Why an ID token proves nothing here. */
export type IdTokenFault =
  | 'missing'
  | 'malformed'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'nonce'
  | 'expired'
  | 'too_old'
  | 'not_yet_valid'
  | 'claim'
  | 'at_hash';

/** @see OpenID Connect Core 1.0, section 3.1.3.7 */
type IdTokenRead =
  | { readonly claims: Readonly<Record<string, unknown>> }
  | { readonly fault: IdTokenFault /** The value in its place. */; readonly said?: string };

/** Checks an ID token of the code flow. */
export async function readIdToken(
  token: unknown,
  keys: JSONWebKeySet,
  { found, clientId, nonce, accessToken, clock }: Expected,
): Promise<IdTokenRead> {
  if (typeof token !== 'string' || token === '') return { fault: 'missing' };
  if (found.issuer === null) return { fault: 'issuer' };
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
    if (!isForUs) return { fault: 'audience', said: String(azp ?? aud) };
    if (typeof said !== 'string' || !isSameText(said, nonce)) return { fault: 'nonce' };
    const isBound = hash === undefined || hash === halfHash(protectedHeader.alg, accessToken);
    return isBound ? { claims: payload } : { fault: 'at_hash' };
  } catch (error) {
    return faultOf(error);
  }
}

const BY_CLAIM: Readonly<Record<string, IdTokenFault>> = {
  iss: 'issuer',
  aud: 'audience',
  nonce: 'nonce',
  nbf: 'not_yet_valid',
  iat: 'not_yet_valid',
};

/** The words of the library are about the token of somebody else; its classes say which check failed. */
function faultOf(error: unknown): IdTokenRead {
  if (error instanceof errors.JWTExpired) return { fault: error.claim === 'iat' ? 'too_old' : 'expired' };
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, payload } = error;
    const said = claim === 'iss' || claim === 'aud' ? payload[claim] : undefined;
    const isThere = error.reason === 'check_failed' || said !== undefined || claim === 'nonce';
    const fault = (isThere ? BY_CLAIM[claim] : undefined) ?? 'claim';
    return { fault, ...(said !== undefined && { said: String(said) }) };
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return { fault: 'algorithm' };
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return { fault: 'key' };
  if (error instanceof errors.JWSSignatureVerificationFailed) return { fault: 'signature' };
  return { fault: 'malformed' };
}

/** OpenID Connect Core 1.0, section 3.1.3.6. */
function halfHash(algorithm: string, accessToken: string): string {
  const name = algorithm === 'EdDSA' ? 'sha512' : `sha${algorithm.slice(-3)}`;
  const digest = createHash(name).update(accessToken).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
