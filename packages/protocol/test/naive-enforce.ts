import { naiveCheck } from './naive-rules.ts';

/**
 * A second reading of the ordered checks of a call, slow and literal on purpose. It shares no code with the engine, so
 * that a mistake in one of them shows as a difference. It is given only claims whose readability is known.
 */
type Windows = Readonly<Record<string, number>>;
type Caps = Readonly<Record<string, Windows>>;
export interface NaiveTool {
  permission: string;
  allowed_purposes?: string[];
  caps?: Windows;
  cost_units?: Windows;
  requires_decision?: boolean;
  four_eyes_on?: string[];
  arguments?: Record<string, object>;
}
export interface NaiveEntry {
  purpose?: string;
  data_region?: string;
  tools?: string[];
  caps?: Caps;
  arguments?: Record<string, Record<string, object>>;
}
/** Everything that stays the same between the calls of a case. */
export interface NaiveCase {
  token: 'good' | 'expired' | 'signature' | 'revoked';
  isReadable: boolean;
  tools: Record<string, NaiveTool>;
  scopes: string[];
  entry?: NaiveEntry;
  ancestors: { grant: string; caps: Caps }[];
  region?: string;
  meter: 'ok' | 'none' | 'down';
  grants: Record<string, NaiveGrant>;
}
/** A decision grant, with the action that it was made for. */
export interface NaiveGrant {
  isGenuine: boolean;
  isExpired: boolean;
  claims: Readonly<Record<string, unknown>>;
  action: string;
}
export interface NaiveCall {
  connector: string;
  tool: string;
  arguments?: unknown;
  resource?: string;
  amount?: unknown;
  caseId?: unknown;
  caseVersion?: string;
  costComponents?: unknown;
  callId: string;
  decisionGrants?: string[];
  capsMode: 'enforce' | 'warn';
  reserve: boolean;
}
interface Cost {
  key: string;
  units: number;
  limit: number;
  window: string;
  what: string;
}

const LEVELS = ['read', 'write', 'delete', 'admin', '*'];
const VOCABULARY = ['aml.cdd.onboarding', 'aml.cdd.ongoing', 'aml.screening', 'payments.payout'];
const SPANS: Windows = { per_hour: 3_600_000, per_day: 86_400_000, per_case: Infinity };
const SCOPE =
  /^tool:([A-Za-z0-9_.-]+|[*]):(read|write|delete|admin|[*])(?::(?!capped(?:$|:))([*]|[A-Za-z0-9_.-]+[*]?))?(?::capped:([0-9]+(?:[.][0-9]+)?))?$/;

const reaches = (pattern: string, name: string | undefined) =>
  name !== undefined && (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern);

/** The order of members does not matter, and no test has a number that JSON writes in two ways. */
export function naiveAction(
  call: Pick<NaiveCall, 'connector' | 'tool' | 'arguments' | 'caseId' | 'caseVersion'>,
) {
  const { arguments: args } = call;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'none';
  const sorted = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([call.connector, call.tool, sorted, call.caseId ?? null, call.caseVersion ?? null]);
}

/** The meter and the issuer of decisions, as lists. */
export class NaiveWorld {
  readonly charges: { key: string; units: number; until: number }[] = [];
  readonly calls = new Map<string, string>();
  readonly moved = new Map<string, { callId: string; state: 'held' | 'sent' }>();
  now = 0;

  used(key: string): number {
    return this.charges
      .filter((charge) => charge.key === key && charge.until > this.now)
      .reduce((sum, { units }) => sum + units, 0);
  }

  /** The denial as `<code>/<sub-reason>`, or `fine` with what `would_deny` has. */
  enforce(given: NaiveCase, call: NaiveCall): string {
    return this.#before12(given, call) ?? this.#from12(given, call);
  }

