import type { FieldFault } from './errors.ts';
import { namedConnectors, reachesConnector } from './tool-scopes.ts';
import {
  isConnectorName,
  type Place,
  readEntry,
  readTools,
  reportOutside,
  reportTo,
  TOOLS_TYPE,
  type ToolsEntry,
} from './tools-entry.ts';

export type { ToolsEntry } from './tools-entry.ts';

export type ReadDetails =
  | { readonly ok: true; readonly entries: readonly ToolsEntry[] }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

const MAX_ENTRIES = 20;
/** Of all entries as they are sent, so that a grant token stays small enough for a header. */
const MAX_BYTES = 2_048;

/**
 * Reads the entries of a request, which come from anybody.
 *
 * @param scopes those of the request; an entry speaks of a connector that one of them reaches
 * @param path the name of the field, which begins the path of each fault
 */
export function readRequestedDetails(
  value: unknown,
  scopes: readonly string[],
  path = 'authorizationDetails',
): ReadDetails {
  const faults: FieldFault[] = [];
  const report = reportTo(faults);
  const entries = readEntries(value, scopes, { path, report });
  return faults.length > 0 ? { ok: false, faults } : { ok: true, entries };
}

/**
 * Makes the form that is stored and issued. With a purpose there is one entry for each connector that the
 * scopes name, in the order in which they first do, and each carries the purpose; without one there are only
 * the entries given. An entry is dropped when no scope reaches its connector any more, and never otherwise:
 * what it withholds would be allowed without it. Applied to its own result it changes nothing.
 *
 * @see the interface specification, grant token claims
 */
export function issuedDetails(
  purpose: string | undefined,
  scopes: readonly string[],
  entries: readonly ToolsEntry[],
): ToolsEntry[] {
  const named = purpose === undefined ? [] : namedConnectors(scopes);
  const described = entries.map((entry) => entry.connector);
  const reached = described.filter((connector) => reachesConnector(scopes, connector));
  return [...new Set([...named, ...reached])].map((connector) => {
    const { tools, caps, data_region } = entries.find((entry) => entry.connector === connector) ?? {};
    return {
      type: TOOLS_TYPE,
      connector,
      ...(purpose !== undefined && { purpose }),
      ...(tools && { tools }),
      ...(caps && { caps }),
      ...(data_region !== undefined && { data_region }),
    };
  });
}

/** What a person decides about: the scopes that are left, and the details in their issued form. */
export interface Narrowable {
  readonly purpose: string | undefined;
  readonly scopes: readonly string[];
  readonly entries: readonly ToolsEntry[];
}

/**
 * Leaves of each connector named in `kept` only the tools listed for it, which have to be within those of
 * before. Connectors that are not named stay as they are.
 *
 * @param path the name of the field that `kept` came in, which begins the path of each fault
 */
export function narrowTools(
  { purpose, scopes, entries }: Narrowable,
  kept: Readonly<Record<string, readonly string[]>>,
  path = 'tools',
): ReadDetails {
  const faults: FieldFault[] = [];
  const report = reportTo(faults);
  if (Object.keys(kept).length > MAX_ENTRIES || bytesOf(kept) > MAX_BYTES) report(path, 'too_long');
  const narrowed = new Map(entries.map((entry) => [entry.connector, entry]));
  for (const [connector, names] of Object.entries(kept)) {
    const at = `${path}.${connector}`;
    const before = narrowed.get(connector);
    if (!isConnectorName(connector)) report(at, 'format');
    else if (!before && !reachesConnector(scopes, connector)) report(at, 'not_allowed');
    const tools = readTools(names, { path: at, report }) ?? [];
    reportOutside(before?.tools, tools, { path: at, report });
    narrowed.set(connector, { type: TOOLS_TYPE, connector, ...before, tools });
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, entries: issuedDetails(purpose, scopes, [...narrowed.values()]) };
}

function readEntries(value: unknown, scopes: readonly string[], { path, report }: Place): ToolsEntry[] {
  if (!Array.isArray(value)) return report(path, 'type') ?? [];
  if (value.length > MAX_ENTRIES || bytesOf(value) > MAX_BYTES) return report(path, 'too_long') ?? [];
  const entries: ToolsEntry[] = [];
  for (const [index, element] of value.entries()) {
    const at = `${path}.${index}`;
    const entry = readEntry(element, { path: at, report });
    if (!entry) continue;
    const repeated = entries.some((earlier) => earlier.connector === entry.connector);
    if (repeated || !reachesConnector(scopes, entry.connector)) report(`${at}.connector`, 'not_allowed');
    entries.push(entry);
  }
  return entries;
}

function bytesOf(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
