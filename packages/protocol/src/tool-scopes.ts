import { compareDecimals } from './decimals.ts';

/** The levels of tool scopes. Each level includes the levels before it. */
export const toolLevels = ['read', 'write', 'delete', 'admin'] as const;
/** A level of a tool scope. */
export type ToolLevel = (typeof toolLevels)[number];

/** The parts of a tool scope `tool:<connector>:<level>[:<resource>][:capped:<amount>]`. */
export interface ToolScope {
  /** The connector's name, or `*` for every connector. */
  readonly connector: string;
  readonly level: ToolLevel;
  /** A name, or a prefix that ends in `*`; absent when the scope is not narrowed to a resource. */
  readonly resource?: string;
  /** The largest amount that a call may carry, a decimal with the digits of the scope. */
  readonly cap?: string;
}

/** The pattern of a connector's name, without anchors. */
export const CONNECTOR_NAME = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
// A segment `capped` always begins the cap, so it is no resource. The alternatives share no first character, so
// that the pattern backtracks at most once.
const RESOURCE = '(?!capped(?::|$))(?:[A-Za-z0-9_.-]+[*]?|[*])';
const TOOL_SCOPE = new RegExp(
  `^tool:(?<connector>${CONNECTOR_NAME}|[*]):(?<level>read|write|delete|admin|[*])` +
    `(?::(?<resource>${RESOURCE}))?(?::capped:(?<cap>[0-9]+(?:[.][0-9]+)?))?$`,
);

/**
 * Reads a tool scope. The level `*` reads as `admin`, and the resource `*` as no resource.
 *
 * @returns undefined when the text is not a tool scope
 *
 * @example
 * ```ts
 * parseToolScope('tool:pay:write:capped:500'); // { connector: 'pay', level: 'write', cap: '500' }
 * parseToolScope('calendar:read'); // undefined
 * ```
 */
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

/** Tells whether `wide` allows every call that `narrow` allows. */
export function coversTool(wide: ToolScope, narrow: ToolScope): boolean {
  if (wide.connector !== '*' && wide.connector !== narrow.connector) return false;
  if (toolLevels.indexOf(narrow.level) > toolLevels.indexOf(wide.level)) return false;
  if (wide.resource !== undefined && !isWithin(wide.resource, narrow.resource ?? '')) return false;
  if (wide.cap === undefined) return true;
  return narrow.cap !== undefined && compareDecimals(narrow.cap, wide.cap) <= 0;
}

/**
 * Tells whether a pattern matches a name, or everything that another pattern matches. A pattern is a name, or a
 * prefix that ends in `*`.
 */
export function isWithin(pattern: string, name: string): boolean {
  return name === pattern || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
}

/** Tells whether a tool scope names the connector or `*`. */
export function reachesConnector(scopes: readonly string[], connector: string): boolean {
  return scopes.some((scope) => [connector, '*'].includes(parseToolScope(scope)?.connector ?? ''));
}

/** Lists the connectors that tool scopes name, without `*`, in the order in which they first appear. */
export function namedConnectors(scopes: readonly string[]): string[] {
  const connectors = scopes.flatMap((scope) => parseToolScope(scope)?.connector ?? []);
  return [...new Set(connectors)].filter((name) => name !== '*');
}
