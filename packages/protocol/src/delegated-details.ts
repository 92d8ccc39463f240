import { reportUnlisted } from './arguments/entry-rules.ts';
import type { Rules } from './arguments/rules.ts';
import { isWithin } from './arguments/within.ts';
import {
  bytesOf,
  issuedDetails,
  MAX_BYTES,
  type Narrowable,
  type ReadDetails,
} from './authorization-details.ts';
import type { FieldFault } from './field-reports.ts';
import { type Field, reportTo } from './field-reports.ts';
import { type Caps, type CapWindow, reportOutside, type ToolsEntry } from './tools-entry.ts';

/**
 * Makes the entries of a delegated grant. The child gets each entry of the parent whose connector its scopes
 * reach, and a requested entry makes it narrower. A wider request is a fault; the function never cuts silently.
 *
 * @param child the parent's purpose, the scopes of the child, and the requested entries
 * @param parent the entries of the parent as they are stored
 * @param path the name of the field of the requested entries, with which the path of each fault begins
 * @returns the issued entries, or a fault for each tool, cap, rule or region that is wider than the parent's
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
    const field = { path: `${path}.${index}`, report };
    const above = entries.get(asked.connector);
    const entry = above ? narrower(above, asked, field) : asked;
    // Rules of tools that are no longer listed go with them; those that the caller asks for have to limit something.
    if (asked.arguments) reportUnlisted({ ...entry, arguments: asked.arguments }, field);
    entries.set(asked.connector, entry);
  }
  const issued = issuedDetails(child.purpose, child.scopes, [...entries.values()]);
  const most = Math.max(MAX_BYTES, bytesOf(parent)); // a child that asks for nothing is never too long
  if (bytesOf(issued) > most) report(path, 'too_long');
  return faults.length > 0 ? { ok: false, faults } : { ok: true, entries: issued };
}

function narrower(above: ToolsEntry, asked: ToolsEntry, { path, report }: Field): ToolsEntry {
  reportOutside(above.tools, asked.tools ?? [], { path: `${path}.tools`, report });
  if (asked.data_region !== undefined && asked.data_region !== above.data_region) {
    report(`${path}.data_region`, 'not_allowed');
  }
  const caps = tightened(above.caps, asked.caps, { path: `${path}.caps`, report });
  const rules = limited(above.arguments, asked.arguments, { path: `${path}.arguments`, report });
  return {
    ...above,
    ...(asked.tools && { tools: asked.tools }),
    ...(caps && { caps }),
    ...(rules && { arguments: rules }),
  };
}

/** Replaces the parent's rules of each tool that the request describes. Those of other tools stay. */
function limited(
  above: ToolsEntry['arguments'],
  asked: ToolsEntry['arguments'],
  { path, report }: Field,
): ToolsEntry['arguments'] {
  if (!asked) return above;
  const rules = new Map<string, Rules>(Object.entries(above ?? {}));
  for (const [tool, theirs] of Object.entries(asked)) {
    if (!isWithin(theirs, rules.get(tool))) report(`${path}.${tool}`, 'not_allowed');
    rules.set(tool, theirs);
  }
  return Object.fromEntries(rules);
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
