import type { Denial } from './reasons.ts';
import type { DenialKey } from './sentences.ts';

/** The checks of a call in the order in which they run. @see docs/protocol/enforcement-and-arguments.md */
export const checks = [
  'token',
  'revocation',
  'authorization_details',
  'manifest',
  'tool',
  'listed_tools',
  'scopes',
  'permission',
  'region',
  'amount',
  'purpose',
  'arguments',
  'policies',
  'decision',
  'caps',
] as const;
/** The name of a check. */
export type CheckName = (typeof checks)[number];

/** A new reason does not compile without its check. */
const deniedBy: Readonly<Record<DenialKey, CheckName>> = {
  token_invalid: 'token',
  'token_invalid/malformed_authorization_details': 'authorization_details',
  'grant_revoked/revoked': 'revocation',
  'grant_revoked/suspended': 'revocation',
  'grant_revoked/parent_revoked': 'revocation',
  'grant_revoked/status_unavailable': 'revocation',
  'manifest_unknown_tool/unknown_connector': 'manifest',
  'manifest_unknown_tool/unknown_tool': 'tool',
  'manifest_unknown_tool/manifest_changed': 'tool',
  'manifest_unknown_tool/tool_changed': 'tool',
  'manifest_unknown_tool/tool_ambiguous': 'tool',
  'tool_not_granted/not_in_authorization_details': 'listed_tools',
  tool_not_granted: 'scopes',
  'tool_not_granted/tool_scope_missing': 'scopes',
  permission_insufficient: 'permission',
  region_mismatch: 'region',
  'cap_exceeded/malformed_cap': 'amount',
  'cap_exceeded/amount_missing': 'amount',
  'cap_exceeded/invalid_amount': 'amount',
  'cap_exceeded/amount_cap': 'amount',
  'purpose_not_allowed/missing': 'purpose',
  'purpose_not_allowed/unknown_purpose': 'purpose',
  'purpose_not_allowed/not_matched': 'purpose',
  'tool_not_granted/argument_missing': 'arguments',
  'tool_not_granted/argument_not_allowed': 'arguments',
  'tool_not_granted/argument_unreadable': 'arguments',
  'tool_not_granted/policy_denied': 'policies',
  decision_required: 'decision',
  'decision_required/malformed': 'decision',
  'decision_required/unknown_grant': 'decision',
  'decision_required/wrong_agent': 'decision',
  'decision_required/wrong_case': 'decision',
  'decision_required/case_changed': 'decision',
  'decision_required/action_mismatch': 'decision',
  'decision_required/expired': 'decision',
  'decision_required/four_eyes_incomplete': 'decision',
  'decision_required/same_approver': 'decision',
  'decision_required/spliced': 'decision',
  'decision_required/consumed': 'decision',
  'decision_required/revoked': 'decision',
  'decision_required/consume_unavailable': 'decision',
  case_required: 'caps',
  'cap_exceeded/invalid_case_id': 'caps',
  'cap_exceeded/invalid_cost_component': 'caps',
  'cap_exceeded/limit_reached': 'caps',
  'cap_exceeded/meter_unavailable': 'caps',
};

/** The name of a denial with its sub-reason: `<code>` or `<code>/<sub-reason>`. */
export const denialKeyOf = ({
  reason_code,
  sub_reason,
}: Pick<Denial, 'reason_code' | 'sub_reason'>): string =>
  sub_reason === null ? reason_code : `${reason_code}/${sub_reason}`;

/** Finds the check that gives a denial. @returns undefined for a text that names none */
export function checkOf(denialKey: string): CheckName | undefined {
  const all: Readonly<Record<string, CheckName>> = deniedBy;
  return Object.hasOwn(all, denialKey) ? all[denialKey] : undefined;
}
