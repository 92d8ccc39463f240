import { covers, readScope } from '@behest/protocol/scopes';
import { isWithin } from '@behest/protocol/tool-scopes';
import {
  days,
  isInside,
  overlaps,
  type Policy,
  type PolicyRequest,
  parsePolicyRequest,
  readNetwork,
} from './match.rules.ts';
import { timeOfDay } from './policies.rules.ts';
import type { MatchedCondition, PolicyExplanation } from './policies.schema.ts';

const MAX_NAMED = 5;

/** Which policy decided, by which conditions. */
export const explanationOf = (policy: Policy, asked: PolicyRequest): PolicyExplanation => ({
  policyId: policy.id,
  name: policy.name,
  effect: policy.effect,
  priority: policy.priority,
  conditions: metConditions(policy, asked),
});

/** The conditions of a policy that decided, each with the part of the request that meets it. */
function metConditions(policy: Policy, asked: PolicyRequest): MatchedCondition[] {
  const { agentId, principalId, scopes, purposes } = policy;
  return [
    ...met('agentId', agentId, asked.agentId),
    ...met('principalId', principalId, asked.principalId),
    ...(scopes === null ? [] : metScopes(policy.effect, scopes, asked.scopes)),
    ...metTimes(policy, asked),
    ...met('purposes', purposes && (asked.purpose ?? null), asked.purpose ?? ''),
    ...metNetwork(policy, asked),
    ...metDepth(policy, asked),
    ...metCall(policy, asked),
  ];
}

const met = (
  field: MatchedCondition['field'],
  condition: string | null,
  found: string,
): MatchedCondition[] => (condition === null ? [] : [{ field, condition, met: found }]);

function metTimes(policy: Policy, asked: PolicyRequest): MatchedCondition[] {
  const { dayStart, dayEnd, daysOfWeek } = policy;
  const zone = policy.timeZone ?? 'UTC';
  const { minute, day } = parsePolicyRequest(asked).timeIn(policy.timeZone);
  const hours = dayStart === null ? null : `${timeOfDay(dayStart)}–${timeOfDay(dayEnd)} ${zone}`;
  return [
    ...met('timeOfDay', hours, `${timeOfDay(minute)} ${zone}`),
    ...met(
      'daysOfWeek',
      daysOfWeek && `${daysOfWeek.join(', ')} ${zone}`,
      `${days[day]} ${timeOfDay(minute)}`,
    ),
  ];
}

function metNetwork({ networks }: Policy, asked: PolicyRequest): MatchedCondition[] {
  if (networks === null) return [];
  const { network } = parsePolicyRequest(asked);
  const found = networks.find((text) => {
    const read = readNetwork(text);
    return network && read && isInside([read], network);
  });
  if (found === undefined)
    return met('networks', networks.slice(0, MAX_NAMED).join(', '), 'an unknown address');
  return met('networks', found, asked.address ?? '');
}

function metDepth(
  { depthMin, depthMax }: Policy,
  { delegationDepth = 0 }: PolicyRequest,
): MatchedCondition[] {
  if (depthMin === null && depthMax === null) return [];
  return met('delegationDepth', `${depthMin ?? 0}–${depthMax ?? ''}`, String(delegationDepth));
}

/** Explanations never name the values of arguments. */
function metCall(
  { connector, tools, argumentRules, effect }: Policy,
  { call }: PolicyRequest,
): MatchedCondition[] {
  if (connector === null || call === undefined) return [];
  const pattern = tools?.find((each) => isWithin(each, call.tool)) ?? null;
  const rules = argumentRules === null ? null : `the rules of ${call.tool}`;
  return [
    ...met('connector', connector, call.connector),
    ...met('tools', pattern, call.tool),
    ...met('arguments', rules, effect === 'allow' ? 'arguments that keep them' : 'arguments that break them'),
  ];
}

/** A denial shows the first scope that it stops, and a permission the scope that covers each of those requested. */
function metScopes(
  effect: Policy['effect'],
  own: readonly string[],
  asked: readonly string[],
): MatchedCondition[] {
  if (effect === 'allow') {
    return asked.slice(0, MAX_NAMED).flatMap((scope) => {
      const condition = own.find((each) => covers(each, scope)) ?? null;
      return met('scopes', condition, scope);
    });
  }
  for (const scope of asked) {
    const read = readScope(scope);
    const condition = own.find((each) => overlaps(readScope(each), read));
    if (condition !== undefined) return met('scopes', condition, scope);
  }
  return [];
}

const verbs = { deny: 'denies this', allow: 'allows this', require_approval: 'leaves this to a person' };

/** The sentence of the answer and of the audit entry: which policy, which conditions, why. */
export function reasonOf({ policyId, effect, conditions }: PolicyExplanation): string {
  const met = conditions.map((each) =>
    each.condition === each.met
      ? `${each.field} is ${each.met}`
      : `${each.field} ${each.condition} meets ${each.met}`,
  );
  return `Policy ${policyId} ${verbs[effect]}: ${met.length > 0 ? met.join('; ') : 'it has no conditions'}.`;
}

export const NO_MATCH = 'No policy matches.';