  #before12({ token, isReadable, tools, scopes, entry, region }: NaiveCase, call: NaiveCall) {
    if (token === 'expired' || token === 'signature') return 'token_invalid/null';
    if (token === 'revoked') return 'grant_revoked/revoked';
    if (!isReadable) return 'token_invalid/malformed_authorization_details';
    if (call.connector !== 'pay') return 'manifest_unknown_tool/unknown_connector';
    const tool = Object.hasOwn(tools, call.tool) ? tools[call.tool] : undefined;
    if (!tool) return 'manifest_unknown_tool/unknown_tool';
    if (entry?.tools && !entry.tools.some((item) => reaches(item, call.tool)))
      return 'tool_not_granted/not_in_authorization_details';
    const read = scopes
      .filter((scope) => scope.startsWith('tool:'))
      .map((text) => ({ text, parts: SCOPE.exec(text) }));
    const naming = read.filter(({ parts }) => parts?.[1] === 'pay' || parts?.[1] === '*');
    if (naming.length === 0) return 'tool_not_granted/null';
    const covering = naming.filter(
      ({ parts }) =>
        parts?.[3] === undefined || reaches(parts[3], call.tool) || reaches(parts[3], call.resource),
    );
    if (covering.length === 0) return 'tool_not_granted/tool_scope_missing';
    const granted = Math.max(...covering.map(({ parts }) => LEVELS.indexOf(parts?.[2] ?? '')));
    if (granted < LEVELS.indexOf(tool.permission)) return 'permission_insufficient/null';
    if (
      entry?.data_region &&
      region &&
      entry.data_region.trim().toUpperCase() !== region.trim().toUpperCase()
    )
      return 'region_mismatch/null';
    const isMalformed = read.some(({ text, parts }) => {
      const [, connector, , ...rest] = text.split(':');
      return !parts && (connector === 'pay' || connector === '*') && rest.includes('capped');
    });
    if (isMalformed) return 'cap_exceeded/malformed_cap';
    const amounts = naming.flatMap(({ parts }) => (parts?.[4] === undefined ? [] : [Number(parts[4])]));
    if (amounts.length > 0) {
      const { amount } = call;
      if (amount === undefined || amount === null) return 'cap_exceeded/amount_missing';
      if (typeof amount !== 'number' || !(amount >= 0 && amount < Infinity))
        return 'cap_exceeded/invalid_amount';
      if (amount > Math.min(...amounts)) return 'cap_exceeded/amount_cap';
    }
    if (tool.allowed_purposes) {
      const purpose = entry?.purpose;
      if (purpose === undefined) return 'purpose_not_allowed/missing';
      if (!VOCABULARY.includes(purpose) && !/^x-[a-z0-9]+[.][a-z]+$/.test(purpose))
        return 'purpose_not_allowed/unknown_purpose';
      const matches = (pattern: string) =>
        pattern === purpose || (pattern.endsWith('.*') && purpose.startsWith(pattern.slice(0, -1)));
      if (!tool.allowed_purposes.some(matches)) return 'purpose_not_allowed/not_matched';
    }
    for (const rules of [tool.arguments, entry?.arguments?.[call.tool]]) {
      if (!rules) continue;
      if (call.arguments === undefined) return 'tool_not_granted/argument_missing';
      if (Array.isArray(call.arguments)) return 'tool_not_granted/argument_unreadable';
      const [verdict] = naiveCheck(Object(rules), call.arguments).split(' ');
      if (verdict !== 'fine') return `tool_not_granted/${verdict}`;
    }
    return undefined;
  }

  #from12(given: NaiveCase, call: NaiveCall): string {
    const tool = given.tools[call.tool];
    if (!tool?.requires_decision) return this.#answer13(given, call);
    const refusal = judgeGrants(given, call, tool);
    if (refusal !== 'good') return `decision_required/${refusal}`;
    const handles = call.decisionGrants ?? [];
    if (!call.reserve) return this.#answer13(given, call);
    const states = handles.map((handle) => this.moved.get(handle));
    if (states.some((state) => state && state.callId !== call.callId)) return 'decision_required/consumed';
    const answer = this.#answer13(given, call);
    if (answer.startsWith('fine')) {
      for (const handle of handles) this.moved.set(handle, { callId: call.callId, state: 'sent' });
    }
    return answer; // a denial releases what it held, so nothing was held
  }

  #answer13(given: NaiveCase, call: NaiveCall): string {
    const denials = this.#check13(given, call);
    if (call.capsMode === 'warn') return ['fine', ...denials].join(' ');
    return denials[0] ?? 'fine';
  }

  #check13({ tools, entry, ancestors, meter }: NaiveCase, call: NaiveCall): string[] {
    const tool = tools[call.tool];
    const levels = [
      ...(entry?.caps ? [['grant', 'grnt_1', entry.caps] as const] : []),
      ...ancestors.map(({ grant, caps }) => ['ancestor', grant, caps] as const),
    ];
    const isCapped = levels.some(([, , caps]) => caps[call.tool] || (caps.cost_units && tool?.cost_units));
    if (!tool?.caps && !tool?.cost_units && !isCapped) return [];
    if (meter === 'none') return ['cap_exceeded/meter_unavailable'];
    const { caseId } = call;
    if (caseId !== undefined && !(typeof caseId === 'string' && /^[a-z0-9]+$/.test(caseId)))
      return ['cap_exceeded/invalid_case_id'];
    const units = tool?.cost_units ?? {};
    const named: unknown = call.costComponents ?? Object.keys(units);
    const isGood =
      Array.isArray(named) &&
      named.every((name) => Object.hasOwn(units, name)) &&
      new Set(named).size === named.length &&
      (named.length > 0 || Object.keys(units).length === 0);
    if (!isGood) return ['cap_exceeded/invalid_cost_component'];
    const cost = named.reduce((sum: number, name: string) => sum + (units[name] ?? 0), 0);
    const all: Cost[] = [];
    const add = (what: string, identity: string[], taken: number, caps: Windows = {}) => {
      for (const window of ['per_hour', 'per_day', 'per_case']) {
        const limit = caps[window];
        if (limit === undefined) continue;
        const last = window === 'per_case' ? [String(caseId)] : [];
        all.push({ key: JSON.stringify([...identity, window, ...last]), units: taken, limit, window, what });
      }
    };
    add('manifest calls', ['manifest', 'pay', call.tool, 'calls'], 1, tool?.caps);
    for (const [what, id, caps] of levels)
      add(`${what} calls`, ['grant', id, 'pay', call.tool, 'calls'], 1, caps[call.tool]);
    if (tool?.cost_units)
      for (const [what, id, caps] of levels)
        add(`${what} cost_units`, ['grant', id, 'pay', 'cost_units'], cost, caps.cost_units);
    if (all.some(({ window }) => window === 'per_case') && caseId === undefined)
      return ['case_required/null'];
    const costs = all.filter(({ units: taken }) => taken > 0);
    const say = (of: Cost) => `cap_exceeded/limit_reached:${of.what}:${of.window}:${of.limit}`;
    const zero = costs.filter(({ limit }) => limit === 0);
    const isFull = (of: Cost) =>
      of.limit === 0 || (meter === 'ok' && this.used(of.key) + of.units > of.limit);
    if (zero.length > 0) return (call.capsMode === 'warn' ? costs.filter(isFull) : zero).map(say);
    if (meter === 'down') return ['cap_exceeded/meter_unavailable'];
    if (!call.reserve) return costs.filter(isFull).map(say);
    return this.#reserve(call, costs) ? [] : costs.filter(isFull).map(say);
  }

  #reserve(call: NaiveCall, costs: Cost[]): boolean {
    if (costs.length === 0) return true;
    const print = JSON.stringify(costs.map(({ key, units }) => [key, units]));
    for (let n = 0; ; n += 1) {
      const id = n === 0 ? call.callId : `${call.callId}.${n}`;
      const known = this.calls.get(id);
      if (known === print) return true;
      if (known !== undefined) continue;
      if (costs.some(({ key, units, limit }) => this.used(key) + units > limit)) return false;
      for (const { key, units, window } of costs)
        this.charges.push({ key, units, until: this.now + (SPANS[window] ?? 0) });
      this.calls.set(id, print);
      return true;
    }
  }
}

