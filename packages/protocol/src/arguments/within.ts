import { compareSigned } from './decimals.ts';
import { formKeys, forms } from './forms/index.ts';
import { leafTests, typeOf } from './leaf-checks.ts';
import { type Branch, type Place, placesOf } from './places.ts';
import type { Rule, Rules } from './rules.ts';

/** `shut` passes only a missing member, `free` every member. */
type Reached = Place | 'shut' | 'free';

/**
 * Tells whether every call that the rules `child` accept is accepted by the rules `parent`. The answer is no where the
 * rules do not show it.
 *
 * @param child as `readRules` takes them; undefined for no rules, which accept every call
 */
export function isWithin(child: Rules | undefined, parent: Rules | undefined): boolean {
  return isPlaceWithin(child ? placesOf(child) : 'free', parent ? placesOf(parent) : 'free', true);
}

/** @param isFirst true for the value as a whole, which is never missing */
function isPlaceWithin(child: Reached, parent: Reached, isFirst: boolean): boolean {
  if (!isFirst && mayBeMissing(child) && !mayBeMissing(parent)) return false;
  if (child === 'shut' || isAbsent(child)) return true;
  if (parent === 'free' || isFreeLeaf(parent)) return true;
  if (parent === 'shut' || isAbsent(parent) || child === 'free') return false;
  if (parent.kind === 'branch') return child.kind === 'branch' && isBranchWithin(child, parent);
  if (child.kind === 'branch') return hasOnlyObjectType(parent.rule);
  return isRuleWithin(child.rule, parent.rule);
}

function mayBeMissing(place: Reached): boolean {
  return place === 'shut' || place === 'free' || place.mayBeMissing;
}

function isAbsent(place: Reached): boolean {
  return typeof place === 'object' && place.kind === 'leaf' && place.rule.absent === true;
}

function isFreeLeaf(place: Reached): boolean {
  if (typeof place !== 'object' || place.kind === 'branch') return false;
  return Object.keys(place.rule).every((key) => key === 'optional');
}

function isBranchWithin(child: Branch, parent: Branch): boolean {
  if (child.isOpen && !parent.isOpen) return false;
  const names = new Set([...child.below.keys(), ...parent.below.keys()]);
  return [...names].every((name) => isPlaceWithin(reach(child, name), reach(parent, name), false));
}

function reach({ below, isOpen }: Branch, name: string): Reached {
  return below.get(name) ?? (isOpen ? 'free' : 'shut');
}

function hasOnlyObjectType(rule: Rule): boolean {
  return rule.type === 'object' && Object.keys(rule).every((key) => key === 'type' || key === 'optional');
}

function isRuleWithin(child: Rule, parent: Rule): boolean {
  if (child.in) return child.in.every((value) => passesLeaf(parent, value));
  if (parent.in) return false;
  if (!isTypeWithin(typeOf(child), typeOf(parent))) return false;
  return (
    (parent.min === undefined || (child.min !== undefined && compareSigned(child.min, parent.min) >= 0)) &&
    (parent.max === undefined || (child.max !== undefined && compareSigned(child.max, parent.max) <= 0)) &&
    areTextsWithin(child, parent) &&
    isPairWithin(child.length, parent.length) &&
    isPairWithin(child.items, parent.items) &&
    (!parent.contains || parent.contains.every((value) => child.contains?.includes(value))) &&
    (!parent.each ||
      (child.each !== undefined && isPlaceWithin(placesOf(child.each), placesOf(parent.each), true)))
  );
}

/** Judges one value of a list by a whole rule, as a call would be. */
function passesLeaf(rule: Rule, value: unknown): boolean {
  return leafTests(rule).tests.every((test) => test.holds(value));
}

function isTypeWithin(child: string | undefined, parent: string | undefined): boolean {
  if (parent === undefined || child === parent) return true;
  return (child === 'integer' && parent === 'number') || (child === 'decimal' && parent === 'string');
}

function isPairWithin(
  child: readonly [number, number] | undefined,
  parent: readonly [number, number] | undefined,
) {
  if (!parent) return true;
  return child !== undefined && child[0] >= parent[0] && child[1] <= parent[1];
}

function areTextsWithin(child: Rule, parent: Rule): boolean {
  return (
    areItemsWithin(child.prefix, parent.prefix, (narrow, wide) => narrow.startsWith(wide)) &&
    areItemsWithin(child.suffix, parent.suffix, (narrow, wide) => narrow.endsWith(wide)) &&
    formKeys.every((key) => areItemsWithin(child[key], parent[key], forms[key].isWithin))
  );
}

function areItemsWithin(
  child: readonly string[] | undefined,
  parent: readonly string[] | undefined,
  isItemWithin: (narrow: string, wide: string) => boolean,
): boolean {
  if (!parent) return true;
  return child?.every((narrow) => parent.some((wide) => isItemWithin(narrow, wide))) ?? false;
}
