import { type Answer, type Current, textOf } from './answer.rules.ts';
import type { DecidingRule } from './explanations.schema.ts';

/** The rule that denied a call. @returns null where the entry does not name it */
export function ruleOf(answer: Answer, current: Current): DecidingRule | null {
  const { entry, data, denialKey = '' } = answer;
  const [code = '', subReason = ''] = denialKey.split('/');
  const tool = `tools.${data.tool}`;
  const grant = (text: string, place: string | null = null) => rule('grant', entry.grantId, text, place);
  const manifest = (text: string, place: string | null = tool) =>
    rule('manifest', data.connector ?? null, text, place);
  switch (code) {
    case 'token_invalid':
      return rule('token', null, 'A call needs a grant token of this account that verifies.');
    case 'grant_revoked':
      if (subReason === 'suspended')
        return rule('agent', entry.agentId, 'A suspended agent may not call.', 'status');
      if (subReason === 'status_unavailable')
        return rule('service', null, 'A call is denied when the state of its grant is not known.');
      return grant('A grant that was ended allows nothing.', 'status');
    case 'manifest_unknown_tool':
      return manifest(
        'A call needs a tool that the manifest declares, as it was agreed to.',
        placeOfTool(subReason, tool),
      );
    case 'tool_not_granted':
      return (
        argumentRule(answer) ??
        policyRule(answer) ??
        grant(TEXTS[subReason] ?? 'No scope names the connector.', PLACES[subReason] ?? 'scopes')
      );
    case 'permission_insufficient':
      return manifest(
        `The tool demands ${textOf(answer, 'required') ?? data.permission ?? 'a higher level'}.`,
        `${tool}.permission`,
      );
    case 'region_mismatch':
      return grant('The data stay in the region of the grant.', 'authorizationDetails.data_region');
    case 'purpose_not_allowed':
      return manifest('The tool serves some purposes only.', `${tool}.allowed_purposes`);
    case 'decision_required':
      return rule(
        'decision',
        data.decisionId ?? null,
        'A person has to approve exactly this call.',
        `${tool}.requires_decision`,
      );
    case 'case_required':
    case 'cap_exceeded':
      return capRule(answer, current);
    default:
      return null;
  }
}

function rule(
  kind: DecidingRule['kind'],
  id: string | null,
  text: string,
  place: string | null = null,
): DecidingRule {
  return { kind, id, place, text, conditions: [] };
}

const TEXTS: Readonly<Record<string, string>> = {
  not_in_authorization_details: 'The grant lists the tools that the person allowed.',
  tool_scope_missing: 'No scope of the grant covers the tool, or the resource of the call.',
};
const PLACES: Readonly<Record<string, string>> = {
  not_in_authorization_details: 'authorizationDetails.tools',
};

const placeOfTool = (subReason: string, tool: string) => {
  if (subReason === 'unknown_connector') return null;
  return subReason === 'tool_changed' ? `${tool}.mcp_pins` : tool;
};

/** The line of the manifest or of the grant that an argument breaks. */
function argumentRule(answer: Answer): DecidingRule | undefined {
  const { entry, data, denialKey = '' } = answer;
  if (!denialKey.startsWith('tool_not_granted/argument_')) return undefined;
  const [scope, path, key] = ['scope', 'path', 'rule'].map((name) => textOf(answer, name));
  const [place, text] = [
    path === undefined ? undefined : [path, key].filter((part) => part !== undefined).join('.'),
    'The arguments of a call keep the rules of the tool.',
  ];
  if (scope === 'grant') {
    const under = `authorizationDetails.arguments.${data.tool}`;
    return rule('grant', entry.grantId, text, place === undefined ? under : `${under}.${place}`);
  }
  const under = `tools.${data.tool}.arguments`;
  return rule('manifest', data.connector ?? null, text, place === undefined ? under : `${under}.${place}`);
}

function policyRule({ data, denialKey = '' }: Answer): DecidingRule | undefined {
  if (!denialKey.endsWith('/policy_denied')) return undefined;
  const { policyId = null, explanation } = data;
  const text = explanation
    ? `The policy “${explanation.name}” denies the call.`
    : 'A policy denies the call.';
  return { ...rule('policy', policyId, text), conditions: explanation?.conditions ?? [] };
}

function capRule(answer: Answer, { grant }: Current): DecidingRule {
  const { entry, data, denialKey, details } = answer;
  const { limit, kind, window, scope } = details;
  if (denialKey === 'cap_exceeded/meter_unavailable')
    return rule('service', null, 'A call that is counted is denied while its counters cannot be read.');
  if (denialKey === 'cap_exceeded/limit_reached' || denialKey === 'case_required') {
    const isOfManifest = scope === 'manifest';
    const id = isOfManifest ? data.connector : (textOf(answer, 'grantId') ?? entry.grantId ?? grant?.id);
    const counted = kind === 'cost_units' ? 'cost_units' : data.tool;
    const place =
      scope === undefined
        ? null
        : [isOfManifest ? `tools.${data.tool}.caps` : `authorizationDetails.caps.${counted}`, window]
            .filter(Boolean)
            .join('.');
    const what = `${kind === 'cost_units' ? 'cost unit' : 'call'}${limit === 1 ? '' : 's'}`;
    const text =
      limit === undefined
        ? 'A cap counts the calls of a case.'
        : `At most ${limit} ${what} ${WINDOWS[String(window)] ?? ''}.`;
    return rule('cap', id ?? null, text, place);
  }
  if (denialKey?.startsWith('cap_exceeded/invalid_c'))
    return rule(
      'manifest',
      data.connector ?? null,
      'A counted call names its case and its cost in their form.',
      `tools.${data.tool}`,
    );
  const most = details.limit === undefined ? '' : ` of ${details.limit}`;
  return rule(
    'grant',
    entry.grantId,
    `The scopes of the grant bound the amount of a call${most && ` at${most.slice(3)}`}.`,
    'scopes',
  );
}

const WINDOWS: Readonly<Record<string, string>> = {
  per_hour: 'an hour',
  per_day: 'a day',
  per_case: 'a case',
};
