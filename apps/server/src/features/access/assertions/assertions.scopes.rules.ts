import { compareDecimals } from '@behest/protocol/decimals';
import { covers, distinctScopes, isScope, uncovered } from '@behest/protocol/scopes';
import { isWithin, parseToolScope, type ToolScope, toolLevels } from '@behest/protocol/tool-scopes';

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

/** The widest scopes that both lists cover. */
export function common(ours: readonly string[], theirs: readonly string[]): string[] {
  const pairs = ours.flatMap((one) => theirs.map((other) => meetOf(one, other)));
  const all = distinctScopes(pairs.flat());
  return all.filter(
    (scope) => !all.some((other) => other !== scope && covers(other, scope) && !covers(scope, other)),
  );
}

function meetOf(one: string, other: string): string[] {
  if (covers(one, other)) return [other];
  if (covers(other, one)) return [one];
  const [a, b] = [parseToolScope(one), parseToolScope(other)];
  if (!a || !b || (a.connector !== b.connector && a.connector !== '*' && b.connector !== '*')) return [];
  const resource = narrowerResource(a, b);
  if (resource === null) return [];
  const caps = [a.cap, b.cap].filter((cap) => cap !== undefined).sort(compareDecimals);
  const level = toolLevels[Math.min(toolLevels.indexOf(a.level), toolLevels.indexOf(b.level))];
  const parts = ['tool', a.connector === '*' ? b.connector : a.connector, level];
  const narrow = [
    ...parts,
    ...(resource === undefined ? [] : [resource]),
    ...(caps[0] === undefined ? [] : ['capped', caps[0]]),
  ];
  const met = narrow.join(':');
  return isScope(met) ? [met] : [];
}

/** @returns null where no resource is within both */
function narrowerResource({ resource: one }: ToolScope, { resource: other }: ToolScope) {
  if (one === undefined || other === undefined) return one ?? other;
  if (isWithin(one, other)) return other;
  return isWithin(other, one) ? one : null;
}
