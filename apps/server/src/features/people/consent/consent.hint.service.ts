import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createTokenVerifier } from '@behest/protocol/token-verifier';
import { verificationKey, verifySignature } from '../../service/keys/index.ts';
import type { ShownRow } from './consent.repo.ts';

const LONGEST_SECONDS = 300;

/** What a hint that is good says beside whom it is for. */
export interface GoodHint {
  /** Where the developer reaches the person. */
  readonly email: string | undefined;
}

export interface HintIsFor {
  /** Of this service: the audience. */
  readonly issuer: string;
  readonly now: Date;
}

/**
 * What a hint says, if it vouches for the person of this very request: a JWT of the developer's, signed with a key that is
 * not the API key, so that an agent which holds that one cannot approve for anybody. It may be sent again for its
 * own request while it lasts. @returns undefined when it does not
 * @see RFC 8725 §3.11 on explicit types, and RFC 7519 §4.1 for the claims
 */
export function readHint(hint: string, row: ShownRow, { issuer, now }: HintIsFor): GoodHint | undefined {
  const keys: JsonWebKey[] = Array.isArray(row.consentKeys) ? row.consentKeys.map(Object) : [];
  // Each is tried: a hint need not name its key, and a name proves nothing.
  for (const key of keys) {
    const { jwk, publicKey } = verificationKey(createPublicKey({ key, format: 'jwk' }));
    const only = { ...jwk, publicKey };
    const verifier = createTokenVerifier({
      keys: () => ({ only }),
      issuer: row.developerId,
      verifySignature,
    });
    const verified = verifier.verifyAs('consent-hint', hint, { now, audience: issuer });
    if (!verified.ok) continue;
    const { iat, exp, sub, areq, email } = verified.payload;
    const isTimely = typeof iat === 'number' && Number(exp) - iat <= LONGEST_SECONDS;
    if (sub !== row.principalId || areq !== row.id || !isTimely) return undefined;
    return { email: addressIn(email) };
  }
  return undefined;
}

/** One address, so that a mail to it goes to nobody else. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,190}$/;

const addressIn = (claim: unknown) => (typeof claim === 'string' && ADDRESS.test(claim) ? claim : undefined);
