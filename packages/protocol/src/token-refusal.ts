/**
 * The reason why a token was refused. Write it to logs, and show it to the token's owner. Tell the party that
 * presents a token only that it was refused.
 */
export type TokenRefusal =
  | 'malformed'
  | 'header_not_allowed'
  | 'alg_not_allowed'
  | 'typ_not_allowed'
  | 'key_not_found'
  | 'key_inconsistent'
  | 'bad_signature'
  | 'issuer_mismatch'
  | 'expired'
  | 'not_yet_valid'
  | 'audience_mismatch'
  | 'claims_missing'
  | 'claims_inconsistent'
  | 'developer_mismatch'
  | 'sandbox_not_allowed'
  | 'dpop_required';

/** The result for a refused token. */
export interface Refused {
  readonly ok: false;
  readonly reason: TokenRefusal;
}

/** Makes the result for a refused token. */
export function refused(reason: TokenRefusal): Refused {
  return { ok: false, reason };
}
