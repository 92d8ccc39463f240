import type { MoveRefusal } from './ports.ts';
import { sentenceFor } from './sentences.ts';

/** The reason codes, and the sub-reasons of each. New reason codes need a major version. */
export interface SubReasons {
  token_invalid: 'malformed_authorization_details' | null;
  grant_revoked: 'revoked' | 'suspended' | 'parent_revoked' | 'status_unavailable';
  manifest_unknown_tool:
    | 'unknown_connector'
    | 'unknown_tool'
    | 'manifest_changed'
    | 'tool_changed'
    | 'tool_ambiguous';
  tool_not_granted:
    | 'not_in_authorization_details'
    | 'tool_scope_missing'
    | 'argument_missing'
    | 'argument_not_allowed'
    | 'argument_unreadable'
    | 'policy_denied'
    | null;
  permission_insufficient: null;
  region_mismatch: null;
  purpose_not_allowed: 'missing' | 'unknown_purpose' | 'not_matched';
  decision_required: MoveRefusal | null;
  case_required: null;
  cap_exceeded:
    | 'limit_reached'
    | 'meter_unavailable'
    | 'invalid_case_id'
    | 'invalid_cost_component'
    | 'amount_missing'
    | 'invalid_amount'
    | 'malformed_cap'
    | 'amount_cap';
}
/** The stable name of a denial. */
export type ReasonCode = keyof SubReasons;

/** Why a token was refused, for logs and metrics; several refusals of a verifier share one. */
export type TokenCause =
  | 'missing'
  | 'malformed'
  | 'type'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'not_yet_valid'
  | 'claims'
  | 'developer'
  | 'sandbox'
  | 'keys_unavailable'
  | 'internal';

/** The members of `details`, in snake_case. They hold no argument's value and no secret. */
export type Details = Readonly<Record<string, unknown>>;

interface DenialOf<Code extends ReasonCode> {
  readonly reason_code: Code;
  readonly sub_reason: SubReasons[Code];
  readonly details: Details;
  /** One sentence for the caller. */
  readonly reason: string;
}
/** One denial. The reason code decides which sub-reasons it can have. */
export type Denial = { [Code in ReasonCode]: DenialOf<Code> }[ReasonCode];

/** Makes a denial. The compiler refuses a sub-reason that the code does not have. */
export function deny<Code extends ReasonCode>(
  reason_code: Code,
  sub_reason: SubReasons[Code],
  details: Details = {},
  reason = sentenceFor(reason_code, sub_reason),
): Denial {
  // The parameters agree with each other; TypeScript does not follow that through the union.
  return { reason_code, sub_reason, details, reason } as Denial;
}
