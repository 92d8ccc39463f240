import type { Policy } from './match.rules.ts';
import type { PolicyFields } from './policies.rules.ts';

const RANK = { deny: 2, require_approval: 1, allow: 0 } as const;

interface Change {
  /** Undefined for a policy that is made. */
  readonly before: PolicyFields | undefined;
  /** Undefined for a policy that is deleted. */
  readonly after: PolicyFields | undefined;
  /** All other policies of the account. */
  readonly others: readonly Pick<Policy, 'effect' | 'priority'>[];
}

/**
 * Whether a change may let something pass that was held back. Where that cannot be seen from the fields, it counts as
 * such, so that a rewritten condition is looked at by a person.
 */
export function isLoosening({ before, after, others }: Change): boolean {
  if (!before) return after !== undefined && lets(after, others);
  if (!after) return before.effect !== 'allow';
  const isStricter = RANK[after.effect] >= RANK[before.effect];
  const heldBack = before.effect !== 'allow';
  if (heldBack && !(isStricter && after.priority >= before.priority && covers(after, before))) return true;
  if (!lets(after, others)) return false;
  return !(lets(before, others) && isStricter && after.priority <= before.priority && covers(before, after));
}

/** Whether a policy can let something pass: a question to a person does where it comes before a denial. */
const lets = ({ effect, priority }: PolicyFields, others: Change['others']): boolean =>
  effect === 'allow' ||
  (effect === 'require_approval' && others.some((one) => one.effect === 'deny' && one.priority < priority));

/** Whether it is certain that one policy matches everything that another one does. */
function covers(wide: PolicyFields, narrow: PolicyFields): boolean {
  const isSame = (name: keyof PolicyFields) => JSON.stringify(wide[name]) === JSON.stringify(narrow[name]);
  const isFree = (name: keyof PolicyFields) => wide[name] === null || isSame(name);
  const holds = (name: 'scopes' | 'daysOfWeek' | 'purposes' | 'networks' | 'tools') =>
    isFree(name) || narrow[name]?.every((one) => wide[name]?.includes(one as never)) === true;
  const hasHours = wide.dayStart !== null || wide.dayEnd !== null || wide.daysOfWeek !== null;
  return (
    isSame('connector') && // without one, a policy is about grants and not about calls
    (['agentId', 'principalId', 'argumentRules'] as const).every(isFree) &&
    (['scopes', 'daysOfWeek', 'purposes', 'networks', 'tools'] as const).every(holds) &&
    ((isSame('dayStart') && isSame('dayEnd')) ||
      (isAllDay(wide) && (wide.daysOfWeek === null || !isPastMidnight(narrow)))) &&
    (!hasHours || isSame('timeZone')) &&
    (wide.depthMin === null || (narrow.depthMin ?? 0) >= wide.depthMin) &&
    (wide.depthMax === null || (narrow.depthMax ?? Number.POSITIVE_INFINITY) <= wide.depthMax)
  );
}

const isAllDay = ({ dayStart, dayEnd }: PolicyFields) => dayStart === null && dayEnd === null;

/** Such a window has minutes on the day after those that it names. */
const isPastMidnight = ({ dayStart, dayEnd }: PolicyFields) =>
  dayStart !== null && dayEnd !== null && dayStart >= dayEnd;
