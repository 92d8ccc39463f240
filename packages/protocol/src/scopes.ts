import { coversTool, parseToolScope, type ToolScope } from './tool-scopes.ts';

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
  return isWithin(readScope(child), readScope(parent));
}

/** The children that no parent covers, in their order; none when the one set is within the other. */
export function uncovered(parents: readonly string[], children: readonly string[]): string[] {
  const wide = parents.map(readScope); // once, or a hundred against a hundred would be read ten thousand times
  const beyond = children.map(readScope).filter((child) => !wide.some((parent) => isWithin(child, parent)));
  return beyond.map(({ text }) => text);
}

interface ReadScope {
  readonly text: string;
  readonly isTool: boolean;
  /** Absent for a bare scope, and for a text that claims to be a tool scope and is none. */
  readonly tool: ToolScope | undefined;
}

function readScope(text: string): ReadScope {
  const isTool = text.startsWith('tool:');
  return { text, isTool, tool: isTool ? parseToolScope(text) : undefined };
}

function isWithin(child: ReadScope, parent: ReadScope): boolean {
  if (parent.text === child.text) return true;
  if (parent.tool && child.tool) return coversTool(parent.tool, child.tool);
  if (parent.isTool || child.isTool) return false;
  if (parent.text === '*') return true;
  return parent.text.endsWith(':*') && child.text.startsWith(parent.text.slice(0, -1));
}
