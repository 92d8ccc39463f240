import { checkArguments } from '@behest/protocol/arguments/check';
import { networkForm } from '@behest/protocol/arguments/forms/networks';
import type { Rules } from '@behest/protocol/arguments/rules';
import { coversRead, type ReadScope, readScope } from '@behest/protocol/scopes';
import { isWithin, type ToolScope, toolLevels } from '@behest/protocol/tool-scopes';

/** The order of effects at one priority. */
export const effects = ['deny', 'require_approval', 'allow'] as const;
type Effect = (typeof effects)[number];

/** The conditions of a policy besides agent, principal and scopes. A condition that is null holds always. */
export interface Conditions extends Window {
  /** The zone of days and times of day; null is UTC. */
  readonly timeZone: string | null;
  readonly purposes: readonly string[] | null;
  /** The networks that the caller may be in. */
  readonly networks: readonly string[] | null;
  readonly depthMin: number | null;
  readonly depthMax: number | null;
  /** The connector of a call. A policy with one decides about calls only. */
  readonly connector: string | null;
  /** Names, or prefixes that end in `*`. */
  readonly tools: readonly string[] | null;
  /** By the exact name of a tool. */
  readonly argumentRules: Readonly<Record<string, Rules>> | null;
}

/** A policy as it is evaluated. */
export interface Policy extends Conditions {
  readonly id: string;
  readonly name: string;
  readonly effect: Effect;
  readonly priority: number;
  readonly agentId: string | null;
  readonly principalId: string | null;
  readonly scopes: readonly string[] | null;
  readonly createdAt: Date;
}

/** A policy with these members is met by every request. */
export const NO_CONDITIONS = {
  agentId: null,
  principalId: null,
  scopes: null,
  dayStart: null,
  dayEnd: null,
  timeZone: null,
  daysOfWeek: null,
  purposes: null,
  networks: null,
  depthMin: null,
  depthMax: null,
  connector: null,
  tools: null,
  argumentRules: null,
} satisfies Partial<Policy>;

/** The call of a tool. */
export interface AskedCall {
  readonly connector: string;
  readonly tool: string;
  /** Undefined when the caller gave none. */
  readonly arguments?: unknown;
}

/** The request that policies are asked about. */
export interface PolicyRequest {
  readonly agentId: string;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly at: Date;
  readonly purpose?: string | null;
  /** The address of the caller, if it is known. */
  readonly address?: string | null;
  /** 0 when it is absent. */
  readonly delegationDepth?: number;
  readonly call?: AskedCall;
}

/** A request with its parts parsed once for all policies. */
export interface ParsedPolicyRequest extends PolicyRequest {
  readonly read: readonly ReadScope[];
  readonly network: Network | undefined;
  readonly timeIn: (zone: string | null) => LocalTime;
}

export function parsePolicyRequest(asked: PolicyRequest): ParsedPolicyRequest {
  const times = new Map<string | null, LocalTime>();
  return {
    ...asked,
    read: asked.scopes.map(readScope),
    network: asked.address ? readAddress(asked.address) : undefined,
    timeIn(zone) {
      const time = times.get(zone) ?? localTime(asked.at, zone);
      times.set(zone, time);
      return time;
    },
  };
}

/** Whether the scopes of a policy match: of a permission all have to be covered, and otherwise one is enough. */
export function scopesMatch(
  effect: Effect,
  own: readonly ReadScope[] | null,
  asked: readonly ReadScope[],
): boolean {
  if (own === null) return true;
  if (effect === 'allow') return asked.every((scope) => own.some((allowed) => coversRead(allowed, scope)));
  return asked.some((scope) => own.some((denied) => overlaps(denied, scope)));
}

/** A condition that cannot be judged holds for a policy that restricts, and not for one that allows. */
const holdsUnknown = (effect: Effect): boolean => effect !== 'allow';

