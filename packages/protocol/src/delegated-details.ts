import { issuedDetails, type Narrowable, type ReadDetails } from './authorization-details.ts';
import type { FieldFault } from './errors.ts';
import {
  type Caps,
  type CapWindow,
  type Field,
  reportOutside,
  reportTo,
  type ToolsEntry,
} from './tools-entry.ts';

/**
 * Makes the entries of a delegated grant. The child gets each entry of the parent whose connector its scopes
 * reach, and a requested entry makes it narrower. A wider request is a fault; the function never cuts silently.
 *
 * @param child the parent's purpose, the scopes of the child, and the requested entries
 * @param parent the entries of the parent as they are stored
 * @param path the name of the field of the requested entries, with which the path of each fault begins
 * @returns the issued entries, or a fault for each tool, cap or region that is wider than the parent's
 */
export function delegatedDetails(
  child: Narrowable,
  parent: readonly ToolsEntry[],
  path = 'authorizationDetails',
): ReadDetails {
  const faults: FieldFault[] = [];
  const report = reportTo(faults);
  const entries = new Map(parent.map((entry) => [entry.connector, entry]));
  for (const [index, asked] of child.entries.entries()) {
    const above = entries.get(asked.connector);
    entries.set(
      asked.connector,
      above ? narrower(above, asked, { path: `${path}.${index}`, report }) : asked,
    );
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, entries: issuedDetails(child.purpose, child.scopes, [...entries.values()]) };
}

function narrower(above: ToolsEntry, asked: ToolsEntry, { path, report }: Field): ToolsEntry {
  reportOutside(above.tools, asked.tools ?? [], { path: `${path}.tools`, report });
  if (asked.data_region !== undefined && asked.data_region !== above.data_region) {
    report(`${path}.data_region`, 'not_allowed');
  }
  const caps = tightened(above.caps, asked.caps, { path: `${path}.caps`, report });
  return { ...above, ...(asked.tools && { tools: asked.tools }), ...(caps && { caps }) };
}

/** Replaces the parent's caps with the requested caps. A request may add caps for more tools and windows. */
function tightened(above: Caps = {}, asked: Caps = {}, { path, report }: Field): Caps | undefined {
  const tools = new Set([...Object.keys(above), ...Object.keys(asked)]);
  const caps = Array.from(tools, (tool) => {
    const [ours, theirs] = [windowsOf(above, tool), windowsOf(asked, tool)];
    for (const [window, count] of theirs) {
      if (count > (ours.get(window) ?? Number.POSITIVE_INFINITY)) {
        report(`${path}.${tool}.${window}`, 'too_large');
      }
    }
    return [tool, Object.fromEntries([...ours, ...theirs])];
  });
  return caps.length > 0 ? Object.fromEntries(caps) : undefined;
}

/** Reads the object's own members only, because a tool may have the name `constructor`. */
function windowsOf(caps: Caps, tool: string): Map<string, number> {
  const windows: Partial<Record<CapWindow, number>> = (Object.hasOwn(caps, tool) && caps[tool]) || {};
  return new Map(Object.entries(windows));
}
