import { matchesPurpose } from '@behest/protocol/purpose-patterns';
import { toolLevels } from '@behest/protocol/tool-scopes';
import { type Answer, type Current, declaredNow, textOf } from './answer.rules.ts';
import type { Change } from './explanations.schema.ts';

type Asked = Answer & { readonly now: Current };

/**
 * The smallest changes of which each would pass the check that denied a call. It says what the entry and the present state
 * say, and no more: later checks were not reached.
 */
export function changesFor(answer: Answer, now: Current): Change[] {
  const { denialKey = '' } = answer;
  const asked = { ...answer, now };
  if (isOver[denialKey]?.(asked)) {
    return [change('agent', 'call', 'Call again: what denied the call has changed since.')];
  }
  return CHANGES[denialKey]?.(asked) ?? [];
}

/** Whether what denied a call is different now, for denials where that can be told. */
const isOver: Readonly<Record<string, (asked: Asked) => boolean>> = {
  'grant_revoked/suspended': ({ now }) => now.agentStatus === 'active',
  'manifest_unknown_tool/unknown_connector': ({ now }) => now.manifest !== undefined,
  'manifest_unknown_tool/unknown_tool': (asked) => declaredNow(asked, asked.now) !== undefined,
  'tool_not_granted/policy_denied': ({ data, now }) =>
    data.policyId !== undefined && now.policy?.effect !== 'deny',
  permission_insufficient(asked) {
    const [granted, needed] = [levelOf(textOf(asked, 'granted')), levelOf(neededNow(asked))];
    return granted >= 0 && needed >= 0 && granted >= needed;
  },
  'purpose_not_allowed/not_matched'(asked) {
    const { purpose } = asked.entry;
    const patterns = declaredNow(asked, asked.now)?.allowed_purposes;
    if (!declaredNow(asked, asked.now) || purpose === null) return false;
    return !patterns || patterns.some((pattern) => matchesPurpose(pattern, purpose));
  },
  decision_required(asked) {
    const declared = declaredNow(asked, asked.now);
    return declared !== undefined && !declared.requires_decision;
  },
  'cap_exceeded/limit_reached'(asked) {
    const retryAt = textOf(asked, 'retryAt');
    return retryAt !== undefined && Date.parse(retryAt) <= asked.now.asOf.getTime();
  },
};

const levelOf = (level: string | undefined) => (toolLevels as readonly unknown[]).indexOf(level);
const neededNow = (asked: Asked) => declaredNow(asked, asked.now)?.permission;

function change(
  by: Change['by'],
  kind: Change['target']['kind'],
  text: string,
  id?: string | null,
  place?: string,
): Change {
  return { by, text, target: { kind, id: id ?? null, place: place ?? null } };
}

type Make = (asked: Asked) => Change[];

const retry = (): Change[] => [
  change('agent', 'call', 'Call again. If it stays so, look at the state of the service.'),
];
const renewToken = (text: string) => (): Change[] => [change('agent', 'token', text)];
const newDecision =
  (text: string): Make =>
  ({ data }) => [change('agent', 'decision', text, data.decisionId)];
const fixCall = (text: string) => (): Change[] => [change('agent', 'call', text)];

/** @param more scopes that the grant does not have */
function askPerson(
  { entry, now }: Asked,
  text: string,
  more: readonly string[] = [],
  purpose = entry.purpose,
): Change {
  const { agentId, principalId } = entry;
  const scopes = [...new Set([...(now.grant?.scopes ?? []), ...more])];
  const asked = change('person', 'consent', text, entry.grantId);
  if (agentId === null || principalId === null || scopes.length === 0) return asked;
  return { ...asked, consent: { agentId, principalId, scopes, ...(purpose !== null && { purpose }) } };
}

const changeManifest = ({ data }: Asked, text: string, place?: string) =>
  change('developer', 'manifest', text, data.connector, place && `tools.${data.tool}${place}`);

/** The scope that a call of the tool needs. The level is what the manifest demands now. */
function neededScope(asked: Asked): string[] {
  const level = neededNow(asked) ?? asked.data.permission;
  return level === undefined || asked.data.connector === undefined
    ? []
    : [`tool:${asked.data.connector}:${level}`];
}

const consentToTool: Make = (asked) => {
  const [scope] = neededScope(asked);
  const words = scope === undefined ? 'a scope of the connector' : `the scope \`${scope}\``;
  return [askPerson(asked, `The person consents to ${words}.`, neededScope(asked))];
};

const consentAgain =
  (text: string): Make =>
  (asked) => [askPerson(asked, text)];

