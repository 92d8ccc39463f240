import { scimRefusal } from '../../../platform/errors.ts';
import type { Attribute } from './scim.attributes.rules.ts';
import type { Bound } from './scim.bind.rules.ts';
import type { Filter } from './scim.filter.rules.ts';
import { matches } from './scim.match.rules.ts';
import type { Operation } from './scim.patch.operations.rules.ts';
import type { Target } from './scim.paths.rules.ts';
import { isObject, isPrimary, readOne, readValue } from './scim.resource.rules.ts';

/** Where a change applies: an attribute, a part of it, and the values that the path's filter describes. */
export interface Place extends Pick<Target, 'attribute'> {
  readonly sub?: Attribute | undefined;
  readonly filter?: Filter | undefined;
  readonly bound?: Bound | undefined;
}

export function withPart(parts: object, sub: Attribute, { op, value }: Operation): object {
  const { [sub.name]: _, ...others } = parts as Record<string, unknown>;
  const known = op === 'remove' ? undefined : readValue(sub, value);
  return known === undefined ? others : { ...others, [sub.name]: known };
}

/** RFC 7644 §3.5.2: the values of an attribute after one change, those that its path means or all. @throws noTarget, invalidValue */
export function changedValues(values: readonly unknown[], place: Place, operation: Operation): unknown[] {
  const { attribute, sub, bound } = place;
  const { op, value } = operation;
  if (!bound && !sub) {
    if (op === 'remove') return value === undefined ? [] : without(values, attribute, value);
    const given = (Array.isArray(value) ? value : [value]).map((each) => readOne(attribute, each));
    return op === 'replace' ? given.filter(isThere) : joined(values, given.filter(isThere));
  }
  const isMeant = (each: unknown) => matches(bound, each);
  if (!values.some(isMeant)) {
    if (op === 'remove') return [...values];
    if (op === 'replace') throw scimRefusal('noTarget', 'No value passes the filter of the `path`.');
    return joined(values, [readOne(attribute, newValue(place, value))].filter(isThere));
  }
  if (op === 'remove' && !sub) return values.filter((each) => !isMeant(each));
  const changed = values.map((each) => {
    if (!isMeant(each)) return each;
    if (sub) return readOne(attribute, withPart(Object(each), sub, operation));
    return readOne(attribute, op === 'add' && isObject(each) ? { ...each, ...Object(value) } : value);
  });
  const fresh = changed.filter((each, index) => isPrimary(each) && !isPrimary(values[index]));
  return onlyPrimary(changed.filter(isThere), fresh.at(-1));
}

/** RFC 7644 leaves open what an `add` to a value that is missing does: it makes the value that the path describes. */
function newValue({ filter, sub }: Place, value: unknown): object {
  const described = Object.fromEntries(filter ? equalities(filter) : []);
  return sub ? { ...described, [sub.name]: value } : { ...described, ...Object(value) };
}

function equalities(filter: Filter): [string, unknown][] {
  if (filter.kind === 'and') return [...equalities(filter.left), ...equalities(filter.right)];
  return filter.kind === 'compare' && filter.op === 'eq' ? [[filter.name, filter.value]] : [];
}

/** Entra ID removes members by an array of their values. */
function without(values: readonly unknown[], attribute: Attribute, value: unknown): unknown[] {
  const unwanted = (Array.isArray(value) ? value : [value]).map((each) => keyOf(readOne(attribute, each)));
  return values.filter((each) => !unwanted.includes(keyOf(each)));
}

/** A value that is there already is not added again. A new primary value takes the place of the old. */
function joined(values: readonly unknown[], added: readonly unknown[]): unknown[] {
  const known = new Set(values.map(textOf));
  const fresh = added.filter((each) => !known.has(textOf(each)) && known.add(textOf(each)));
  return onlyPrimary([...values, ...fresh], fresh.findLast(isPrimary));
}

function onlyPrimary(values: readonly unknown[], primary: unknown): unknown[] {
  if (primary === undefined) return [...values];
  return values.map((each) =>
    each !== primary && isPrimary(each) ? { ...Object(each), primary: false } : each,
  );
}

const keyOf = (value: unknown) => (isObject(value) ? String(Reflect.get(value, 'value')) : String(value));

/** Members of objects are in the order of their schema only where the client sent them so. */
const textOf = (value: unknown) =>
  isObject(value)
    ? JSON.stringify(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : String(value);

const isThere = (value: unknown) => value !== undefined;
