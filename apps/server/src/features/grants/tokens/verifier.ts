import type { Refused } from '@behest/protocol/token-refusal';
import { createTokenVerifier, type VerifiedGrant } from '@behest/protocol/token-verifier';
import { LRUCache } from 'lru-cache';
import { hashOf } from '../../../platform/ids.ts';
import { definePart } from '../../../platform/parts.ts';
import { verifySignature } from '../../service/keys/index.ts';
import type { TokenDeps } from './issue.ts';

const MOST = 5000; // tokens, of some 2 kB each

/** Checks form, signature, times and claims of a token as of a time. Whether it was revoked, only the database knows. */
export type VerifyOwn = (token: string, now: Date) => VerifiedGrant | Refused;

/** One for the process, so that a token is verified once whatever route it comes to. */
export const grantTokenVerifier = definePart<VerifyOwn>('the verifier of grant tokens');

interface Remembered {
  readonly verified: VerifiedGrant;
  /** The time at which it was verified. At any later one before its end, the answer is the same. */
  readonly from: Date;
  readonly keys: object;
}

/**
 * The verifier of the service's own tokens. It remembers good ones by their hashes, because agents show one token many
 * times, and a signature costs more to check than all else that the process does about the token.
 */
export function ownVerifier({
  keyRing,
  issuer,
  maxGrantLifetimeSeconds,
}: Pick<TokenDeps, 'keyRing' | 'issuer' | 'maxGrantLifetimeSeconds'>): VerifyOwn {
  const remembered = new LRUCache<string, Remembered>({ max: MOST });
  const { verify } = createTokenVerifier({
    keys: () => keyRing.verificationKeys(),
    issuer,
    maxLifetimeSeconds: maxGrantLifetimeSeconds,
    storedGrantDecides: true,
    verifySignature,
  });

  /** The proof of a bound token's key is for the caller to check, who knows where it came. */
  const verifyBound: VerifyOwn = (token, now) => {
    const result = verify(token, { now });
    if (result.ok || result.reason !== 'dpop_required') return result;
    const provedKeyThumbprint = claimedThumbprint(token);
    return provedKeyThumbprint === undefined ? result : verify(token, { now, provedKeyThumbprint });
  };

  return (token, now) => {
    const hash = hashOf(token).toString('base64url');
    const keys = keyRing.verificationKeys();
    const known = remembered.get(hash);
    const isGood = known?.keys === keys && known.from <= now && now < known.verified.claims.expiresAt;
    if (isGood) return known.verified;
    const result = verifyBound(token, now);
    if (result.ok) remembered.set(hash, { verified: result, from: now, keys });
    return result;
  };
}

/** The key that a token names, of which every other check has passed. */
function claimedThumbprint(token: string): string | undefined {
  const { cnf } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return typeof cnf?.jkt === 'string' ? cnf.jkt : undefined;
}
