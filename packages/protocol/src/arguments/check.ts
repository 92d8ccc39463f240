import { leafTests } from './leaf-checks.ts';
import { type Branch, type Leaf, type Place, placesOf } from './places.ts';
import { pointerToken } from './pointers.ts';
import { type ArgumentsCause, copyArguments } from './read-arguments.ts';
import type { RuleKey } from './rule-keys.ts';
import type { Rules } from './rules.ts';
import { cut } from './text.ts';

/** The arguments pass. */
export interface ArgumentsPass {
  readonly ok: true;
}

/** The first refusal. It holds no argument's value. */
export type ArgumentsRefusal =
  | { readonly ok: false; readonly subReason: 'argument_missing'; readonly path: string }
  | {
      readonly ok: false;
      readonly subReason: 'argument_not_allowed';
      /** A pointer into the arguments, with the indices of arrays, cut after 256 code points. */
      readonly path: string;
      /** The key that does not hold, or `unlisted` for an argument that no pointer names. */
      readonly rule: RuleKey | 'unlisted';
      /** The value of that key, with the first ten items of a list; absent for `unlisted` and `absent`. */
      readonly limit?: unknown;
    }
  | { readonly ok: false; readonly subReason: 'argument_unreadable'; readonly cause: ArgumentsCause };

const MAX_STEPS = 20_000;
const MAX_PATH = 256;
const PASS: ArgumentsPass = { ok: true };

/** The steps that are left to the rules of one call. The manifest's rules and the grant's share them. */
export interface Steps {
  left: number;
}

/** Begins the count of one call. */
export function newSteps(): Steps {
  return { left: MAX_STEPS };
}

/**
 * Checks the arguments of a call against the rules of its tool. The arguments are copied first.
 *
 * @param rules as `readRules` takes them
 * @param args the object that will be sent; undefined when the caller gave none, which passes no rules
 */
export function checkArguments(rules: Rules, args: unknown): ArgumentsPass | ArgumentsRefusal {
  if (args === undefined) return { ok: false, subReason: 'argument_missing', path: '' };
  const copied = copyArguments(args);
  if (!copied.ok) return { ok: false, subReason: 'argument_unreadable', cause: copied.cause };
  return checkCopied(rules, copied.value, newSteps());
}

/** Checks arguments that `copyArguments` made. */
export function checkCopied(rules: Rules, args: unknown, steps: Steps): ArgumentsPass | ArgumentsRefusal {
  return apply(placesOf(rules), args, { path: '', steps });
}

interface Context {
  readonly path: string;
  readonly steps: Steps;
}

/** @param value undefined when it is missing, which no value of JSON is */
function apply(place: Place, value: unknown, context: Context): ArgumentsPass | ArgumentsRefusal {
  if (value === undefined) return applyMissing(place, context.path);
  return place.kind === 'leaf' ? applyLeaf(place, value, context) : applyBranch(place, value, context);
}

function applyMissing(place: Place, path: string): ArgumentsPass | ArgumentsRefusal {
  if (place.mayBeMissing) return PASS;
  if (place.kind === 'leaf' || place.hasRule) {
    return { ok: false, subReason: 'argument_missing', path: cut(path, MAX_PATH) };
  }
  for (const [name, below] of place.below) {
    const result = applyMissing(below, path + pointerToken(name));
    if (!result.ok) return result;
  }
  return PASS;
}

function applyBranch(place: Branch, value: unknown, { path, steps }: Context) {
  if (place.hasRule && !take(steps, 1)) return outOfSteps;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return notAllowed(path, 'type', 'object');
  }
  const unlisted = place.isOpen ? undefined : firstUnlisted(place, value);
  if (unlisted !== undefined) return notAllowed(path + pointerToken(unlisted), 'unlisted');
  for (const [name, below] of place.below) {
    const member = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    const result = apply(below, member, { path: path + pointerToken(name), steps });
    if (!result.ok) return result;
  }
  return PASS;
}

/** Finds the first member, by UTF-16 code units, that leads to no place. */
function firstUnlisted({ below }: Branch, value: object): string | undefined {
  let first: string | undefined;
  for (const name of Object.keys(value)) {
    if (!below.has(name) && (first === undefined || name < first)) first = name;
  }
  return first;
}

function applyLeaf({ rule }: Leaf, value: unknown, { path, steps }: Context) {
  const { tests, steps: cost, contains } = leafTests(rule);
  const elements = Array.isArray(value) ? value : [];
  if (!take(steps, cost + contains * elements.length)) return outOfSteps;
  if (rule.absent) return notAllowed(path, 'absent');
  for (const test of tests) {
    if (!test.holds(value)) return notAllowed(path, test.rule, test.limit);
  }
  if (!rule.each) return PASS;
  const place = placesOf(rule.each);
  for (const [index, element] of elements.entries()) {
    const result = apply(place, element, { path: `${path}/${index}`, steps });
    if (!result.ok) return result;
  }
  return PASS;
}

function take(steps: Steps, cost: number): boolean {
  steps.left -= cost;
  return steps.left >= 0;
}

const outOfSteps = { ok: false, subReason: 'argument_unreadable', cause: 'steps' } as const;

function notAllowed(path: string, rule: RuleKey | 'unlisted', limit?: unknown): ArgumentsRefusal {
  const at = cut(path, MAX_PATH);
  return {
    ok: false,
    subReason: 'argument_not_allowed',
    path: at,
    rule,
    ...(limit !== undefined && { limit }),
  };
}
