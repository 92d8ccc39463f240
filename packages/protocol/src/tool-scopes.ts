import { compareDecimals } from './decimals.ts';

/** Each level includes those before it. */
export const toolLevels = ['read', 'write', 'delete', 'admin'] as const;
export type ToolLevel = (typeof toolLevels)[number];

/** What `tool:<connector>:<level>[:<resource>][:capped:<amount>]` says. */
export interface ToolScope {
  /** The connector's name, or `*` for every connector. */
  readonly connector: string;
  readonly level: ToolLevel;
  /** A name, or a prefix that ends in `*`; absent when the scope is not narrowed to a resource. */
  readonly resource?: string;
  /** A decimal in text, as precise as it was written; the largest amount that a call may carry. */
  readonly cap?: string;
}

export const CONNECTOR_NAME = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
// A segment `capped` always begins the cap, so it is no resource. The pieces share no first character, so
// that no text makes the pattern go back more than once.
const RESOURCE = '(?!capped(?::|$))(?:[A-Za-z0-9_.-]+[*]?|[*])';
const TOOL_SCOPE = new RegExp(
  `^tool:(?<connector>${CONNECTOR_NAME}|[*]):(?<level>read|write|delete|admin|[*])` +
    `(?::(?<resource>${RESOURCE}))?(?::capped:(?<cap>[0-9]+(?:[.][0-9]+)?))?$`,
);

/** Undefined when the text is not a tool scope. The level `*` reads as `admin`, the resource `*` as none. */
export function parseToolScope(text: string): ToolScope | undefined {
  const { connector, level, resource, cap } = (text.length <= 256 && TOOL_SCOPE.exec(text)?.groups) || {};
  if (connector === undefined) return undefined;
  return {
    connector,
    level: toolLevels.find((known) => known === level) ?? 'admin',
    ...(resource !== undefined && resource !== '*' && { resource }),
    ...(cap !== undefined && { cap }),
  };
}

/** Whether every call that `narrow` allows is allowed by `wide`. */
export function coversTool(wide: ToolScope, narrow: ToolScope): boolean {
  if (wide.connector !== '*' && wide.connector !== narrow.connector) return false;
  if (toolLevels.indexOf(narrow.level) > toolLevels.indexOf(wide.level)) return false;
  if (wide.resource !== undefined && !isWithin(wide.resource, narrow.resource ?? '')) return false;
  if (wide.cap === undefined) return true;
  return narrow.cap !== undefined && compareDecimals(narrow.cap, wide.cap) <= 0;
}

/** Whether a name or pattern (a prefix that ends in `*`) means nothing but what `pattern` means too. */
export function isWithin(pattern: string, name: string): boolean {
  return name === pattern || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
}

/** Whether some tool scope reaches the connector, by its name or by `*`. */
export function reachesConnector(scopes: readonly string[], connector: string): boolean {
  return scopes.some((scope) => [connector, '*'].includes(parseToolScope(scope)?.connector ?? ''));
}

/** The connectors that tool scopes name, `*` left out, in the order in which they first appear. */
export function namedConnectors(scopes: readonly string[]): string[] {
  const connectors = scopes.flatMap((scope) => parseToolScope(scope)?.connector ?? []);
  return [...new Set(connectors)].filter((name) => name !== '*');
}
