import { type Caps, TOOLS_TYPE, type ToolsEntry } from './tools-entry.ts';

/** The `type` of a lineage entry. */
export const LINEAGE_TYPE = 'urn:service:caps-lineage:v1';

/**
 * The caps of the grants above a delegated grant for one connector, the root grant first. An enforcer counts each
 * call against all of them, so that delegation does not multiply the allowed calls.
 */
export interface LineageEntry {
  readonly type: typeof LINEAGE_TYPE;
  readonly connector: string;
  readonly ancestors: readonly { readonly grant: string; readonly caps: Caps }[];
}

/** An entry of a stored grant and of its tokens. */
export type IssuedEntry = ToolsEntry | LineageEntry;

/**
 * Makes the lineage entries of a delegated grant, one for each connector whose ancestors have caps.
 *
 * @param kept the grant's own entries; a connector without an entry needs no lineage
 * @param parent the parent's id and the entries that it was issued with
 */
export function capsLineage(
  kept: readonly ToolsEntry[],
  parent: { readonly grantId: string; readonly entries: readonly IssuedEntry[] },
): LineageEntry[] {
  return kept.flatMap(({ connector }) => {
    const its = parent.entries.filter((entry) => entry.connector === connector);
    const above = its.find((entry) => entry.type === LINEAGE_TYPE)?.ancestors ?? [];
    const caps = its.find((entry) => entry.type === TOOLS_TYPE)?.caps;
    const ancestors = caps ? [...above, { grant: parent.grantId, caps }] : above;
    return ancestors.length > 0 ? [{ type: LINEAGE_TYPE, connector, ancestors }] : [];
  });
}

/** Selects the entries that the API shows to developers; the lineage is for enforcers. */
export function toolsEntries(entries: readonly IssuedEntry[]): ToolsEntry[] {
  return entries.filter((entry) => entry.type === TOOLS_TYPE);
}

/**
 * Types the entries of a grant's database column. They were checked before they were stored.
 *
 * @returns an empty list when the column holds no array
 */
export function storedEntries(column: unknown): IssuedEntry[] {
  return Array.isArray(column) ? column.filter(isIssued) : [];
}

function isIssued(value: unknown): value is IssuedEntry {
  return [TOOLS_TYPE, LINEAGE_TYPE].includes(Object(value).type);
}