/** @param networks those of the policy, read */
export function conditionsHold(
  policy: Policy,
  networks: readonly Network[] | null,
  asked: ParsedPolicyRequest,
): boolean {
  const { purposes, depthMin, depthMax, connector } = policy;
  const depth = asked.delegationDepth ?? 0;
  if (!isDuring(policy, asked.timeIn(policy.timeZone))) return false;
  if (purposes !== null && !(asked.purpose && purposes.includes(asked.purpose))) return false;
  if ((depthMin !== null && depth < depthMin) || (depthMax !== null && depth > depthMax)) return false;
  if (networks !== null) {
    const isMet = asked.network ? isInside(networks, asked.network) : holdsUnknown(policy.effect);
    if (!isMet) return false;
  }
  return connector === null || callMatches(policy, asked.call);
}

/**
 * The rules say which arguments are right. A permission matches a call that keeps them, and a policy that restricts one that
 * breaks them: so no further, missing or unreadable argument avoids it.
 */
function callMatches(
  { connector, tools, argumentRules, effect }: Policy,
  call: AskedCall | undefined,
): boolean {
  if (call === undefined || call.connector !== connector) return false;
  if (tools !== null && !tools.some((pattern) => isWithin(pattern, call.tool))) return false;
  if (argumentRules === null) return true;
  const rules = Object.hasOwn(argumentRules, call.tool) ? argumentRules[call.tool] : undefined;
  return rules !== undefined && checkArguments(rules, call.arguments).ok === (effect === 'allow');
}

/** The order of evaluation. The first policy that matches decides. */
export function compareOrder(one: Policy, other: Policy): number {
  if (one.priority !== other.priority) return other.priority - one.priority;
  if (one.effect !== other.effect) return effects.indexOf(one.effect) - effects.indexOf(other.effect);
  const [made, otherMade] = [one.createdAt.getTime(), other.createdAt.getTime()];
  if (made !== otherMade) return made - otherMade;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}

/** The place of a level among `toolLevels`. */
export const levelOf = ({ level }: ToolScope): number => toolLevels.indexOf(level);

/** A prefix ends in `*`. */
export const isPrefix = (resource: string): boolean => resource.endsWith('*');

/**
 * Whether a denied scope stops a requested one: whether any call is allowed by both. A request for more than is denied is
 * stopped too, so no wildcard avoids a denial.
 */
export function overlaps(denied: ReadScope, asked: ReadScope): boolean {
  if (denied.text === '*') return true;
  if (denied.tool && asked.tool) return toolsOverlap(denied.tool, asked.tool);
  if (denied.isTool || asked.isTool) return false;
  return coversRead(denied, asked) || coversRead(asked, denied);
}

/** Each level includes those below it, so a denial of `write` stops `admin` and leaves `read` alone. */
function toolsOverlap(denied: ToolScope, asked: ToolScope): boolean {
  const isSameConnector =
    denied.connector === asked.connector || denied.connector === '*' || asked.connector === '*';
  if (!isSameConnector || levelOf(asked) < levelOf(denied)) return false;
  if (denied.resource === undefined || asked.resource === undefined) return true;
  return patternsMeet(denied.resource, asked.resource);
}

/** Whether two patterns match a name in common. */
const patternsMeet = (one: string, other: string): boolean =>
  isWithin(one, withoutStar(other)) || isWithin(other, withoutStar(one));

const withoutStar = (pattern: string) => (isPrefix(pattern) ? pattern.slice(0, -1) : pattern);

/** A network, or an address as the network of its full length. */
export type Network = NonNullable<ReturnType<typeof networkForm.readItem>>;

/** @returns undefined for a text that is no network: hosts' bits have to be 0, and IPv4 has its own form */
export const readNetwork = (text: string): Network | undefined => networkForm.readItem(text);

/** Reads the address of a caller, of which a socket for both families writes IPv4 inside IPv6. */
export function readAddress(text: string): Network | undefined {
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  return readNetwork(v4 ?? text.replace(/%[\s\S]*$/, ''));
}

export const isInside = (networks: readonly Network[], address: Network): boolean =>
  networks.some((network) => networkForm.allows(network, address));

