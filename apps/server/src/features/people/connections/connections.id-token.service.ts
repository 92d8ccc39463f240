import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { isSameText } from '../../../platform/ids.ts';
import { type Found, objectIn } from '../../vault/providers/index.ts';
import type { ConnectDeps } from './connections.deps.service.ts';

interface Expected {
  readonly found: Found;
  readonly clientId: string;
  readonly nonce: string;
  readonly accessToken: string;
}

const SKEW_SECONDS = 60;
const OLDEST_SECONDS = 600;

/**
 * Checks an ID token of the code flow.
 * @returns its claims, or undefined for a token that proves nothing here
 * @see OpenID Connect Core 1.0, section 3.1.3.7
 */
export async function readIdToken(
  { connected, clock }: Pick<ConnectDeps, 'connected' | 'clock'>,
  token: unknown,
  { found, clientId, nonce, accessToken }: Expected,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (typeof token !== 'string' || found.jwksUri === null || found.issuer === null) return undefined;
  const headers = { accept: 'application/json' };
  const answer = await connected.ask({ url: found.jwksUri, method: 'GET', headers });
  const keys = answer.failure === undefined && answer.status === 200 ? objectIn(answer.body) : undefined;
  if (!Array.isArray(keys?.keys)) return undefined;
  try {
    const keySet = createLocalJWKSet(keys as unknown as JSONWebKeySet); // jose checks each key that it uses
    const { payload, protectedHeader } = await jwtVerify(token, keySet, {
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
