import { type ReadScope, readScope } from '@behest/protocol/scopes';
import {
  coverKeys,
  denyKeys,
  keyAsked,
  keysAskedOfCovers,
  keysAskedOfDenials,
  NO_OTHERS,
  placingOf,
  type Shape,
  shapeText,
} from './accept.rules.ts';
import {
  compareOrder,
  conditionsHold,
  type Network,
  type ParsedPolicyRequest,
  type Policy,
  type PolicyRequest,
  parsePolicyRequest,
  readNetwork,
  scopesMatch,
} from './match.rules.ts';

/** The policies of a developer, arranged so that a decision looks at few of them. */
export interface CompiledPolicies {
  readonly size: number;
  /** In the order of evaluation. */
  readonly policies: readonly Policy[];
  /** @returns the first policy that matches */
  readonly decide: (asked: PolicyRequest) => Policy | undefined;
}

interface Ranked {
  readonly policy: Policy;
  readonly read: readonly ReadScope[] | null;
  readonly networks: readonly Network[] | null;
  readonly rank: number;
  /** As `conditionsOf` writes them. */
  readonly conditions: string;
}

/** The policies under one key, in their order. */
interface Posting {
  readonly ranked: Ranked[];
  /** The further conditions under which one of them matches every request that asks for the key. */
  readonly settled: Set<string>;
}

/** The policies of one place. */
interface Bucket {
  /** Policies without scopes. */
  readonly any: Posting;
  readonly denials: Map<string, Posting>;
  readonly covers: Map<string, Posting>;
}

/** The policies for one agent or all and for one principal or all, by the text of their shape. */
type Group = Map<string, { readonly shape: Shape; readonly buckets: Map<string, Bucket> }>;

export function compilePolicies(unordered: readonly Policy[]): CompiledPolicies {
  const policies = unordered.toSorted(compareOrder);
  const groups = new Map<string, Group>();
  for (const [rank, policy] of policies.entries()) {
    const read = policy.scopes?.map(readScope) ?? null;
    const networks = networksOf(policy);
    const { places, conditions } = placingOf(policy, networks);
    const ranked = { policy, rank, read, networks, conditions };
    const name = groupName(policy.agentId, policy.principalId);
    const group = groups.get(name) ?? new Map();
    groups.set(name, group);
    for (const { shape, key } of places) place(bucketAt(group, shape, key), ranked);
  }
  const hasPrefixes = policies.some(({ scopes }) =>
    scopes?.some((scope) => scope.includes('*:capped') || scope.endsWith('*')),
  );
  const index = { groups, hasPrefixes };
  return { size: policies.length, policies, decide: (asked) => decide(index, parsePolicyRequest(asked)) };
}

/** Ids have no control characters. */
const groupName = (agentId: string | null, principalId: string | null) =>
  `${agentId ?? '\n'}\n${principalId ?? '\n'}`;

const networksOf = ({ networks }: Policy) => networks?.flatMap((text) => readNetwork(text) ?? []) ?? null;

function bucketAt(group: Group, shape: Shape, key: string): Bucket {
  const text = shapeText(shape);
  const ofShape = group.get(text) ?? { shape, buckets: new Map<string, Bucket>() };
  group.set(text, ofShape);
  const bucket = ofShape.buckets.get(key) ?? { any: newPosting(), denials: new Map(), covers: new Map() };
  ofShape.buckets.set(key, bucket);
  return bucket;
}

function place(bucket: Bucket, ranked: Ranked): void {
  const { policy, read } = ranked;
  if (read === null) {
    add(bucket.any, ranked, true);
    return;
  }
  const isDenial = policy.effect !== 'allow';
  const index = isDenial ? bucket.denials : bucket.covers;
  for (const { text, isExact } of read.flatMap(isDenial ? denyKeys : coverKeys)) {
    const posting = index.get(text) ?? newPosting();
    index.set(text, posting);
    // Where every request that asks for the key matches, a later policy with the same conditions never decides. A permission
    // has to cover the other scopes of the request too.
    add(posting, ranked, isExact && isDenial);
  }
}

const newPosting = (): Posting => ({ ranked: [], settled: new Set() });

/** Policies are added in their order. @param settles whether it matches every request that asks for the key */
function add({ ranked: list, settled }: Posting, ranked: Ranked, settles: boolean): void {
  const { conditions } = ranked;
  if (list.at(-1) === ranked || settled.has(NO_OTHERS) || settled.has(conditions)) return;
  list.push(ranked);
  if (settles) settled.add(conditions);
}

interface Index {
  readonly groups: ReadonlyMap<string, Group>;
  /** Whether a scope of any policy may end in a prefix of resources. */
  readonly hasPrefixes: boolean;
}

function decide({ groups, hasPrefixes }: Index, asked: ParsedPolicyRequest): Policy | undefined {
  let best: Ranked | undefined;
  const denialKeys = asked.read.map((scope) => keysAskedOfDenials(scope, hasPrefixes));
  const coveringKeys = asked.read.map((scope) => keysAskedOfCovers(scope, hasPrefixes));
  for (const agentId of [asked.agentId, null]) {
    for (const principalId of [asked.principalId, null]) {
      for (const { shape, buckets } of groups.get(groupName(agentId, principalId))?.values() ?? []) {
        const key = keyAsked(shape, asked);
        const bucket = key === undefined ? undefined : buckets.get(key);
        if (!bucket) continue;
        best = first(bucket.any, asked, best);
        for (const keys of denialKeys) best = firstOf(bucket.denials, keys, asked, best);
        best = firstOf(bucket.covers, rarest(bucket.covers, coveringKeys), asked, best);
      }
    }
  }
  return best?.policy;
}

/** A permission covers every scope, so it is filed under the keys of that scope which has the fewest policies. */
function rarest(index: Bucket['covers'], keys: readonly (readonly string[])[]): readonly string[] {
  if (index.size === 0) return [];
  let fewest: readonly string[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const ofScope of keys) {
    const count = ofScope.reduce((sum, key) => sum + (index.get(key)?.ranked.length ?? 0), 0);
    if (count < least) [least, fewest] = [count, ofScope];
  }
  return fewest;
}

function firstOf(
  index: Bucket['denials'],
  keys: readonly string[],
  asked: ParsedPolicyRequest,
  best: Ranked | undefined,
): Ranked | undefined {
  if (index.size === 0) return best;
  let found = best;
  for (const key of keys) found = first(index.get(key), asked, found);
  return found;
}

/** @returns the first that matches, unless `best` comes before it */
function first(
  posting: Posting | undefined,
  asked: ParsedPolicyRequest,
  best: Ranked | undefined,
): Ranked | undefined {
  for (const ranked of posting?.ranked ?? []) {
    if (best && ranked.rank >= best.rank) return best;
    const { policy, read, networks } = ranked;
    if (scopesMatch(policy.effect, read, asked.read) && conditionsHold(policy, networks, asked))
      return ranked;
  }
  return best;
}
