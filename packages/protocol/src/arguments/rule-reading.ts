import { compareSigned } from './decimals.ts';
import { readPointer } from './pointers.ts';
import { keyChecks, type RuleKey, ruleKeys } from './rule-keys.ts';
import { isObject, type Rule, type RuleFault, type Rules } from './rules.ts';

/** The rules, or the first fault that was found. */
export type ReadRules =
  | { readonly ok: true; readonly rules: Rules }
  | { readonly ok: false; readonly fault: RuleFault };

const [MAX_POINTERS, MAX_EACH] = [64, 3];

/** The type that each key speaks of. `min` and `max` also speak of `integer` and `decimal`. */
const typeOfKey: Readonly<Record<string, 'string' | 'number' | 'array'>> = {
  min: 'number',
  max: 'number',
  length: 'string',
  prefix: 'string',
  suffix: 'string',
  email: 'string',
  host: 'string',
  path: 'string',
  url: 'string',
  cidr: 'string',
  items: 'array',
  contains: 'array',
  each: 'array',
};
const NUMBERS: ReadonlySet<unknown> = new Set([undefined, 'number', 'integer', 'decimal']);
const branchKeys = new Set(['optional', 'open', 'type']);

/**
 * Reads the rules of one tool, strictly. The first fault wins: the set, then each pointer in the order of the
 * document, then branches with the keys of a leaf.
 *
 * @param value any value, not trusted; it is not changed
 * @param path the path of the set in a larger document, with which the path of the fault begins
 */
export function readRules(value: unknown, path?: string): ReadRules {
  const fault = faultOfSet(value, { path, depth: 0 });
  // The whole value has been compared with the type by now.
  return fault ? { ok: false, fault } : { ok: true, rules: value as Rules };
}

interface Place {
  /** The path of the set; undefined for the rules of the tool itself. */
  readonly path: string | undefined;
  /** The number of `each` around the set. */
  readonly depth: number;
}

function faultOfSet(value: unknown, place: Place): RuleFault | undefined {
  const path = place.path ?? '';
  if (!isObject(value)) return { code: 'wrong_type', path };
  const rules = Object.entries(value);
  if (rules.length === 0) return { code: 'empty', path };
  if (rules.length > MAX_POINTERS) return { code: 'too_many', path };
  const pathOf = (pointer: string) => (place.path === undefined ? pointer : `${place.path}.${pointer}`);
  for (const [pointer, rule] of rules) {
    const at = pathOf(pointer);
    const read = readPointer(pointer);
    const fault = read.ok ? faultOfRule(rule, { ...place, path: at }) : { code: read.code, path: at };
    if (fault) return fault;
    if (pointer === '' && isObject(rule) && ('optional' in rule || 'absent' in rule)) {
      return { code: 'rule_conflict', path: at };
    }
  }
  for (const [pointer, rule] of rules) {
    const isBranch = rules.some(([other]) => other.startsWith(`${pointer}/`));
    const isTop = pointer === '' && place.depth === 0;
    if (!isObject(rule) || standsWell(rule, isBranch, isTop)) continue;
    return { code: 'rule_conflict', path: pathOf(pointer) };
  }
  return undefined;
}

/** Only a branch can be open, and a branch limits nothing else. The arguments as a whole are a branch. */
function standsWell(rule: object, isBranch: boolean, isTop: boolean): boolean {
  if (!isBranch) return !isTop && !('open' in rule);
  return Object.entries(rule).every(
    ([key, value]) => branchKeys.has(key) && (key !== 'type' || value === 'object'),
  );
}

function faultOfRule(rule: unknown, { path, depth }: Place & { path: string }): RuleFault | undefined {
  if (!isObject(rule)) return { code: 'wrong_type', path };
  const unknown = Object.keys(rule).find((key) => !ruleKeys.some((known) => known === key));
  if (unknown !== undefined) return { code: 'unknown_key', path: `${path}.${unknown}` };
  for (const key of ruleKeys) {
    if (!Object.hasOwn(rule, key)) continue;
    const fault = faultOfKey(key, rule[key], { path: `${path}.${key}`, depth });
    if (fault) return fault;
  }
  return canStandTogether(rule) ? undefined : { code: 'rule_conflict', path };
}

function faultOfKey(key: RuleKey, value: unknown, { path, depth }: Place & { path: string }) {
  if (key !== 'each') return keyChecks[key](value, path);
  if (depth === MAX_EACH) return { code: 'too_many', path } as const;
  return faultOfSet(value, { path, depth: depth + 1 });
}

/** @param rule keys with good values */
function canStandTogether(rule: Rule): boolean {
  const present = Object.keys(rule);
  if (rule.absent) return present.length === 1;
  if (rule.in) return present.every((key) => key === 'in' || key === 'optional');
  const spoken = new Set(present.map((key) => typeOfKey[key]).filter((type) => type !== undefined));
  if (spoken.size > 1) return false;
  const [type] = spoken;
  if (type === 'number' && !NUMBERS.has(rule.type)) return false;
  if (type !== undefined && type !== 'number' && rule.type !== undefined && rule.type !== type) return false;
  const { min, max, length = [0, 0], items = [0, 0] } = rule;
  if (length[0] > length[1] || items[0] > items[1]) return false;
  return min === undefined || max === undefined || compareSigned(min, max) <= 0;
}
