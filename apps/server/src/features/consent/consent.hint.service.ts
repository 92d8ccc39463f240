import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import type { ShownRow } from './consent.repo.ts';

const LONGEST_SECONDS = 300;

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
    // One key at a time: a hint need not name its key, and a set refuses one that two could have signed.
    const set: JSONWebKeySet = { keys: [{ ...Object(jwk), kid: undefined }] };
    const verified = await jwtVerify(hint, createLocalJWKSet(set), demands).catch(refused);
    if (!verified) continue;
    const { iat = 0, exp = 0, areq } = verified.payload;
    return areq === row.id && exp - iat <= LONGEST_SECONDS;
  }
  return false;
}

function refused(error: unknown): undefined {
  if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
  throw error;
}
