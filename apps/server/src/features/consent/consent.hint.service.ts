import { errors, type JWK, jwtVerify } from 'jose';
import type { ShownRow } from './consent.repo.ts';

const LONGEST_SECONDS = 300;
const CLOCK_SKEW = 60; // seconds that the clock of whoever signs may be ahead of ours

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
export async function readHint(
  hint: string,
  row: ShownRow,
  { issuer, now }: HintIsFor,
): Promise<GoodHint | undefined> {
  const keys: JWK[] = Array.isArray(row.consentKeys) ? row.consentKeys.map(Object) : [];
  const demands = {
    algorithms: ['ES256', 'RS256'],
    typ: 'consent-hint+jwt',
    issuer: row.developerId,
    audience: issuer,
    subject: row.principalId,
    requiredClaims: ['iat', 'exp', 'areq'],
    currentDate: now,
  };
  // Each is tried: a hint need not name its key, and a name proves nothing.
  for (const key of keys) {
    const verified = await jwtVerify(hint, key, demands).catch(refused);
    if (!verified) continue;
    const { iat = 0, exp = 0, areq } = verified.payload;
    const isTimely = exp - iat <= LONGEST_SECONDS && iat <= now.getTime() / 1000 + CLOCK_SKEW;
    if (areq !== row.id || !isTimely) return undefined;
    return { email: addressIn(verified.payload.email) };
  }
  return undefined;
}

/** One address, so that a mail to it goes to nobody else. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,190}$/;

const addressIn = (claim: unknown) => (typeof claim === 'string' && ADDRESS.test(claim) ? claim : undefined);

/** A key of another algorithm than the hint's is a TypeError to the library. */
function refused(error: unknown): undefined {
  if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
  throw error;
}
