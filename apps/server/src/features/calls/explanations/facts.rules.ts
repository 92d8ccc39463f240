import type { CheckName } from '@behest/protocol/enforcement/checks';
import { readIssuedEntries } from '@behest/protocol/enforcement/entries';
import { parseToolScope } from '@behest/protocol/tool-scopes';
import { type Answer, type Current, declaredNow } from './answer.rules.ts';
import type { ExplainedCheck, Fact } from './explanations.schema.ts';

const MOST_LISTED = 50;

/** The details of each denial without which it is not explained. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  token_invalid: ['cause'],
  'token_invalid/malformed_authorization_details': ['fault'],
  'manifest_unknown_tool/manifest_changed': ['pinned', 'loaded'],
  'manifest_unknown_tool/tool_changed': ['offered'],
  permission_insufficient: ['granted', 'required'],
  'cap_exceeded/amount_cap': ['limit'],
  'tool_not_granted/argument_missing': ['scope', 'path'],
  'tool_not_granted/argument_not_allowed': ['scope', 'path', 'rule'],
  'tool_not_granted/argument_unreadable': ['cause'],
  case_required: ['scope'],
  'cap_exceeded/limit_reached': ['scope', 'kind', 'window', 'limit', 'used', 'requested', 'retryAt'],
  'cap_exceeded/meter_unavailable': ['cause'],
};

/** What a denial rests on and its entry lacks: it was written by an older release, or erased. */
export function notRecorded({ denialKey = '', details, data }: Answer): string[] {
  const missing = (EXPECTED[denialKey] ?? []).filter((name) => !(name in details));
  return denialKey.endsWith('/policy_denied') && data.policyId === undefined ? ['policyId'] : missing;
}

/** The facts that a check saw, as far as they are known. */
export function factsOf(
  check: CheckName,
  outcome: ExplainedCheck['outcome'],
  answer: Answer,
  current: Current,
): Fact[] {
  const recorded = outcome === 'failed' ? { ...RECORDED[check]?.(answer), ...answer.details } : undefined;
  const known = recorded ?? (outcome === 'not_reached' ? {} : RECORDED[check]?.(answer));
  const now = outcome === 'unknown' ? {} : NOW[check]?.(answer, current);
  return [...listed(known ?? {}, 'entry').toSorted(byWeight), ...listed(now ?? {}, 'now')];
}

/** What a denial rests on comes first, in the order in which it is read. The database keeps no order of members. */
const FIRST = [
  'cause',
  'scope',
  'path',
  'rule',
  'limit',
  'used',
  'requested',
  'window',
  'retryAt',
  'granted',
  'required',
];

const byWeight = (one: Fact, other: Fact) => weightOf(one) - weightOf(other);

function weightOf({ name }: Fact): number {
  const place = FIRST.indexOf(name);
  return place < 0 ? FIRST.length : place;
}

function listed(facts: Readonly<Record<string, unknown>>, from: Fact['from']): Fact[] {
  return Object.entries(facts).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [{ name, value: shown(value), from }];
  });
}

function shown(value: unknown): Fact['value'] {
  if (Array.isArray(value)) return value.slice(0, MOST_LISTED).map(String);
  // JSON of the service's own: a fact is a text, a number, a flag, null or an object.
  return value as Fact['value'];
}

type Facts = Readonly<Record<string, unknown>>;

const RECORDED: Readonly<Partial<Record<CheckName, (answer: Answer) => Facts>>> = {
  token: ({ entry }) => ({
    agentDid: entry.agentDid ?? undefined,
    grantId: entry.grantId ?? undefined,
    principalId: entry.principalId ?? undefined,
  }),
  revocation: ({ entry }) => ({ grantId: entry.grantId ?? undefined }),
  manifest: ({ data }) => ({ connector: data.connector, manifestVersion: data.manifestVersion }),
  tool: ({ data }) => ({ tool: data.tool, permission: data.permission }),
  scopes: ({ data }) => ({ resource: data.resource }),
  permission: ({ data }) => ({ required: data.permission }),
  amount: ({ data }) => ({ amount: data.amount }),
  purpose: ({ entry }) => ({ purpose: entry.purpose }),
  policies: ({ data }) => ({ policyId: data.policyId, policyName: data.explanation?.name }),
  decision: ({ data }) => ({ decisionId: data.decisionId, actionHash: data.actionHash }),
  caps: ({ data }) => ({
    capsMode: data.capsMode,
    caseId: data.caseId,
    wouldDeny: data.wouldDeny?.map(({ reasonCode, subReason }) =>
      subReason === null ? reasonCode : `${reasonCode}/${subReason}`,
    ),
  }),
};

const NOW: Readonly<Partial<Record<CheckName, (answer: Answer, current: Current) => Facts>>> = {
  revocation: (_, { grant, agentStatus, asOf }) => ({
    grantStatus: grant && (grant.status === 'active' && grant.expiresAt <= asOf ? 'expired' : grant.status),
    revokedReason: grant?.revokedReason ?? undefined,
    revokedAt: grant?.revokedAt?.toISOString(),
    agentStatus,
  }),
  manifest: ({ data }, { manifest }) =>
    data.connector === undefined ? {} : { manifestVersion: manifest?.version ?? null },
  tool: (answer, current) =>
    current.manifest ? { permission: declaredNow(answer, current)?.permission ?? null } : {},
  listed_tools: (answer, current) => ({ tools: entryNow(answer, current)?.tools }),
  scopes: ({ data }, { grant }) => ({
    scopes: grant?.scopes.filter((scope) =>
      [data.connector, '*'].includes(parseToolScope(scope)?.connector ?? ''),
    ),
  }),
  region: (answer, current) => ({ dataRegion: entryNow(answer, current)?.dataRegion }),
  purpose: (answer, current) => ({ allowedPurposes: declaredNow(answer, current)?.allowed_purposes }),
  arguments: (answer, current) => ({
    rulesIn: [
      ...(declaredNow(answer, current)?.arguments ? ['manifest'] : []),
      ...(entryNow(answer, current)?.arguments?.has(answer.data.tool ?? '') ? ['grant'] : []),
    ],
  }),
  policies: ({ data }, { policy }) =>
    data.policyId === undefined
      ? {}
      : { effect: policy?.effect ?? null, changedAt: policy?.updatedAt.toISOString() },
  decision: (answer, current) => ({
    requiresDecision: declaredNow(answer, current)?.requires_decision,
    fourEyesOn: declaredNow(answer, current)?.four_eyes_on,
  }),
  caps: (answer, current) => ({
    manifestCaps: declaredNow(answer, current)?.caps,
    grantCaps: entryNow(answer, current)?.caps?.get(answer.data.tool ?? ''),
  }),
};

/** The entry of the grant for the connector. */
function entryNow({ data }: Answer, { grant }: Current) {
  const entries = readIssuedEntries(grant?.authorizationDetails ?? undefined);
  return entries.ok && data.connector !== undefined ? entries.tools.get(data.connector) : undefined;
}
