import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createKindVerifier } from '@behest/protocol/kind-verifier';
import { thumbprintsOf } from '../../accounts/developers/index.ts';
import { verificationKey, verifySignature } from '../../service/keys/index.ts';
import type { ShownRow } from './consent.repo.ts';

const LONGEST_SECONDS = 300;

/** The claims of a good hint, besides those that name the person. */
export interface GoodHint {
  /** The developer reaches the person at this address. */
  readonly email: string | undefined;
  /** Identifies the consent key that signed it. @see RFC 7638 */
  readonly keyThumbprint: string;
}

export interface HintIsFor {
  /** This service, which must be the audience. */
  readonly issuer: string;
  readonly now: Date;
}

/**
 * Reads a hint, the developer's JWT that vouches for the person of this request. The developer signs it with
 * a consent key, not with the API key, so an agent that holds the API key cannot approve. A hint works for
 * its own request until it expires. @returns undefined unless the hint vouches for this person and this
 * request
 * @see RFC 8725 §3.11 on explicit types, and RFC 7519 §4.1 for the claims
 */
export function readHint(hint: string, row: ShownRow, { issuer, now }: HintIsFor): GoodHint | undefined {
  const keys: JsonWebKey[] = Array.isArray(row.consentKeys) ? row.consentKeys.map(Object) : [];
  const thumbprints = thumbprintsOf(row.consentKeys);
  // A hint need not name its key, and a name proves nothing, so each key is tried.
  for (const [at, key] of keys.entries()) {
    const { jwk, publicKey } = verificationKey(createPublicKey({ key, format: 'jwk' }));
    const only = { ...jwk, publicKey };
    const verify = createKindVerifier('consent-hint', {
      keys: () => ({ only }),
      issuer: row.developerId,
      verifySignature,
    });
    const verified = verify(hint, { now, audience: issuer });
    if (!verified.ok) continue;
    const { iat, exp, sub, areq, email } = verified.payload;
    const isTimely = typeof iat === 'number' && Number(exp) - iat <= LONGEST_SECONDS;
    if (sub !== row.principalId || areq !== row.id || !isTimely) return undefined;
    return { email: addressIn(email), keyThumbprint: thumbprints[at] ?? '' };
  }
  return undefined;
}

/** A single address, so the mail reaches nobody else. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,190}$/;

const addressIn = (claim: unknown) => (typeof claim === 'string' && ADDRESS.test(claim) ? claim : undefined);
