import { coversRead, type ReadScope, readScope } from '@behest/protocol/scopes';
import { isWithin, type ToolScope } from '@behest/protocol/tool-scopes';
import type { Window } from './match.rules.ts';
import { type Conditions, compareOrder, levelOf, type Policy } from './match.rules.ts';

/** A policy that was parsed once, for comparison with many others. */
export interface ReadPolicy {
  readonly policy: Policy;
  readonly read: readonly ReadScope[] | null;
}

export const readPolicy = (policy: Policy): ReadPolicy => ({
  policy,
  read: policy.scopes?.map(readScope) ?? null,
});

/** A set of minutes of the day, a bit for each. */
type Minutes = bigint;

const DAY = (1n << 1440n) - 1n;

function minutesOf({ dayStart, dayEnd }: Omit<Window, 'daysOfWeek'>): Minutes {
  if (dayStart === null || dayEnd === null) return DAY;
  if (dayStart > dayEnd) return DAY & ~span(dayEnd, dayStart);
  return span(dayStart, dayEnd);
}

const span = (start: number, end: number): Minutes => ((1n << BigInt(end - start)) - 1n) << BigInt(start);

/**
 * The policies before which a policy never decides, because they match whatever it matches: for each of its scopes and
 * minutes one of them does. It misses some such policies, and names none without cause.
 * @param others all policies; those that come later do not count
 * @returns an empty list when the policy may decide
 */
export function shadowersOf(shadowed: ReadPolicy, others: Iterable<ReadPolicy>): Policy[] {
  const { policy } = shadowed;
  const missing = (shadowed.read ?? [null]).map(() => minutesOf(policy));
  const found: Policy[] = [];
  for (const other of others) {
    if (!isWider(other.policy, policy) || compareOrder(other.policy, policy) >= 0) continue;
    const minutes = minutesOf(other.policy);
    let isNeeded = false;
    for (const [place, matches] of scopesMatched(other, shadowed).entries()) {
      const left = missing[place] ?? 0n;
      if (!matches || (left & minutes) === 0n) continue;
      missing[place] = left & ~minutes;
      isNeeded = true;
    }
    if (isNeeded) found.push(other.policy);
    if (missing.every((left) => left === 0n)) return found;
  }
  return [];
}

const isWider = (one: Policy, other: Policy) =>
  (one.agentId === null || one.agentId === other.agentId) &&
  (one.principalId === null || one.principalId === other.principalId) &&
  hasWiderTimes(one, other) &&
  hasWiderConditions(one, other);

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Whether hours can be compared minute by minute: without days, or with the same ones, and on one clock. */
function hasWiderTimes(one: Conditions, other: Conditions): boolean {
  if (one.dayStart === null && one.daysOfWeek === null) return true;
  if (one.timeZone !== other.timeZone) return false;
  if (one.daysOfWeek === null) return true;
  const hoursOf = ({ dayStart, dayEnd }: Conditions) => [dayStart, dayEnd];
  return isSame(one.daysOfWeek, other.daysOfWeek) && isSame(hoursOf(one), hoursOf(other));
}

/** Whether each further condition is absent in one, or the same in both. */
function hasWiderConditions(one: Policy, other: Policy): boolean {
  const fields = ['purposes', 'depthMin', 'depthMax', 'connector', 'tools'] as const;
  // An unknown address and arguments that break the rules are the other way round for a permission.
  const sides = ['networks', 'argumentRules'] as const;
  const isSameSide = (one.effect === 'allow') === (other.effect === 'allow');
  return (
    fields.every((field) => one[field] === null || isSame(one[field], other[field])) &&
    sides.every((field) => one[field] === null || (isSameSide && isSame(one[field], other[field])))
  );
}

/** For each scope of a policy, whether another one matches all requests that the policy matches by that scope. */
function scopesMatched(other: ReadPolicy, { policy, read }: ReadPolicy): boolean[] {
  const own = read ?? [null];
  const { read: wide } = other;
  if (wide === null) return own.map(() => true);
  if (other.policy.effect !== 'allow') {
    const stopsAll = policy.effect === 'allow' ? stopsAllCovered : stopsAsMuch;
    return own.map((scope) => wide.some((denied) => stopsAll(denied, scope)));
  }
  // A denial matches by one scope of a request, whose others no permission needs to cover.
  const isCovered =
    policy.effect === 'allow' &&
    own.every((scope) => scope !== null && wide.some((allowed) => coversRead(allowed, scope)));
  return own.map(() => isCovered);
}

/** Whether a denied scope stops all that another one stops. @param scope null means every request */
function stopsAsMuch(denied: ReadScope, scope: ReadScope | null): boolean {
  if (denied.text === '*') return true;
  if (scope === null || scope.text === '*') return false;
  if (denied.tool && scope.tool) {
    return isWiderTool(denied.tool, scope.tool) && levelOf(denied.tool) <= levelOf(scope.tool);
  }
  return coversRead(denied, scope);
}

/** Whether a denied scope stops all that a permission covers. @param scope as above */
function stopsAllCovered(denied: ReadScope, scope: ReadScope | null): boolean {
  if (denied.text === '*') return true;
  if (scope === null || scope.text === '*') return false;
  // A permission of any level covers `read`, which no denial of a higher level stops.
  if (denied.tool && scope.tool) return isWiderTool(denied.tool, scope.tool) && levelOf(denied.tool) === 0;
  return coversRead(denied, scope);
}

const isWiderTool = (wide: ToolScope, narrow: ToolScope) =>
  (wide.connector === '*' || wide.connector === narrow.connector) &&
  (wide.resource === undefined ||
    (narrow.resource !== undefined && isWithin(wide.resource, narrow.resource)));