const CHANGES: Readonly<Record<string, Make>> = {
  token_invalid: (asked) => [
    change('agent', 'token', TOKEN_TEXTS[textOf(asked, 'cause') ?? ''] ?? ANY_TOKEN),
  ],
  'token_invalid/malformed_authorization_details': renewToken(
    'Get a new token for the grant. If it is denied too, the gateway is older than the token: update it.',
  ),
  'grant_revoked/revoked': consentAgain('The person consents again: a revoked grant stays revoked.'),
  'grant_revoked/parent_revoked': consentAgain(
    'The person consents again for the agent above, which delegates to this agent again.',
  ),
  'grant_revoked/suspended': ({ entry }) => [
    change(
      'developer',
      'agent',
      'Resume the agent, or the account if all of it was stopped.',
      entry.agentId,
      'status',
    ),
  ],
  'grant_revoked/status_unavailable': retry,
  'manifest_unknown_tool/unknown_connector': (asked) => [
    changeManifest(
      asked,
      `Write a manifest for the connector \`${asked.data.connector ?? ''}\` that declares the tool.`,
    ),
    fixName('connector'),
  ],
  'manifest_unknown_tool/unknown_tool': (asked) => [
    changeManifest(asked, `Declare the tool \`${asked.data.tool ?? ''}\` in the manifest.`, ''),
    fixName('tool'),
  ],
  'manifest_unknown_tool/manifest_changed': (asked) => [
    askPerson(asked, 'The person consents to the tool as it is now.'),
    changeManifest(asked, 'Make the tool no wider than it was at the consent.', ''),
  ],
  'manifest_unknown_tool/tool_changed': (asked) => [changeManifest(asked, offeredText(asked), '.mcp_pins')],
  'manifest_unknown_tool/tool_ambiguous': fixCall('Rename one of the two tools that the server offers.'),
  tool_not_granted: consentToTool,
  'tool_not_granted/tool_scope_missing': consentToTool,
  'tool_not_granted/not_in_authorization_details': (asked) => [
    askPerson(
      asked,
      `The person consents to authorization details whose entry for \`${asked.data.connector ?? ''}\` lists \`${asked.data.tool ?? ''}\`.`,
    ),
  ],
  'tool_not_granted/argument_missing': (asked) => [
    change('agent', 'call', `Send the argument${at(asked)}.`),
    loosenRule(asked),
  ],
  'tool_not_granted/argument_not_allowed': (asked) => [
    change('agent', 'call', argumentText(asked)),
    loosenRule(asked),
  ],
  'tool_not_granted/argument_unreadable': fixCall(
    'Send the arguments as a plain JSON object, with numbers that a double holds exactly.',
  ),
  'tool_not_granted/policy_denied': ({ data }) => [
    change('developer', 'policy', 'Change the conditions of the policy, or delete it.', data.policyId),
  ],
  permission_insufficient: (asked) => [
    ...consentToTool(asked),
    changeManifest(
      asked,
      `If the tool needs no more, declare it as \`${textOf(asked, 'granted') ?? 'a lower level'}\`.`,
      '.permission',
    ),
  ],
  region_mismatch: fixCall('Call the gateway of the region that the grant names.'),
  'purpose_not_allowed/missing': consentToPurpose,
  'purpose_not_allowed/unknown_purpose': consentToPurpose,
  'purpose_not_allowed/not_matched': (asked) => [
    ...consentToPurpose(asked),
    changeManifest(
      asked,
      `Let the tool serve the purpose \`${asked.entry.purpose ?? ''}\`.`,
      '.allowed_purposes',
    ),
  ],
  decision_required: newDecision(
    'Ask for a decision about this call, and call again with the decision grant.',
  ),
  ...Object.fromEntries(
    Object.entries({
      malformed: 'Send the decision grant as it was issued, and the arguments as they were approved.',
      unknown_grant: 'Send a decision grant of this account.',
      wrong_agent: 'Ask for a decision for this agent and grant.',
      wrong_case: 'Send the case id for which the decision was made, or ask for a decision about this case.',
      case_changed: 'Ask for a decision about the case as it is now.',
      action_mismatch: 'Send the arguments that were approved, or ask for a decision about these.',
      expired: 'Ask for a new decision.',
      four_eyes_incomplete: 'Wait for the second approval, and send both decision grants.',
      same_approver: 'A second person has to approve.',
      spliced: 'Send the two approvals of one request.',
      consumed: 'Ask for a new decision: one serves one call.',
      revoked: 'Ask for a new decision: this one was taken back.',
      consume_unavailable: 'Call again with the same call id.',
    }).map(([subReason, text]) => [`decision_required/${subReason}`, newDecision(text)]),
  ),
  case_required: fixCall('Send `caseId`: a cap counts by case.'),
  'cap_exceeded/limit_reached': raiseCap,
  'cap_exceeded/meter_unavailable': () => [
    change('operator', 'service', 'See that the meter of caps answers. Calls without caps go on.'),
  ],
  'cap_exceeded/amount_cap': (asked) => [
    change('agent', 'call', `Send an amount of at most ${asked.details.limit ?? 'what the scope allows'}.`),
    askPerson(
      asked,
      `The person consents to a scope with an amount of ${asked.data.amount ?? 'the call'} or above.`,
    ),
  ],
  'cap_exceeded/amount_missing': fixCall('Send `amount`: a scope of the grant bounds it.'),
  'cap_exceeded/invalid_amount': fixCall('Send `amount` as a number from 0 on.'),
  'cap_exceeded/malformed_cap': consentAgain('The person consents to scopes whose amount can be read.'),
  'cap_exceeded/invalid_case_id': fixCall(
    'Send a `caseId` of 1 to 256 characters without control characters.',
  ),
  'cap_exceeded/invalid_cost_component': (asked) => [change('agent', 'call', costText(asked))],
};

