import { findKey, type KeySet, type OneKey, signatureLength, type VerificationJwk } from './key-set.ts';
import { namesResource } from './resource-uri.ts';
import { checkTimes, type TimeRules, type TokenKindName, tokenKinds } from './token-kinds.ts';
import { readTokenParts, type TokenAlgorithm, type TokenHeader, type TokenParts } from './token-parts.ts';
import { type Refused, refused } from './token-refusal.ts';

/** The input of a signature check. An ES256 signature is r and s, 32 bytes each (RFC 7518, section 3.4). */
export interface SignatureToCheck<Key> {
  readonly alg: TokenAlgorithm;
  readonly key: Key;
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** The settings of a verifier. */
export interface VerifierSetup<Key extends VerificationJwk> extends TimeRules {
  /** The verifier calls this for each token, so that keys may change while the verifier lives. */
  readonly keys: () => KeySet<Key> | OneKey<Key>;
  /** The value that `iss` has to have, byte for byte. */
  readonly issuer: string;
}

/** The circumstances of one verification. */
export interface Expected {
  readonly now: Date;
  /** The audience that the token has to name. Without it the verifier accepts a token for any audience. */
  readonly audience?: string;
}

/** A token with a good signature, issuer, audience and time. */
export interface Verified {
  readonly ok: true;
  readonly header: TokenHeader;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A signature that cannot be checked proves nothing, so an exception counts as false. */
export function isGenuine<Key>(
  { verifySignature }: { readonly verifySignature: (check: SignatureToCheck<Key>) => boolean },
  check: SignatureToCheck<Key>,
): boolean {
  try {
    return verifySignature(check);
  } catch {
    return false;
  }
}

/** As `isGenuine`, for a check that is asynchronous. */
export async function isGenuineLater<Key>(
  { verifySignature }: { readonly verifySignature: (check: SignatureToCheck<Key>) => Promise<boolean> },
  check: SignatureToCheck<Key>,
): Promise<boolean> {
  try {
    return await verifySignature(check);
  } catch {
    return false;
  }
}

/** @throws RangeError when a tolerance is not 0 to 60 seconds */
export function mustBeTolerances({ expirySkewSeconds = 0, startSkewSeconds = 0 }: TimeRules): void {
  for (const seconds of [expirySkewSeconds, startSkewSeconds]) {
    if (!(seconds >= 0 && seconds <= 60))
      throw new RangeError(`The tolerance ${seconds} is out of range: use 0 to 60 seconds.`);
  }
}

/** Makes every refusal that needs no signature check, and prepares that check. */
export function beforeSignature<Key extends VerificationJwk>(
  { keys }: VerifierSetup<Key>,
  kind: TokenKindName,
  token: unknown,
): { ok: true; parts: TokenParts; check: SignatureToCheck<Key> } | Refused {
  const parts = readTokenParts(token, kind);
  if (!parts.ok) return parts;
  const { header, signed, signature } = parts;
  const found = findKey(header, keys());
  if (!found.ok) return found;
  // Some primitives accept DER, padding or a cut signature. The exact length refuses all three.
  if (signature.length !== signatureLength(header.alg, found.key)) return refused('bad_signature');
  return { ok: true, parts, check: { alg: header.alg, key: found.key, signed, signature } };
}

/** Checks the claims that every kind of token has in common. */
export function afterSignature(
  setup: VerifierSetup<VerificationJwk>,
  { header, payload }: TokenParts,
  { kind, now, audience, issuer = setup.issuer }: Expected & { kind: TokenKindName; issuer?: string },
): Verified | Refused {
  if (tokenKinds[kind].hasIssuer && payload.iss !== issuer) return refused('issuer_mismatch');
  const fault = checkTimes(payload, { rules: setup, now, kind });
  if (fault) return refused(fault);
  if (audience !== undefined && !namesResource(payload.aud, audience)) return refused('audience_mismatch');
  return { ok: true, header, payload };
}
