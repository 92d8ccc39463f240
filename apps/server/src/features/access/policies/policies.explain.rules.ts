import { covers, readScope } from '@behest/protocol/scopes';
import type { Asked, Policy } from './policies.match.rules.ts';
import { timeOfDay } from './policies.rules.ts';
import type { MetCondition } from './policies.schema.ts';
import { overlaps } from './policies.scopes.rules.ts';

const MOST_NAMED = 5;

/** The conditions of a policy that decided, each with the part of the request that meets it. */
export function metConditions(policy: Policy, asked: Asked): MetCondition[] {
  const { agentId, principalId, scopes, dayStart } = policy;
  return [
    ...(agentId === null ? [] : [{ field: 'agentId' as const, condition: agentId, met: asked.agentId }]),
    ...(principalId === null
      ? []
      : [{ field: 'principalId' as const, condition: principalId, met: asked.principalId }]),
    ...(scopes === null ? [] : metScopes(policy.effect, scopes, asked.scopes)),
    ...(dayStart === null ? [] : [metHours(policy, asked.at)]),
  ];
}

function metHours({ dayStart, dayEnd }: Policy, at: Date): MetCondition {
  const condition = `${timeOfDay(dayStart)}–${timeOfDay(dayEnd)} UTC`;
  return { field: 'timeOfDay', condition, met: `${at.toISOString().slice(11, 16)} UTC` };
}

/** A denial shows the first scope that it stops, and a permission the scope that covers each of those requested. */
function metScopes(
  effect: Policy['effect'],
  own: readonly string[],
  asked: readonly string[],
): MetCondition[] {
  if (effect === 'allow') {
    return asked.slice(0, MOST_NAMED).flatMap((met) => {
      const condition = own.find((scope) => covers(scope, met));
      return condition === undefined ? [] : [{ field: 'scopes' as const, condition, met }];
    });
  }
  for (const met of asked) {
    const read = readScope(met);
    const condition = own.find((scope) => overlaps(readScope(scope), read));
    if (condition !== undefined) return [{ field: 'scopes', condition, met }];
  }
  return [];
}

/** The sentence of the answer and of the audit entry: which policy, which conditions, why. */
export function reasonOf(policy: Policy, conditions: readonly MetCondition[]): string {
  const verb = policy.effect === 'deny' ? 'denies' : 'allows';
  const told = conditions.map(({ field, condition, met }) =>
    condition === met ? `${field} is ${met}` : `${field} ${condition} meets ${met}`,
  );
  return `Policy ${policy.id} ${verb} this: ${told.length > 0 ? told.join('; ') : 'it has no conditions'}.`;
}

export const NO_MATCH = 'No policy matches.';
