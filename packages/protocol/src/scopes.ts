import { coversTool, parseToolScope } from './tool-scopes.ts';

/** RFC 6749, section 3.3, `scope-token`: no space, no quote, no backslash. */
const SCOPE = /^[!#-[\]-~]{1,256}$/;

/** Of one request, after repetitions are dropped, so that a grant token stays small enough for a header. */
export const MAX_SCOPES_BYTES = 2_048;

/** Bare words are scopes. What begins `tool:` claims to be a tool scope, and has to be one. */
export function isScope(text: string): boolean {
  if (text.length > 256 || !SCOPE.test(text)) return false;
  return !text.startsWith('tool:') || parseToolScope(text) !== undefined;
}

/** Keeps the first of each, so that developers read scopes back in the order they sent them. */
export function distinctScopes(scopes: readonly string[]): string[] {
  return [...new Set(scopes)];
}

/** Whether the scopes, each in the grammar and hence ASCII, are together within `MAX_SCOPES_BYTES`. */
export function scopesFit(scopes: readonly string[]): boolean {
  return scopes.reduce((bytes, scope) => bytes + scope.length, 0) <= MAX_SCOPES_BYTES;
}

/** Whether whoever holds `parent` may give or use `child`. Never true for a scope that reaches further. */
export function covers(parent: string, child: string): boolean {
  if (parent === child) return true;
  if (child.startsWith('tool:')) return parent.startsWith('tool:') && toolCovers(parent, child);
  if (parent === '*') return true;
  return parent.endsWith(':*') && !parent.startsWith('tool:') && child.startsWith(parent.slice(0, -1));
}

/** The children that no parent covers, in their order; none when the one set is within the other. */
export function uncovered(parents: readonly string[], children: readonly string[]): string[] {
  return children.filter((child) => !parents.some((parent) => covers(parent, child)));
}

function toolCovers(parent: string, child: string): boolean {
  const [wide, narrow] = [parseToolScope(parent), parseToolScope(child)];
  return wide !== undefined && narrow !== undefined && coversTool(wide, narrow);
}
