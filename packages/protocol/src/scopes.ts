import { coversTool, parseToolScope, type ToolScope } from './tool-scopes.ts';

/** RFC 6749, section 3.3, `scope-token`: no space, no quote, no backslash; at most 256 characters. */
const SCOPE = /^[!#-[\]-~]{1,256}$/;

/** The most bytes of the distinct scopes of one request, so that a grant token fits into a header. */
export const MAX_SCOPES_BYTES = 2_048;

/**
 * Tells whether a text is a scope. A text that begins with `tool:` has to be a tool scope.
 *
 * @example
 * ```ts
 * isScope('calendar:read'); // true
 * isScope('tool:crm:write:accounts'); // true
 * isScope('tool:crm'); // false
 * isScope('read all'); // false
 * ```
 */
export function isScope(text: string): boolean {
  if (text.length > 256 || !SCOPE.test(text)) return false;
  return !text.startsWith('tool:') || parseToolScope(text) !== undefined;
}

/** Drops repeated scopes. The first of each stays, so that developers read scopes in the order of their request. */
export function distinctScopes(scopes: readonly string[]): string[] {
  return [...new Set(scopes)];
}

/** Tells whether valid scopes, which are ASCII, are together within `MAX_SCOPES_BYTES`. */
export function scopesFit(scopes: readonly string[]): boolean {
  return scopes.reduce((bytes, scope) => bytes + scope.length, 0) <= MAX_SCOPES_BYTES;
}

/**
 * Tells whether the holder of the scope `parent` may use or delegate the scope `child`. The result is never true for
 * a child that reaches further.
 *
 * @example
 * ```ts
 * covers('calendar:*', 'calendar:read'); // true
 * covers('calendar:read', 'calendar:write'); // false
 * covers('tool:pay:write:capped:500', 'tool:pay:write:capped:20'); // true
 * covers('*', 'tool:crm:read'); // false
 * ```
 */
export function covers(parent: string, child: string): boolean {
  return coversRead(readScope(parent), readScope(child));
}

/**
 * Lists the children that no parent covers.
 *
 * @returns the children in their order; an empty list when the parents cover all of them
 *
 * @example
 * ```ts
 * uncovered(['calendar:*'], ['calendar:read', 'mail:send']); // ['mail:send']
 * ```
 */
export function uncovered(parents: readonly string[], children: readonly string[]): string[] {
  const wide = parents.map(readScope); // each scope is parsed once, not once for each pair
  const beyond = children.map(readScope).filter((child) => !wide.some((parent) => coversRead(parent, child)));
  return beyond.map(({ text }) => text);
}

/** A scope that was parsed once, for comparison with many others. */
export interface ReadScope {
  readonly text: string;
  readonly isTool: boolean;
  /** Absent for any scope without `tool:`, and for a malformed tool scope. */
  readonly tool: ToolScope | undefined;
}

/** Parses a scope for `coversRead`. */
export function readScope(text: string): ReadScope {
  const isTool = text.startsWith('tool:');
  return { text, isTool, tool: isTool ? parseToolScope(text) : undefined };
}

/** As `covers`, for scopes that were parsed before. */
export function coversRead(parent: ReadScope, child: ReadScope): boolean {
  if (parent.text === child.text) return true;
  if (parent.tool && child.tool) return coversTool(parent.tool, child.tool);
  if (parent.isTool || child.isTool) return false;
  if (parent.text === '*') return true;
  return parent.text.endsWith(':*') && child.text.startsWith(parent.text.slice(0, -1));
}
