import { isWithin } from '../arguments/within.ts';
import { canonicalJson, sha256Hex } from '../canonical-json.ts';
import { isPatternWithin } from '../purpose-patterns.ts';
import { toolLevels } from '../tool-scopes.ts';
import { capWindows } from '../tools-entry.ts';
import type { Manifest, ManifestTool } from './manifest.ts';

/**
 * Writes a manifest in the form that is hashed: every tool in object form, without `version` and `description`, as
 * canonical JSON.
 */
export function canonicalManifest({ schema, connector, tools }: Manifest): string {
  return canonicalJson({
    ...(schema !== undefined && { $schema: schema }),
    connector,
    tools: Object.fromEntries(tools), // defines own members, so that `__proto__` is a name like any other
  });
}

/** The hash of a manifest, 64 digits of lower-case hex, by which a consent names it. */
export async function manifestSha256(manifest: Manifest): Promise<string> {
  return sha256Hex(canonicalManifest(manifest));
}

/**
 * Lists the tools of `after` that are new or wider than in `before`, in the order of `after`. A consent to `before`
 * does not hold for them.
 */
export function widerTools(before: Manifest, after: Manifest): string[] {
  return [...after.tools].flatMap(([name, tool]) => {
    const earlier = before.tools.get(name);
    return earlier && !isWider(earlier, tool) ? [] : [name];
  });
}

/** Tells whether any limit of a tool was dropped or loosened, whatever else was tightened. */
export function isWider(before: ManifestTool, after: ManifestTool): boolean {
  return (
    toolLevels.indexOf(after.permission) > toolLevels.indexOf(before.permission) ||
    (before.requires_decision === true && after.requires_decision !== true) ||
    !hasAll(after.four_eyes_on ?? [], before.four_eyes_on ?? []) ||
    arePurposesWider(before, after) ||
    areCapsWider(before, after) ||
    areUnitsLower(before.cost_units ?? {}, after.cost_units ?? {}) ||
    !isWithin(after.arguments, before.arguments) ||
    areBindsFewer(before, after) ||
    (before.mcp_pins !== undefined && (!after.mcp_pins || !hasAll(before.mcp_pins, after.mcp_pins)))
  );
}

function hasAll(list: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((item) => list.includes(item));
}

function arePurposesWider(
  { allowed_purposes: before }: ManifestTool,
  { allowed_purposes: after }: ManifestTool,
) {
  if (!before) return false;
  return !after?.every((narrow) => before.some((wide) => isPatternWithin(narrow, wide)));
}

function areCapsWider({ caps: before }: ManifestTool, { caps: after }: ManifestTool): boolean {
  return capWindows.some((window) => {
    const [old, now] = [before?.[window], after?.[window]];
    return old !== undefined && (now === undefined || now > old);
  });
}

/** A pointer binds everything below it too. */
function areBindsFewer({ binds: before }: ManifestTool, { binds: after }: ManifestTool): boolean {
  if (!after) return false;
  return !before?.every((bound) => after.some((now) => bound === now || bound.startsWith(`${now}/`)));
}

/** Tells whether a tool is described to people in the same words. */
export function isSaidAlike(one: ManifestTool, other: ManifestTool): boolean {
  return canonicalJson(wordsOf(one)) === canonicalJson(wordsOf(other));
}

const wordsOf = ({ title = '', description = '', argument_titles = {}, titles = {} }: ManifestTool) => ({
  ...{ title, description, argument_titles, titles },
});

function areUnitsLower(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>) {
  return Object.entries(before).some(([unit, cost]) => {
    const now = Object.hasOwn(after, unit) ? after[unit] : undefined;
    return now === undefined || now < cost;
  });
}
