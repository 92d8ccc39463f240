import type { Result } from '@behest/sdk/enforce';

/** A denial leads to one of these. `fix` is for you, and no agent can do anything about it. */
export type NextStep = 'refresh' | 'ask the person' | 'other arguments' | 'wait' | 'fix';

/** @returns undefined for a call that is allowed */
export function afterDenial(result: Pick<Result, 'allowed' | 'reason_code' | 'sub_reason' | 'details'>) {
  if (result.allowed) return undefined;
  return STEPS[`${result.reason_code} ${result.sub_reason}`] ?? STEPS[String(result.reason_code)] ?? 'fix';
}

const STEPS: Readonly<Record<string, NextStep>> = {
  token_invalid: 'refresh',
  'token_invalid malformed_authorization_details': 'fix',
  grant_revoked: 'ask the person',
  'grant_revoked suspended': 'wait',
  'grant_revoked status_unavailable': 'wait',
  'manifest_unknown_tool manifest_changed': 'ask the person',
  tool_not_granted: 'ask the person',
  'tool_not_granted argument_missing': 'other arguments',
  'tool_not_granted argument_not_allowed': 'other arguments',
  'tool_not_granted argument_unreadable': 'other arguments',
  'tool_not_granted policy_denied': 'fix',
  permission_insufficient: 'ask the person',
  purpose_not_allowed: 'ask the person',
  decision_required: 'ask the person',
  cap_exceeded: 'wait',
  'cap_exceeded amount_missing': 'fix',
  'cap_exceeded invalid_amount': 'fix',
  'cap_exceeded invalid_case_id': 'fix',
  'cap_exceeded invalid_cost_component': 'fix',
  'cap_exceeded malformed_cap': 'fix',
  'cap_exceeded amount_cap': 'other arguments',
};
