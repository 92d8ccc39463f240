import { compareDecimals } from '@behest/protocol/decimals';
import {
  coversRead,
  distinctScopes,
  isScope,
  type ReadScope,
  readScope,
  uncovered,
} from '@behest/protocol/scopes';
import { isWithin, type ToolScope, toolLevels } from '@behest/protocol/tool-scopes';

/** Each limit of a token: a list covers what its scopes cover, and null covers all. */
export type Limits = readonly (readonly string[] | null)[];

/** Those of the scopes that every limit covers. The rest is left out, and nothing is widened. */
export function within(asked: readonly string[], limits: Limits): string[] {
  const good = distinctScopes(asked).filter(isScope);
  return limits.reduce<string[]>((kept, limit) => {
    const outside = new Set(limit === null ? [] : uncovered(limit, kept));
    return kept.filter((scope) => !outside.has(scope));
  }, good);
}

/** What one assertion may cost: pairs of tool scopes of one connector, and what they have in common. */
const MAX_PAIRS = 10_000;
const MAX_MEETINGS = 300; // each is compared with all others

/**
 * The widest scopes that both lists cover.
 * @returns undefined where tool scopes overlap in more ways than one token is checked for
 */
export function common(ours: readonly string[], theirs: readonly string[]): string[] | undefined {
  const [one, other] = [ours, theirs].map((list) => distinctScopes(list).map(readScope));
  if (!one || !other) return [];
  const tools = commonTools(one, other);
  return tools && [...commonPlain(one, other), ...tools];
}

/** A scope without `tool:` is within another only by a prefix, so each is looked up and none is compared. */
function commonPlain(one: readonly ReadScope[], other: readonly ReadScope[]): string[] {
  const [mine, their] = [one, other].map((list) =>
    list.filter(({ isTool }) => !isTool).map(({ text }) => text),
  );
  const [wide, narrow] = [new Set(mine), new Set(their)];
  const both = new Set([
    ...[...wide].filter((scope) => coveredBy(narrow, scope)),
    ...[...narrow].filter((scope) => coveredBy(wide, scope)),
  ]);
  return [...both].filter((scope) => !wider(scope).some((parent) => both.has(parent)));
}

const coveredBy = (scopes: ReadonlySet<string>, scope: string) =>
  scopes.has(scope) || wider(scope).some((parent) => scopes.has(parent));

/** The scopes without `tool:` that cover this one, except itself. */
function wider(scope: string): string[] {
  const prefixes = [...scope.matchAll(/:/g)].map(({ index }) => `${scope.slice(0, index)}:*`);
  return ['*', ...prefixes].filter((parent) => parent !== scope);
}

function commonTools(one: readonly ReadScope[], other: readonly ReadScope[]): string[] | undefined {
  const met = new Map<string, ReadScope>();
  let pairs = 0;
  for (const mine of one) {
    for (const their of other) {
      const [a, b] = [mine.tool, their.tool];
      if (!a || !b || (a.connector !== b.connector && a.connector !== '*' && b.connector !== '*')) continue;
      pairs += 1;
      const text = meetingOf(mine, a, their, b);
      if (text !== undefined && !met.has(text)) met.set(text, readScope(text));
      if (pairs > MAX_PAIRS || met.size > MAX_MEETINGS) return undefined;
    }
  }
  const all = [...met.values()];
  const isWidest = (scope: ReadScope) =>
    !all.some((wide) => wide !== scope && coversRead(wide, scope) && !coversRead(scope, wide));
  return all.filter(isWidest).map(({ text }) => text);
}

/** What two tool scopes of one connector have in common. */
function meetingOf(one: ReadScope, a: ToolScope, other: ReadScope, b: ToolScope): string | undefined {
  if (coversRead(one, other)) return other.text;
  if (coversRead(other, one)) return one.text;
  const resource = narrowerResource(a, b);
  if (resource === null) return undefined;
  const caps = [a.cap, b.cap].filter((cap) => cap !== undefined).sort(compareDecimals);
  const level = toolLevels[Math.min(toolLevels.indexOf(a.level), toolLevels.indexOf(b.level))];
  const parts = ['tool', a.connector === '*' ? b.connector : a.connector, level];
  const narrow = [
    ...parts,
    ...(resource === undefined ? [] : [resource]),
    ...(caps[0] === undefined ? [] : ['capped', caps[0]]),
  ];
  const met = narrow.join(':');
  return isScope(met) ? met : undefined;
}

/** @returns null where no resource is within both */
function narrowerResource({ resource: one }: ToolScope, { resource: other }: ToolScope) {
  if (one === undefined || other === undefined) return one ?? other;
  if (isWithin(one, other)) return other;
  return isWithin(other, one) ? one : null;
}
