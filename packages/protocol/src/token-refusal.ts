/** Why a token was refused. For its owner and for logs: whoever presents one learns only that it was. */
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
  | 'dpop_required';

export interface Refused {
  readonly ok: false;
  readonly reason: TokenRefusal;
}

export function refused(reason: TokenRefusal): Refused {
  return { ok: false, reason };
}
