import { readPointer } from './pointers.ts';
import type { Rule, Rules } from './rules.ts';

/** A place in the arguments: a branch has places below it, a leaf has none. */
export type Place = Branch | Leaf;

interface InTree {
  readonly name: string;
  /** True when a rule says `optional` or `absent`, so that nothing below is asked. */
  readonly isOptional: boolean;
  /** True when a call passes without it: also a branch without a rule whose places may all be missing. */
  readonly mayBeMissing: boolean;
}

/** An object whose members have places of their own. */
export interface Branch extends InTree {
  readonly kind: 'branch';
  /** False for a branch that no pointer names: it may be missing when everything below it may be. */
  readonly hasRule: boolean;
  readonly isOpen: boolean;
  /** In the order of the UTF-16 code units of their names. */
  readonly below: ReadonlyMap<string, Place>;
}

/** A value with a rule. */
export interface Leaf extends InTree {
  readonly kind: 'leaf';
  readonly rule: Rule;
}

const trees = new WeakMap<Rules, Place>();

/**
 * Arranges rules as a tree, once for each set of rules.
 *
 * @param rules as `readRules` takes them
 */
export function placesOf(rules: Rules): Place {
  const known = trees.get(rules);
  if (known) return known;
  const root = arrange(rules);
  trees.set(rules, root);
  return root;
}

interface Growing {
  rule: Rule | undefined;
  readonly below: Map<string, Growing>;
}

function arrange(rules: Rules): Place {
  const root: Growing = { rule: undefined, below: new Map() };
  for (const [pointer, rule] of Object.entries(rules)) {
    const read = readPointer(pointer);
    let place = root;
    for (const name of read.ok ? read.names : []) {
      const next = place.below.get(name) ?? { rule: undefined, below: new Map() };
      place.below.set(name, next);
      place = next;
    }
    place.rule = rule;
  }
  return grown('', root);
}

function grown(name: string, { rule, below }: Growing): Place {
  const isOptional = rule?.optional === true || rule?.absent === true;
  if (below.size === 0) return { kind: 'leaf', name, rule: rule ?? {}, isOptional, mayBeMissing: isOptional };
  const places = [...below].map(([member, place]): [string, Place] => [member, grown(member, place)]);
  places.sort(([left], [right]) => (left < right ? -1 : 1));
  const hasRule = rule !== undefined;
  const mayBeMissing = isOptional || (!hasRule && places.every(([, place]) => place.mayBeMissing));
  const isOpen = rule?.open === true;
  return { kind: 'branch', name, hasRule, isOpen, isOptional, mayBeMissing, below: new Map(places) };
}
