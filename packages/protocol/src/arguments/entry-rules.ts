import type { Field, FieldProblem } from '../field-reports.ts';
import { CONNECTOR_NAME, isWithin as isToolWithin } from '../tool-scopes.ts';
import { readRules } from './rule-reading.ts';
import { isObject, type RuleFaultCode, type Rules } from './rules.ts';

const problems: Readonly<Record<RuleFaultCode, FieldProblem>> = {
  wrong_type: 'type',
  empty: 'too_short',
  unknown_key: 'unknown',
  too_many: 'too_long',
  duplicate_item: 'not_allowed',
  invalid_count: 'format',
  invalid_pointer: 'format',
  invalid_rule: 'format',
  rule_conflict: 'not_allowed',
};
const TOOL_NAME = new RegExp(`^${CONNECTOR_NAME}$`);

/** The members of an entry that stand together. */
interface Limited {
  readonly tools?: readonly string[];
  readonly arguments?: Readonly<Record<string, Rules>>;
}

/** Reads the member `arguments` of a requested entry: rules by exact tool name. */
export function readEntryRules(value: unknown, { path, report }: Field): Record<string, Rules> | undefined {
  if (!isObject(value)) return report(path, 'type');
  const tools = Object.entries(value);
  if (tools.length === 0) return report(path, 'too_short');
  const read = new Map<string, Rules>();
  for (const [tool, rules] of tools) {
    const at = `${path}.${tool}`;
    const result = readRules(rules, at);
    if (!TOOL_NAME.test(tool)) report(at, 'format');
    else if (result.ok) read.set(tool, result.rules);
    else report(withIndex(result.fault.path), problems[result.fault.code]);
  }
  return Object.fromEntries(read);
}

/** Reports rules without a list of tools, and rules of a tool that the list does not have: they limit nothing. */
export function reportUnlisted({ tools, arguments: rules }: Limited, { path, report }: Field): void {
  if (!rules) return;
  if (!tools) {
    report(`${path}.tools`, 'required');
    return;
  }
  for (const tool of Object.keys(rules)) {
    if (!isListed(tools, tool)) report(`${path}.arguments.${tool}`, 'not_allowed');
  }
}

/** Keeps the rules of the tools that an entry lists. @returns undefined when no rules are left */
export function keptRules({ tools, arguments: rules }: Limited): Limited['arguments'] {
  const kept = Object.entries(rules ?? {}).filter(([tool]) => tools === undefined || isListed(tools, tool));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function isListed(tools: readonly string[], tool: string): boolean {
  return tools.some((pattern) => isToolWithin(pattern, tool));
}

/** In the path of a field an index stands after a dot. */
function withIndex(path: string): string {
  return path.replace(/\[([0-9]+)\]$/, '.$1');
}
