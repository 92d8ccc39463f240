import { keptRules, reportUnlisted } from './arguments/entry-rules.ts';
import { asciiJson } from './ascii-json.ts';
import type { FieldFault } from './field-reports.ts';
import { type Field, reportTo } from './field-reports.ts';
import { namedConnectors, reachesConnector } from './tool-scopes.ts';
import {
  isConnectorName,
  readEntry,
  readTools,
  reportOutside,
  TOOLS_TYPE,
  type ToolsEntry,
} from './tools-entry.ts';

export type { ToolsEntry } from './tools-entry.ts';

/** The entries that were read, or every fault that was found. */
export type ReadDetails =
  | { readonly ok: true; readonly entries: readonly ToolsEntry[] }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

const MAX_ENTRIES = 20;
/** The most bytes of all entries as they are sent, so that a grant token fits into a header. */
export const MAX_BYTES = 2_048;

/**
 * Reads the `authorization_details` of a request: at most 20 entries of type `urn:service:tools:v1`, 2,048 bytes
 * together, one entry for each connector.
 *
 * @param value any value, not trusted
 * @param scopes the scopes of the request; one of them has to reach the connector of each entry
 * @param path the name of the field, with which the path of each fault begins
 * @returns faults instead of entries when anything is wrong; the function does not throw
 * @see RFC 9396, section 2
 */
export function readRequestedDetails(
  value: unknown,
  scopes: readonly string[],
  path = 'authorizationDetails',
): ReadDetails {
  const faults: FieldFault[] = [];
  const report = reportTo(faults);
  const entries = readEntries(value, scopes, { path, report });
  for (const [index, entry] of entries.entries()) reportUnlisted(entry, { path: `${path}.${index}`, report });
  return faults.length > 0 ? { ok: false, faults } : { ok: true, entries };
}

/**
 * Reads the `authorization_details` of a delegation, as `readRequestedDetails` does. Here an entry may limit the
 * arguments of a tool that only the parent's entry lists; `delegatedDetails` judges the entry that results.
 */
export function readDelegationDetails(
  value: unknown,
  scopes: readonly string[],
  path = 'authorizationDetails',
): ReadDetails {
  const faults: FieldFault[] = [];
  const entries = readEntries(value, scopes, { path, report: reportTo(faults) });
  return faults.length > 0 ? { ok: false, faults } : { ok: true, entries };
}

/**
 * Makes the entries that are stored and issued. With a purpose, each connector that the scopes name has an entry,
 * in the order in which the scopes first name it, and each entry carries the purpose. Without a purpose, the result
 * holds the given entries alone. The function drops an entry only when no scope reaches its connector, and rules only
 * with their tool, because an entry or rule that was dropped would no longer restrict. Applied to its own result the function changes nothing.
 *
 * @see RFC 9396
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
    const entry = entries.find((described) => described.connector === connector);
    const { tools, caps, data_region } = entry ?? {};
    const rules = entry && keptRules(entry);
    return {
      type: TOOLS_TYPE,
      connector,
      ...(purpose !== undefined && { purpose }),
      ...(tools && { tools }),
      ...(caps && { caps }),
      ...(rules && { arguments: rules }),
      ...(data_region !== undefined && { data_region }),
    };
  });
}

/** The subject of a person's decision: the scopes that remain, and the entries in their issued form. */
export interface Narrowable {
  readonly purpose: string | undefined;
  readonly scopes: readonly string[];
  readonly entries: readonly ToolsEntry[];
}

/**
 * Narrows the tools of each connector that `kept` names to the tools listed there. Each listed tool has to be
 * within the tools that the entry allowed before. Other connectors keep their tools.
 *
 * @returns the issued entries, or a fault for each tool or connector that would widen the request
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

function readEntries(value: unknown, scopes: readonly string[], { path, report }: Field): ToolsEntry[] {
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

/** Counts the bytes of entries as a token writes them: `é` is `\\u00e9`. */
export function bytesOf(value: object): number {
  return asciiJson(value).length;
}
