import { issuedDetails, type Narrowable, type ReadDetails } from './authorization-details.ts';
import type { FieldFault } from './errors.ts';
import {
  type Caps,
  type CapWindow,
  type Place,
  reportOutside,
  reportTo,
  type ToolsEntry,
} from './tools-entry.ts';

/**
 * Makes the entries of a delegated grant. Each entry of the parent is copied while a scope of the child still
 * reaches its connector; what is asked for makes it narrower. Anything wider is a fault, never cut silently.
 *
 * @param child the purpose, which is the parent's, the scopes of the child, and the entries asked for
 * @param parent the parent's entries as they are stored
 * @param path the name of the field that the entries asked for came in
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

function narrower(above: ToolsEntry, asked: ToolsEntry, { path, report }: Place): ToolsEntry {
  reportOutside(above.tools, asked.tools ?? [], { path: `${path}.tools`, report });
  if (asked.data_region !== undefined && asked.data_region !== above.data_region) {
    report(`${path}.data_region`, 'not_allowed');
  }
  const caps = tightened(above.caps, asked.caps, { path: `${path}.caps`, report });
  return { ...above, ...(asked.tools && { tools: asked.tools }), ...(caps && { caps }) };
}

/** Those of above, with what was asked for in their place. New tools and windows may be added. */
function tightened(above: Caps = {}, asked: Caps = {}, { path, report }: Place): Caps | undefined {
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

/** Asked of the object's own members: a tool may be called `constructor`. */
function windowsOf(caps: Caps, tool: string): Map<string, number> {
  const windows: Partial<Record<CapWindow, number>> = (Object.hasOwn(caps, tool) && caps[tool]) || {};
  return new Map(Object.entries(windows));
}