function judgeGrants({ grants }: NaiveCase, call: NaiveCall, tool: NaiveTool): string {
  const given = (call.decisionGrants ?? []).map((handle) => grants[handle]);
  if (given.length === 0) return 'null';
  const decision = Object(call.arguments ?? {}).decision;
  const isWord = typeof decision === 'string' && /^[a-z][a-z0-9_]*$/.test(decision);
  if (tool.four_eyes_on && !isWord) return 'malformed';
  if (!given.every((grant) => grant?.isGenuine)) return 'malformed';
  const all = given.flatMap((grant) => grant ?? []);
  const every = (member: string, value: unknown) => all.every(({ claims }) => claims[member] === value);
  if (!every('dev', 'dev_1')) return 'unknown_grant';
  if (!every('agt', 'did:web:a') || !every('grnt', 'grnt_1')) return 'wrong_agent';
  if (!every('case_id', call.caseId ?? null)) return 'wrong_case';
  if (!every('case_version', call.caseVersion ?? null)) return 'case_changed';
  const action = naiveAction(call);
  if (action === 'none' || !all.every((grant) => grant.action === action && grant.claims.tool === call.tool))
    return 'action_mismatch';
  if (all.some(({ isExpired }) => isExpired)) return 'expired';
  const quorum = tool.four_eyes_on?.includes(String(decision)) ? 2 : 1;
  if (all.some(({ claims }) => all.length < Math.max(quorum, Number(claims.quorum))))
    return 'four_eyes_incomplete';
  const [one, two] = all.map(({ claims }) => claims);
  if (!one || !two) return 'good';
  if (one.jti === two.jti || one.sub === two.sub) return 'same_approver';
  const [first, second] = one.position === 1 ? [one, two] : [two, one];
  const isPair = first.position === 1 && second.position === 2 && second.prev === first.jti;
  return isPair && one.decision_id === two.decision_id && one.nonce === two.nonce ? 'good' : 'spliced';
}
