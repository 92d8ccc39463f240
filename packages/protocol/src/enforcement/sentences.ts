import type { ReasonCode, SubReasons } from './reasons.ts';

const DECISION = 'The decision does not allow this call';

type KeyOf<Code extends string, SubReason> = SubReason extends string ? `${Code}/${SubReason}` : Code;
/** A denial as `<code>` or `<code>/<sub-reason>`. */
export type DenialKey = { [Code in ReasonCode]: KeyOf<Code, SubReasons[Code]> }[ReasonCode];
/** Their sentences name the argument: see `argumentDenial`. */
type AboutArgument = 'tool_not_granted/argument_missing' | 'tool_not_granted/argument_not_allowed';

/** A new reason does not compile without its sentence. */
const sentences: Readonly<Record<Exclude<DenialKey, AboutArgument>, string>> = {
  token_invalid: 'The grant token does not verify.',
  'token_invalid/malformed_authorization_details':
    'The authorization_details of the grant token cannot be read.',
  'grant_revoked/revoked': 'The grant was revoked.',
  'grant_revoked/suspended': 'The agent of the grant is suspended.',
  'grant_revoked/parent_revoked': 'A grant above this grant was revoked.',
  'grant_revoked/status_unavailable': 'The state of the grant could not be found out.',
  'manifest_unknown_tool/unknown_connector': 'No manifest is loaded for the connector.',
  'manifest_unknown_tool/unknown_tool': 'The manifest of the connector does not declare the tool.',
  'manifest_unknown_tool/manifest_changed': 'The tool may do more than it did at the consent.',
  'manifest_unknown_tool/tool_changed': 'The definition of the tool is not the one that was approved.',
  'manifest_unknown_tool/tool_ambiguous': 'The server offers two tools with this name.',
  tool_not_granted: 'No scope of the grant names the connector.',
  'tool_not_granted/not_in_authorization_details':
    'The grant lists the tools of the connector, and not this one.',
  'tool_not_granted/argument_unreadable': 'The arguments cannot be checked.',
  'tool_not_granted/policy_denied': 'A policy denies this call.',
  'tool_not_granted/tool_scope_missing': 'The scopes of the grant name the connector, but not this tool.',
  permission_insufficient: 'The grant has a lower permission than the tool demands.',
  region_mismatch: 'The grant keeps the data in another region.',
  'purpose_not_allowed/missing': 'The tool needs a purpose, and the grant has none for the connector.',
  'purpose_not_allowed/unknown_purpose': 'The purpose of the grant is not known.',
  'purpose_not_allowed/not_matched': 'The tool does not serve the purpose of the grant.',
  decision_required: 'The tool needs a decision by a person.',
  'decision_required/malformed': `${DECISION}: it cannot be read.`,
  'decision_required/unknown_grant': `${DECISION}: it is not known here.`,
  'decision_required/wrong_agent': `${DECISION}: it was made for another agent or grant.`,
  'decision_required/wrong_case': `${DECISION}: it was made for another case.`,
  'decision_required/case_changed': `${DECISION}: the case has changed since.`,
  'decision_required/action_mismatch': `${DECISION}: it was made for another action.`,
  'decision_required/expired': `${DECISION}: it has expired.`,
  'decision_required/four_eyes_incomplete': `${DECISION}: a second person has to approve.`,
  'decision_required/same_approver': `${DECISION}: two different people have to approve.`,
  'decision_required/spliced': `${DECISION}: the approvals belong to different requests.`,
  'decision_required/consumed': `${DECISION}: it was used for another call.`,
  'decision_required/revoked': `${DECISION}: it was taken back.`,
  'decision_required/consume_unavailable': `${DECISION}: its issuer gave no answer.`,
  case_required: 'A cap counts by case, and the call names no case.',
  'cap_exceeded/limit_reached': 'The cap is reached.',
  'cap_exceeded/meter_unavailable': 'The caps meter gave no answer.',
  'cap_exceeded/invalid_case_id': 'The case id is malformed.',
  'cap_exceeded/invalid_cost_component': 'The cost components are not those that the tool declares.',
  'cap_exceeded/amount_missing': 'The grant limits the amount, and the call names none.',
  'cap_exceeded/invalid_amount': 'The amount is not a number from 0.',
  'cap_exceeded/malformed_cap': 'The grant limits the amount in a form that cannot be read.',
  'cap_exceeded/amount_cap': 'The amount is above the limit of the grant.',
};

/** Finds the sentence for a reason. Those about arguments are made with the refusal, so here they are empty. */
export function sentenceFor(code: ReasonCode, subReason: string | null): string {
  const all: Readonly<Record<string, string>> = sentences;
  return all[subReason === null ? code : `${code}/${subReason}`] ?? '';
}

/** Every denial as `<code>` or `<code>/<sub-reason>`, for documents and clients that list them. */
export const denialKeys: readonly string[] = [
  ...Object.keys(sentences),
  'tool_not_granted/argument_missing',
  'tool_not_granted/argument_not_allowed',
];