/** Whether two lists have an address in common. @returns the narrower network, undefined if there is none */
export function commonNetwork(one: readonly string[], other: readonly string[]): string | undefined {
  for (const text of one) {
    for (const further of other) {
      const [a, b] = [readNetwork(text), readNetwork(further)];
      if (!a || !b) continue;
      if (networkForm.allows(a, b)) return further;
      if (networkForm.allows(b, a)) return text;
    }
  }
  return undefined;
}

/** The days as a policy names them, in the order of `Date.getUTCDay`. */
export const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** The clock on the wall of a place. */
interface LocalTime {
  /** A minute of the day. */
  readonly minute: number;
  /** An index of `days`. */
  readonly day: number;
}

export interface Window {
  /** Minutes of the day; both or none. */
  readonly dayStart: number | null;
  readonly dayEnd: number | null;
  readonly daysOfWeek: readonly string[] | null;
}

/**
 * The start is inside, and the end is not. A window whose start is after its end goes past midnight, and belongs to the
 * day on which it starts.
 */
export function isDuring({ dayStart, dayEnd, daysOfWeek }: Window, { minute, day }: LocalTime): boolean {
  if (dayStart === null || dayEnd === null) return isOn(daysOfWeek, day);
  if (dayStart < dayEnd) return minute >= dayStart && minute < dayEnd && isOn(daysOfWeek, day);
  if (minute >= dayStart) return isOn(daysOfWeek, day);
  return minute < dayEnd && isOn(daysOfWeek, (day + 6) % 7);
}

const isOn = (daysOfWeek: Window['daysOfWeek'], day: number): boolean =>
  daysOfWeek === null || daysOfWeek.includes(days[day] ?? '');

const DAY = 86_400_000; // milliseconds

/**
 * The local time in a zone. When clocks go back, an hour comes twice and its minutes are inside both times; when they go
 * forward, the minutes that are left out never come.
 * @param zone a name that `isZone` knows; null is UTC
 */
export function localTime(at: Date, zone: string | null): LocalTime {
  const local = at.getTime() + (zone === null ? 0 : offsetAt(at, zone));
  const minute = Math.floor((((local % DAY) + DAY) % DAY) / 60_000);
  return { minute, day: (((Math.floor(local / DAY) + 4) % 7) + 7) % 7 }; // 1970 began on a Thursday
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** The offset of each zone in the minute that was asked for last: `Intl` takes as long as hundreds of policies. */
const offsets = new Map<string, { readonly minute: number; readonly offset: number }>();

const formatOf = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });

/** The milliseconds that the zone is before UTC. */
function offsetAt(at: Date, zone: string): number {
  const minute = Math.floor(at.getTime() / 60_000);
  const known = offsets.get(zone);
  if (known?.minute === minute) return known.offset;
  const offset = newOffsetAt(at, zone);
  offsets.set(zone, { minute, offset });
  return offset;
}

function newOffsetAt(at: Date, zone: string): number {
  const format = formats.get(zone) ?? formatOf(zone);
  formats.set(zone, format); // there are some six hundred names
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const whole = Math.floor(at.getTime() / 1000) * 1000;
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
}

/** Whether a name is one of the IANA database. An offset such as `+01:00` is not. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return formatOf(name).resolvedOptions().timeZone !== '';
  } catch {
    return false; // `Intl` knows no zone of this name
  }
}

/**
 * Instants at which a window may begin in its zone, within a week from the beginning of a day in UTC.
 * @returns some that lie inside, for examples
 */
export function* beginningsOf(
  window: Window & { readonly timeZone: string | null },
  from: Date,
): Generator<Date> {
  const first = Math.floor(from.getTime() / DAY) * DAY;
  for (let place = 0; place < 8; place += 1) {
    const wanted = first + place * DAY + (window.dayStart ?? 0) * 60_000;
    const offset = window.timeZone === null ? 0 : offsetAt(new Date(wanted), window.timeZone);
    const at = new Date(wanted - offset);
    if (isDuring(window, localTime(at, window.timeZone))) yield at;
  }
}
