import {
  beginningsOf,
  commonNetwork,
  conditionsHold,
  isDuring,
  localTime,
  type Policy,
  type PolicyRequest,
  parsePolicyRequest,
  readNetwork,
  scopesMatch,
} from './match.rules.ts';
import type { PolicyWarning } from './policies.schema.ts';
import { readPolicy } from './shadow.rules.ts';

const AN_AGENT = 'ag_00000000000000000000000000';
const A_PRINCIPAL = 'principal';
const A_SCOPE = 'example:read';

/** A request that shows what a policy does. */
export type Example = PolicyRequest;

/** Whether a policy matches a request, whatever other policies do. */
export function matches(policy: Policy, asked: PolicyRequest): boolean {
  const { agentId, principalId, effect } = policy;
  if (agentId !== null && agentId !== asked.agentId) return false;
  if (principalId !== null && principalId !== asked.principalId) return false;
  const read = parsePolicyRequest(asked);
  const networks = policy.networks?.flatMap((text) => readNetwork(text) ?? []) ?? null;
  return scopesMatch(effect, readPolicy(policy).read, read.read) && conditionsHold(policy, networks, read);
}

/**
 * A request that a policy matches, or two policies do. It misses some such requests.
 * @param scope where it is absent, one of the first policy @param day names the day of the example
 */
export function exampleOf(
  [one, two = one]: readonly [Policy, Policy?],
  scope: string | undefined,
  day: Date,
): Example | undefined {
  const at = commonTime(one, two, day);
  const networks = one.networks && two.networks ? commonNetwork(one.networks, two.networks) : undefined;
  const address = networks ?? one.networks?.[0] ?? two.networks?.[0];
  const purpose = one.purposes?.find((each) => two.purposes?.includes(each) ?? true) ?? two.purposes?.[0];
  const depth = Math.max(one.depthMin ?? 0, two.depthMin ?? 0);
  const call = one.connector === null ? two : one;
  const example: Example | undefined = at && {
    agentId: one.agentId ?? two.agentId ?? AN_AGENT,
    principalId: one.principalId ?? two.principalId ?? A_PRINCIPAL,
    scopes: [scope ?? one.scopes?.[0] ?? A_SCOPE],
    at,
    ...(purpose !== undefined && { purpose }),
    ...(address !== undefined && { address: address.replace(/[/][\s\S]*$/, '') }),
    ...(depth > 0 && { delegationDepth: depth }),
    ...(call.connector !== null && { call: { connector: call.connector, tool: toolOf(call) } }),
  };
  return example && matches(one, example) && matches(two, example) ? example : undefined;
}

const toolOf = ({ tools, argumentRules }: Policy): string =>
  Object.keys(argumentRules ?? {})[0] ?? tools?.[0]?.replace(/[*]$/, '') ?? 'tool';

/** Where two windows meet, one of them begins. */
function commonTime(one: Policy, two: Policy, day: Date): Date | undefined {
  for (const window of [one, two]) {
    for (const at of beginningsOf(window, day)) {
      const other = window === one ? two : one;
      if (isDuring(other, localTime(at, other.timeZone))) return at;
    }
  }
  return undefined;
}

/** The example as `POST /v1/policies/evaluate` takes it. */
export const toRequest = ({ call, scopes, at, ...asked }: Example): PolicyWarning['example'] => ({
  agentId: asked.agentId,
  principalId: asked.principalId,
  scopes: [...scopes],
  at: at.toISOString(),
  ...(asked.purpose && { purpose: asked.purpose }),
  ...(asked.address && { address: asked.address }),
  ...(asked.delegationDepth !== undefined && { delegationDepth: asked.delegationDepth }),
  ...(call && { connector: call.connector, tool: call.tool }),
});