const ANY_TOKEN = 'Send a grant token of this account that is still valid.';
const TOKEN_TEXTS: Readonly<Record<string, string>> = {
  missing: 'Send the grant token.',
  expired: 'Get a new token with the refresh token. If the grant has ended, the person consents again.',
  developer: 'Send a token of this account, of an agent that the key may act for.',
  sandbox: 'Use a token and a key of the same mode: both of the sandbox, or both live.',
  not_yet_valid: 'Call again when the token is valid, and set the clock of its issuer.',
};

const fixName = (what: string) =>
  change('agent', 'call', `If the name is wrong, send the name of a ${what} that is declared.`);

const offeredText = (asked: Asked) => {
  const offered = textOf(asked, 'offered');
  return offered === undefined
    ? 'Look at the definition of the tool, and pin it. The gateway sends its pin as `toolPin`.'
    : `Look at the definition that the server offers, and add its pin \`${offered}\` to the tool.`;
};

const at = (asked: Asked) => {
  const path = textOf(asked, 'path');
  return path ? ` at \`${path}\`` : 's';
};

function argumentText(asked: Asked): string {
  const { limit } = asked.details;
  const [path, rule] = [textOf(asked, 'path'), textOf(asked, 'rule')];
  if (path === undefined || rule === undefined) return 'Send arguments that keep the rules of the tool.';
  if (rule === 'unlisted' || rule === 'absent') return `Leave out what no rule allows at \`${path}\`.`;
  return `Send a value at \`${path}\` that keeps \`${rule}\`${limit === undefined ? '' : ` ${JSON.stringify(limit)}`}.`;
}

function loosenRule(asked: Asked): Change {
  if (textOf(asked, 'scope') === 'grant') {
    return askPerson(asked, `The person consents to other rules for the argument${at(asked)}.`);
  }
  return changeManifest(asked, `Loosen the rule for the argument${at(asked)}.`, '.arguments');
}

function consentToPurpose(asked: Asked): Change[] {
  const allowed = declaredNow(asked, asked.now)?.allowed_purposes ?? [];
  const exact = allowed.find((pattern) => !pattern.endsWith('*'));
  const words = allowed.length === 0 ? 'a purpose that the tool serves' : `the purpose ${quoted(allowed)}`;
  return [askPerson(asked, `The person consents to ${words}.`, [], exact ?? null)];
}

const MOST_NAMED = 5;
const quoted = (names: readonly string[]) =>
  names
    .slice(0, MOST_NAMED)
    .map((name) => `\`${name}\``)
    .join(' or ');

/** A cap of 0 is a tool that is off. Any other is free again in time, except that of a case. */
function raiseCap(asked: Asked): Change[] {
  const { limit, used, requested, scope, kind, window } = asked.details;
  const retryAt = textOf(asked, 'retryAt');
  const needed = typeof used === 'number' && typeof requested === 'number' ? used + requested : undefined;
  const words = needed === undefined ? 'a higher cap' : `a cap of at least ${needed}`;
  const counted = kind === 'cost_units' ? 'cost_units' : asked.data.tool;
  const raise =
    scope === 'manifest'
      ? changeManifest(asked, `Give the tool ${words}.`, `.caps.${String(window)}`)
      : askPerson(asked, `The person consents to ${words} for \`${counted ?? ''}\`.`);
  const of =
    scope === 'ancestor' ? { ...raise, text: `${raise.text} It is the cap of a grant above.` } : raise;
  if (retryAt === undefined || limit === 0) return [of];
  return [change('agent', 'call', `Wait until ${retryAt}, and call again.`), of];
}

function costText(asked: Asked): string {
  const units = Object.keys(declaredNow(asked, asked.now)?.cost_units ?? {});
  return units.length === 0
    ? 'Send no `costComponents`: the tool declares none.'
    : `Send \`costComponents\` as a list of different names among ${units
        .slice(0, MOST_NAMED)
        .map((name) => `\`${name}\``)
        .join(', ')}.`;
}
