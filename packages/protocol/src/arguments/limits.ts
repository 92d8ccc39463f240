import type { RuleWords } from '../rule-words.ts';
import { type RuleLine, rulesInWords } from './in-words.ts';
import { readRules } from './rule-reading.ts';
import { isObject, type Rules } from './rules.ts';

/** The limits on the arguments of one tool, in words. */
export interface ArgumentLimits {
  readonly connector: string;
  readonly tool: string;
  /** True when arguments that no line names are free. */
  readonly open: boolean;
  readonly lines: RuleLine[];
}

/**
 * Describes the rules in stored entries of `authorization_details`, by connector and tool, in their order.
 *
 * @param details the stored entries; anything that is no entry with rules is passed over
 * @param words in English where they are not given
 */
export function argumentLimits(details: unknown, words?: RuleWords): ArgumentLimits[] {
  const entries: readonly unknown[] = Array.isArray(details) ? details : [];
  return entries.flatMap((entry) => {
    if (!isObject(entry) || !isObject(entry.arguments)) return [];
    const connector = String(entry.connector);
    return Object.entries(entry.arguments).flatMap(([tool, value]) => {
      const read = readRules(value);
      return read.ok ? [{ connector, tool, ...rulesOf(read.rules, words) }] : [];
    });
  });
}

function rulesOf(rules: Rules, words?: RuleWords): Pick<ArgumentLimits, 'open' | 'lines'> {
  const { open, lines } = rulesInWords(rules, words);
  return { open, lines: [...lines] };
}
