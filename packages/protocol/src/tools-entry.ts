import { readEntryRules } from './arguments/entry-rules.ts';
import type { Rules } from './arguments/rules.ts';
import { MAX_COUNT } from './counts.ts';
import type { Field } from './field-reports.ts';
import { CONNECTOR_NAME, isWithin } from './tool-scopes.ts';

/** The `type` of a tools entry. */
export const TOOLS_TYPE = 'urn:service:tools:v1';

/** The windows in which an enforcer counts calls, in the order of its counters. */
export const capWindows = ['per_hour', 'per_day', 'per_case'] as const;
/** The window in which an enforcer counts calls. */
export type CapWindow = (typeof capWindows)[number];

/** The most calls in a window by exact tool name, or the most cost units under `cost_units`. */
export type Caps = Readonly<Record<string, Readonly<Partial<Record<CapWindow, number>>>>>;

/** An entry of `authorization_details` that narrows the scopes for one connector (RFC 9396, section 2). */
export interface ToolsEntry {
  readonly type: typeof TOOLS_TYPE;
  readonly connector: string;
  /** The purpose of the grant, in stored and issued entries. A request has it once, outside the entries. */
  readonly purpose?: string;
  /** The allowed tools: exact names, and prefixes that end in `*`. Absent when every tool is allowed. */
  readonly tools?: readonly string[];
  readonly caps?: Caps;
  /** The limits of the arguments of a call, by exact tool name. An entry with rules lists its tools. */
  readonly arguments?: Readonly<Record<string, Rules>>;
  /** The region that the connector's data has to stay in, such as `eu`. */
  readonly data_region?: string;
}

const NAME = new RegExp(`^${CONNECTOR_NAME}$`);
const NAME_OR_PREFIX = new RegExp(`^${CONNECTOR_NAME}[*]?$`);
const REGION = /^[A-Za-z0-9_-]*$/;
const MAX_TOOLS = 100;

/** Reads one entry of a request. The result is complete only when the function reported no fault. */
export function readEntry(value: unknown, { path, report }: Field): ToolsEntry | undefined {
  if (!isObject(value)) return report(path, 'type');
  const { type, connector, tools, caps, arguments: rules, data_region, ...others } = value;
  for (const name of Object.keys(others)) {
    report(`${path}.${name}`, name === 'purpose' ? 'not_allowed' : 'unknown');
  }
  const typeText = readText(type, { path: `${path}.type`, report });
  if (typeText !== undefined && typeText !== TOOLS_TYPE) report(`${path}.type`, 'not_allowed');
  const name = readText(connector, { path: `${path}.connector`, report });
  if (name === undefined) return undefined;
  if (!isConnectorName(name)) return report(`${path}.connector`, 'format');
  const limits = {
    tools: tools === undefined ? undefined : readTools(tools, { path: `${path}.tools`, report }),
    caps: caps === undefined ? undefined : readCaps(caps, { path: `${path}.caps`, report }),
    rules: rules === undefined ? undefined : readEntryRules(rules, { path: `${path}.arguments`, report }),
    region:
      data_region === undefined
        ? undefined
        : readRegion(data_region, { path: `${path}.data_region`, report }),
  };
  return {
    type: TOOLS_TYPE,
    connector: name,
    ...(limits.tools && { tools: limits.tools }),
    ...(limits.caps && { caps: limits.caps }),
    ...(limits.rules && { arguments: limits.rules }),
    ...(limits.region !== undefined && { data_region: limits.region }),
  };
}

function readText(value: unknown, { path, report }: Field): string | undefined {
  if (typeof value === 'string') return value;
  return report(path, value === undefined ? 'required' : 'type');
}

/** Tells whether a text is the name of a connector or tool. */
export function isConnectorName(text: string): boolean {
  return NAME.test(text);
}

/** Tells whether a text is the name of a tool, or a name and `*` for every tool whose name begins so. */
export function isToolPattern(text: string): boolean {
  return NAME_OR_PREFIX.test(text);
}

/** Reads a list of 1 to 100 tool names and prefixes. */
export function readTools(value: unknown, { path, report }: Field): string[] | undefined {
  if (!Array.isArray(value)) return report(path, 'type');
  if (value.length === 0) return report(path, 'too_short');
  if (value.length > MAX_TOOLS) return report(path, 'too_long');
  const names = new Set<string>();
  for (const [index, name] of value.entries()) {
    if (typeof name !== 'string') report(`${path}.${index}`, 'type');
    else if (!isToolPattern(name)) report(`${path}.${index}`, 'format');
    else if (names.has(name)) report(`${path}.${index}`, 'not_allowed');
    else names.add(name);
  }
  return [...names];
}

/** Reports each of `tools` that the list `before` does not allow. Without that list every tool was allowed. */
export function reportOutside(
  before: readonly string[] | undefined,
  tools: readonly string[],
  { path, report }: Field,
): void {
  if (!before) return;
  for (const [index, name] of tools.entries()) {
    if (!before.some((pattern) => isWithin(pattern, name))) report(`${path}.${index}`, 'not_allowed');
  }
}

/** A key is never a pattern, so that no two keys count the same call. */
function readCaps(value: unknown, { path, report }: Field): Caps | undefined {
  if (!isObject(value)) return report(path, 'type');
  const members = Object.entries(value);
  if (members.length === 0) return report(path, 'too_short');
  const caps = members.map(([tool, windows]) => {
    if (!isConnectorName(tool)) report(`${path}.${tool}`, 'format');
    return [tool, readWindows(windows, { path: `${path}.${tool}`, report })];
  });
  return Object.fromEntries(caps);
}

function readWindows(value: unknown, { path, report }: Field): Partial<Record<CapWindow, number>> {
  if (!isObject(value)) return report(path, 'type') ?? {};
  const members = Object.entries(value);
  if (members.length === 0) report(path, 'too_short');
  const counts: Partial<Record<CapWindow, number>> = {};
  for (const [name, count] of members) {
    const at = `${path}.${name}`;
    const window = capWindows.find((known) => known === name);
    if (!window) report(at, 'unknown');
    else if (typeof count !== 'number' || !Number.isInteger(count)) report(at, 'type');
    else if (count < 0) report(at, 'too_small');
    else if (count > MAX_COUNT) report(at, 'too_large');
    else counts[window] = count;
  }
  return counts;
}

function readRegion(value: unknown, { path, report }: Field): string | undefined {
  if (typeof value !== 'string') return report(path, 'type');
  if (value === '') return report(path, 'too_short');
  if (value.length > 64) return report(path, 'too_long');
  return REGION.test(value) ? value : report(path, 'format');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name of a connector or a tool without the differences between letters, digits and marks that look alike. */
export const looksOf = (name: string): string =>
  name.toLowerCase().replaceAll(/[-.]/g, '_').replaceAll('0', 'o').replaceAll(/[1i]/g, 'l');
