import { decimalOf } from '../arguments/decimals.ts';
import { compareDecimals } from '../decimals.ts';
import type { Manifest, ManifestTool } from '../manifest/manifest.ts';
import { matchesPurpose } from '../purpose-patterns.ts';
import { isPurpose } from '../purposes.ts';
import { isWithin, type ToolLevel, type ToolScope, toolLevels } from '../tool-scopes.ts';
import type { ReadEntry } from './entries.ts';
import { type Denial, deny } from './reasons.ts';
import type { ReadToken } from './token.ts';

/** The tool that is asked for, and what token and manifest say of it. */
export interface RequestedCall {
  readonly token: ReadToken;
  readonly connector: string;
  readonly tool: string;
  readonly manifest: Manifest;
  readonly declared: ManifestTool;
  /** The token's entry for the connector. */
  readonly entry: ReadEntry | undefined;
  /** The thing acted on; `any` when the question is whether some thing would do. */
  readonly resource: { readonly name: string } | 'any' | undefined;
}

/** Checks 6 to 8: the entry lists the tool, a scope covers it, and the level is high enough. */
export function checkReach(asked: RequestedCall): Denial | undefined {
  const { token, tool, connector, declared, entry } = asked;
  if (entry?.tools && !entry.tools.some((pattern) => isWithin(pattern, tool))) {
    return deny('tool_not_granted', 'not_in_authorization_details');
  }
  let granted = -1;
  let isNamed = false;
  for (const scope of token.scopes) {
    if (!names(scope.connector, connector)) continue;
    isNamed = true;
    if (covers(scope, asked)) granted = Math.max(granted, toolLevels.indexOf(scope.level));
  }
  if (granted < 0) return deny('tool_not_granted', isNamed ? 'tool_scope_missing' : null);
  if (granted >= toolLevels.indexOf(declared.permission)) return undefined;
  const details = {
    granted: toolLevels[granted] satisfies ToolLevel | undefined,
    required: declared.permission,
  };
  return deny('permission_insufficient', null, details);
}

function names(pattern: string | undefined, connector: string): boolean {
  return pattern === '*' || pattern === connector;
}

/** A scope with a resource lends its level to no other tool. */
function covers({ resource }: ToolScope, { tool, resource: thing }: RequestedCall): boolean {
  if (resource === undefined || thing === 'any' || isWithin(resource, tool)) return true;
  return thing !== undefined && isWithin(resource, thing.name);
}

/** The region of the entry, and whether it was compared. */
export type RegionVerdict = 'fine' | 'unchecked' | Denial;

/** Check 9. */
export function checkRegion({ entry }: RequestedCall, ours: string | undefined): RegionVerdict {
  if (entry?.dataRegion === undefined) return 'fine';
  if (ours === undefined) return 'unchecked';
  return plainRegion(entry.dataRegion) === plainRegion(ours) ? 'fine' : deny('region_mismatch', null);
}

/** ASCII letters only, because lower case makes letters of other characters. */
function plainRegion(region: string): string {
  return region.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Check 10: the lowest amount among the scopes that name the connector, whatever their level. */
export function checkAmount({ token, connector }: RequestedCall, amount: unknown): Denial | undefined {
  if (token.unreadable.some((scope) => scope.isCapped && names(scope.connector, connector))) {
    return deny('cap_exceeded', 'malformed_cap');
  }
  let lowest: string | undefined;
  for (const { connector: named, cap } of token.scopes) {
    if (cap === undefined || !names(named, connector)) continue;
    if (lowest === undefined || compareDecimals(cap, lowest) < 0) lowest = cap;
  }
  if (lowest === undefined) return undefined;
  if (amount === undefined || amount === null) return deny('cap_exceeded', 'amount_missing');
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
    return deny('cap_exceeded', 'invalid_amount');
  }
  if (compareDecimals(decimalOf(amount), lowest) <= 0) return undefined;
  return deny('cap_exceeded', 'amount_cap', { limit: Number(lowest), amount });
}

/** Check 11. */
export function checkPurpose({ declared, entry }: RequestedCall): Denial | undefined {
  const { allowed_purposes: patterns } = declared;
  if (!patterns) return undefined;
  const purpose = entry?.purpose;
  if (purpose === undefined) return deny('purpose_not_allowed', 'missing');
  if (!isPurpose(purpose)) return deny('purpose_not_allowed', 'unknown_purpose');
  const isMatched = patterns.some((pattern) => matchesPurpose(pattern, purpose));
  return isMatched ? undefined : deny('purpose_not_allowed', 'not_matched');
}
