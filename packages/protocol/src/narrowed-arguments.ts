import { readRules } from './arguments/rule-reading.ts';
import type { Rules } from './arguments/rules.ts';
import { isWithin } from './arguments/within.ts';
import type { ReadDetails } from './authorization-details.ts';
import type { FieldFault } from './field-reports.ts';
import { reportTo } from './field-reports.ts';
import type { ToolsEntry } from './tools-entry.ts';

/**
 * Replaces the rules of each tool that `kept` names. Each tool has to have rules already, and the new rules have to be
 * within them. Other tools keep theirs.
 *
 * @param kept the rules by connector and tool, not trusted
 * @param path the name of the field that `kept` came in, which begins the path of each fault
 * @returns the entries, or a fault for each tool whose rules would widen the request
 */
export function narrowArguments(
  entries: readonly ToolsEntry[],
  kept: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  path = 'arguments',
): ReadDetails {
  const faults: FieldFault[] = [];
  const report = reportTo(faults);
  const narrowed = new Map(entries.map((entry) => [entry.connector, entry]));
  for (const [connector, tools] of Object.entries(kept)) {
    for (const [tool, value] of Object.entries(tools)) {
      const entry = narrowed.get(connector);
      const rules = entry && narrowerRules(entry.arguments, tool, value);
      if (rules) narrowed.set(connector, { ...entry, arguments: { ...entry.arguments, [tool]: rules } });
      else report(`${path}.${connector}.${tool}`, 'not_allowed');
    }
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, entries: [...narrowed.values()] };
}

function narrowerRules(before: ToolsEntry['arguments'], tool: string, value: unknown): Rules | undefined {
  const above = before && Object.hasOwn(before, tool) ? before[tool] : undefined;
  const read = readRules(value);
  return above && read.ok && isWithin(read.rules, above) ? read.rules : undefined;
}
