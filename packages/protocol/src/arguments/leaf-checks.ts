import { compareSigned, decimalOf, isDecimal } from './decimals.ts';
import { type FormKey, formKeys, forms } from './forms/index.ts';
import type { RuleKey } from './rule-keys.ts';
import type { ArgumentType, Rule, RuleValue } from './rules.ts';
import { codePoints, hasControl } from './text.ts';

/** One key of a rule as a test, and the limit that a refusal shows. */
export interface LeafTest {
  readonly rule: RuleKey;
  readonly limit: unknown;
  holds(value: unknown): boolean;
}

/** The tests of a rule but `each`, in the order in which they are made, and the steps that they cost. */
export interface LeafTests {
  readonly tests: readonly LeafTest[];
  /** One, and the items of all lists. `contains` costs more, by the length of the array. */
  readonly steps: number;
  readonly contains: number;
}

const SHOWN = 10;
const testsOf = new WeakMap<Rule, LeafTests>();

/** Makes the tests of a rule, once for each rule. */
export function leafTests(rule: Rule): LeafTests {
  const known = testsOf.get(rule);
  if (known) return known;
  const made = make(rule);
  testsOf.set(rule, made);
  return made;
}

function make(rule: Rule): LeafTests {
  const tests: LeafTest[] = [];
  let steps = 1;
  const add = (key: RuleKey, limit: unknown, holds: (value: unknown) => boolean) =>
    tests.push({ rule: key, limit, holds });
  const addText = (key: RuleKey, limit: unknown, holds: (text: string) => boolean) =>
    add(key, limit, (value) => typeof value === 'string' && holds(value));
  const addList = <Item>(key: RuleKey, items: readonly Item[]) => {
    steps += items.length;
    return [key, items.slice(0, SHOWN)] as const;
  };

  const type = typeOf(rule);
  if (type) add('type', type, isOfType[type]);
  if (rule.in) {
    const values = new Set<unknown>(rule.in);
    add(...addList('in', rule.in), (value) => values.has(value));
  }
  const { min, max } = rule;
  if (min !== undefined) add('min', min, (value) => compareSigned(asDecimal(value), min) >= 0);
  if (max !== undefined) add('max', max, (value) => compareSigned(asDecimal(value), max) <= 0);
  const { length, prefix, suffix, items, contains } = rule;
  if (length) addText('length', length, (text) => isBetween(codePoints(text), length));
  if (prefix) {
    addText(
      ...addList('prefix', prefix),
      (text) => !hasControl(text) && prefix.some((p) => text.startsWith(p)),
    );
  }
  if (suffix) {
    addText(
      ...addList('suffix', suffix),
      (text) => !hasControl(text) && suffix.some((s) => text.endsWith(s)),
    );
  }
  for (const key of formKeys) addForm(rule, key, (texts, holds) => addText(...addList(key, texts), holds));
  if (items) add('items', items, (value) => Array.isArray(value) && isBetween(value.length, items));
  if (contains) {
    const holds = (value: unknown) => Array.isArray(value) && hasAll(value, contains);
    add('contains', contains.slice(0, SHOWN), holds);
  }
  return { tests, steps, contains: contains?.length ?? 0 };
}

function addForm(
  rule: Rule,
  key: FormKey,
  add: (texts: readonly string[], holds: (text: string) => boolean) => void,
) {
  const texts = rule[key];
  if (!texts) return;
  const items = forms[key].itemsOf(texts);
  add(texts, (text) => items.allows(text));
}

const stringKeys = ['length', 'prefix', 'suffix', ...formKeys] as const;

/** The type that a rule demands: the one that it names, or the one that its keys speak of. */
export function typeOf(rule: Rule): ArgumentType | undefined {
  if (rule.type) return rule.type;
  if (rule.min !== undefined || rule.max !== undefined) return 'number';
  if (stringKeys.some((key) => rule[key] !== undefined)) return 'string';
  return rule.items || rule.contains || rule.each ? 'array' : undefined;
}

const isOfType: Readonly<Record<ArgumentType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  decimal: (value) => typeof value === 'string' && isDecimal(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** The type has been checked: a number, or the text of a decimal. */
function asDecimal(value: unknown): string {
  return typeof value === 'number' ? decimalOf(value) : String(value);
}

function isBetween(count: number, [least, most]: readonly [number, number]): boolean {
  return count >= least && count <= most;
}

function hasAll(elements: readonly unknown[], wanted: readonly RuleValue[]): boolean {
  const present = new Set(elements);
  return wanted.every((value) => present.has(value));
}
