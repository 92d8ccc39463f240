import { coversRead } from '@behest/protocol/scopes';
import type { CompiledPolicies } from './compile.rules.ts';
import { type Example, exampleOf, matches, toRequest } from './examples.rules.ts';
import { compareOrder, overlaps, type Policy, type PolicyRequest } from './match.rules.ts';
import type { PolicyWarning } from './policies.schema.ts';
import { type ReadPolicy, readPolicy, shadowersOf } from './shadow.rules.ts';

/** Pairs of scopes that are compared at one writing, which takes some milliseconds. */
const MAX_COMPARED = 100_000;
const MAX_WARNINGS = 20;
const MAX_NAMED = 10;

interface Written extends ReadPolicy {
  /** The policy that decides, this one among the others. */
  readonly decide: (asked: PolicyRequest) => Policy | undefined;
  readonly at: Date;
}

/**
 * Finds faults that the author of a policy may not see: it never decides, it keeps others from it, or another of the opposite
 * effect matches the same request.
 * @param others the developer's other policies @param at names the day of the examples
 */
export function warningsAbout(policy: Policy, others: CompiledPolicies, at: Date): PolicyWarning[] {
  const written = { ...readPolicy(policy), decide: deciderWith(policy, others), at };
  const { compared, isComplete } = comparable(policy, others.policies);
  const shadowers = shadowersOf(written, compared);
  const found = shadowers.length > 0 ? [shadowed(written, shadowers)] : besides(written, compared);
  const shown = found.slice(0, MAX_WARNINGS);
  const hasAll = isComplete && shown.length === found.length;
  return hasAll ? shown : [...shown, warning('incomplete', [], 'Not all policies were compared or named.')];
}

/** What is wrong with a policy about an agent that there is not. */
export const neverMatches = (): PolicyWarning =>
  warning('never_matches', [], 'No agent has this `agentId`, so the policy never matches.');

function deciderWith(policy: Policy, others: CompiledPolicies): Written['decide'] {
  return (asked) => {
    const other = others.decide(asked);
    const isFirst = other === undefined || compareOrder(policy, other) < 0;
    return isFirst && matches(policy, asked) ? policy : other;
  };
}

/** The other policies that may match a request that the policy matches, as many as are compared. */
function comparable(policy: Policy, others: readonly Policy[]) {
  const compared: ReadPolicy[] = [];
  const width = policy.scopes?.length ?? 1;
  let pairs = 0;
  for (const other of others) {
    if (!canMeet(policy.agentId, other.agentId) || !canMeet(policy.principalId, other.principalId)) continue;
    pairs += width * (other.scopes?.length ?? 1);
    if (pairs > MAX_COMPARED) return { compared, isComplete: false };
    compared.push(readPolicy(other));
  }
  return { compared, isComplete: true };
}

const canMeet = (one: string | null, other: string | null) => one === null || other === null || one === other;

function shadowed(written: Written, shadowers: readonly Policy[]): PolicyWarning {
  const message = 'The policy never decides: these match before it, whatever it matches.';
  return warning('shadowed', shadowers, message, written, exampleOf([written.policy], undefined, written.at));
}

function besides(written: Written, compared: readonly ReadPolicy[]): PolicyWarning[] {
  return compared.flatMap((other) => {
    if (shadowersOf(other, [written]).length > 0) {
      const message =
        'This policy no longer decides: the written one matches before it, whatever it matches.';
      return [
        warning(
          'shadows',
          [other.policy],
          message,
          written,
          exampleOf([other.policy], undefined, written.at),
        ),
      ];
    }
    // A denial and a demand for a person both restrict; a permission contradicts either.
    if ((other.policy.effect === 'allow') === (written.policy.effect === 'allow')) return [];
    const disputed = disputedRequest(written, other);
    if (!disputed) return [];
    const message = 'This policy has the opposite effect, and both match the example.';
    return [warning('contradicts', [other.policy], message, written, disputed)];
  });
}

/** A request that two policies match, and about which one of them decides. */
function disputedRequest(written: Written, other: ReadPolicy): Example | undefined {
  const [one, two] = [written.policy, other.policy];
  const [allowed, denied] = one.effect === 'allow' ? [written.read, other.read] : [other.read, written.read];
  for (const scope of commonScopes(allowed, denied)) {
    const example = exampleOf([one, two], scope, written.at);
    if (!example || !matches(one, example) || !matches(two, example)) continue;
    const decider = written.decide(example);
    if (decider?.id === one.id || decider?.id === two.id) return example;
  }
  return undefined;
}

/** Scopes that a permission covers and a denial stops. */
function* commonScopes(
  allowed: ReadPolicy['read'],
  denied: ReadPolicy['read'],
): Generator<string | undefined> {
  if (allowed === null || denied === null) {
    yield (allowed ?? denied)?.[0]?.text;
    return;
  }
  for (const wide of allowed) {
    const stopping = denied.find((scope) => overlaps(scope, wide));
    if (stopping) yield coversRead(wide, stopping) ? stopping.text : wide.text;
  }
}

function warning(
  kind: PolicyWarning['kind'],
  policies: readonly Policy[],
  message: string,
  written?: Written,
  example?: Example,
): PolicyWarning {
  const policyIds = policies.slice(0, MAX_NAMED).map(({ id }) => id);
  if (!written || !example) return { kind, policyIds, message, example: null, decidedBy: null };
  return {
    kind,
    policyIds,
    message,
    example: toRequest(example),
    decidedBy: written.decide(example)?.id ?? null,
  };
}
