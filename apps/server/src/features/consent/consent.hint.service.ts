import { createPublicKey } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import type { ShownRow } from './consent.repo.ts';

const LONGEST_SECONDS = 300;
const CLOCK_SKEW = 60; // seconds that the clock of whoever signs may be ahead of ours

export interface HintIsFor {
  /** Of this service: the audience. */
  readonly issuer: string;
  readonly now: Date;
}

/**
 * Whether a hint vouches for the person of this very request: a JWT of the developer's, signed with a key that is
 * not the API key, so that an agent which holds that one cannot approve for anybody. It may be sent again for its
 * own request while it lasts.
 * @see RFC 8725 §3.11 on explicit types, and RFC 7519 §4.1 for the claims
 */
export async function isGoodHint(hint: string, row: ShownRow, { issuer, now }: HintIsFor): Promise<boolean> {
  const keys = Array.isArray(row.consentKeys) ? row.consentKeys : [];
  const demands = {
    algorithms: ['ES256', 'RS256'],
    typ: 'consent-hint+jwt',
    issuer: row.developerId,
    audience: issuer,
    subject: row.principalId,
    requiredClaims: ['iat', 'exp', 'areq'],
    currentDate: now,
  };
  for (const jwk of keys) {
    // Each key is tried: a hint need not name its own, and a name proves nothing.
    const key = createPublicKey({ key: Object(jwk), format: 'jwk' });
    const verified = await jwtVerify(hint, key, demands).catch(refused);
    if (!verified) continue;
    const { iat = 0, exp = 0, areq } = verified.payload;
    const isTimely = exp - iat <= LONGEST_SECONDS && iat <= now.getTime() / 1000 + CLOCK_SKEW;
    return areq === row.id && isTimely;
  }
  return false;
}

/** The key is of another kind than the hint says: a TypeError to the library. */
function refused(error: unknown): undefined {
  if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
  console.log(error); throw error;
}
