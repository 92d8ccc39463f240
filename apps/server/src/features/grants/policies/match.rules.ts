import { checkArguments } from '@behest/protocol/arguments/check';
import type { Rules } from '@behest/protocol/arguments/rules';
import { coversRead, type ReadScope, readScope } from '@behest/protocol/scopes';
import { isWithin } from '@behest/protocol/tool-scopes';
import { isInside, type Network, readAddress } from './networks.rules.ts';
import { overlaps } from './scopes.rules.ts';
import { isDuring, type LocalTime, localTime, type Window } from './time.rules.ts';

/** The order of effects at one priority. */
export const effects = ['deny', 'require_approval', 'allow'] as const;
export type Effect = (typeof effects)[number];

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
export interface Asked {
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
export interface ReadAsked extends Asked {
  readonly read: readonly ReadScope[];
  readonly network: Network | undefined;
  readonly timeIn: (zone: string | null) => LocalTime;
}

export function readAsked(asked: Asked): ReadAsked {
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
  asked: ReadAsked,
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
