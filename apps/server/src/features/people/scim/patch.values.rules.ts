import { type Attribute, findAttribute, isSameName } from './attributes.rules.ts';
import { type Bound, comparable } from './bind.rules.ts';
import { type Filter, matches, termsOf } from './filter.rules.ts';
import type { Operation } from './patch.rules.ts';
import { type PatchWork, STEPS_OF_TURN } from './patch.work.ts';
import type { Target } from './paths.rules.ts';
import { isObject, isPrimary, mustBeFew, readOne, readValue } from './resource.rules.ts';

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

/**
 * RFC 7644 §3.5.2: the values of an attribute after one change, those that its path means or all.
 * @throws invalidValue
 */
export async function changedValues(
  values: readonly unknown[],
  place: Place,
  operation: Operation,
  work: PatchWork,
): Promise<readonly unknown[]> {
  const { attribute, sub, bound } = place;
  const { op, value } = operation;
  const isOfValues = op === 'remove' && !bound && value !== undefined && value !== null;
  if (isOfValues && (!sub || sub.name === 'value')) return without(values, attribute, value, work);
  if (!bound && !sub) {
    if (op === 'remove') return [];
    const given = await readAll(attribute, listOf(value), work);
    return op === 'replace' ? given : joined(values, given, work);
  }
  const meant = await meantBy(place, values, work);
  if (meant.size === 0) {
    return op === 'remove' ? values : joined(values, made(place, value), work);
  }
  if (op === 'remove' && !sub) return values.filter((each) => !meant.has(each));
  let primary: unknown;
  const changed: unknown[] = [];
  for (const each of values) {
    const isMeant = meant.has(each);
    await work.spend(isMeant ? READ_STEPS : 1);
    const after = isMeant ? changedValue(each, place, operation) : each;
    if (isPrimary(after) && !isPrimary(each)) primary = after;
    if (after !== undefined) changed.push(after);
  }
  return onlyPrimary(changed, primary);
}

function changedValue(each: unknown, { attribute, sub }: Place, operation: Operation): unknown {
  const { op, value } = operation;
  if (!sub)
    return readOne(attribute, op === 'add' && isObject(each) ? { ...each, ...partsOf(value) } : value);
  const parts = withPart(Object(each), sub, operation);
  // Nothing is left of an address whose `value` is cleared.
  return sub.name === 'value' && !Object.hasOwn(parts, 'value') ? undefined : readOne(attribute, parts);
}

/** The values that the path means. Each is an object or a text of its own. */
async function meantBy(
  { bound, filter }: Place,
  values: readonly unknown[],
  work: PatchWork,
): Promise<ReadonlySet<unknown>> {
  if (!bound) return new Set(values);
  const terms = filter ? termsOf(filter) : 1;
  const portion = Math.max(Math.floor(STEPS_OF_TURN / terms), 1);
  const meant = new Set<unknown>();
  for (let at = 0; at < values.length; at += portion) {
    const some = values.slice(at, at + portion);
    await work.spend(some.length * terms);
    for (const each of some) if (matches(bound, each)) meant.add(each);
  }
  return meant;
}

/** `null` is no values (RFC 7643, section 2.5), and a value by itself is one. */
const listOf = (value: unknown): readonly unknown[] => (value === null ? [] : [value].flat());

async function readAll(attribute: Attribute, given: readonly unknown[], work: PatchWork): Promise<unknown[]> {
  mustBeFew(attribute, given.length);
  const read: unknown[] = [];
  for (const each of given) {
    await work.spend(READ_STEPS);
    const value = readOne(attribute, each);
    if (value !== undefined) read.push(value);
  }
  return read;
}

/** A value that the path describes and nobody has is made, by `replace` too, as Entra ID expects. */
function made(place: Place, value: unknown): unknown[] {
  const { attribute, sub } = place;
  if (attribute.type !== 'complex') return [readOne(attribute, value)].filter((each) => each !== undefined);
  const whole = newValue(place, value);
  // A part alone, such as `emails[type eq "work"].primary`, is no value, nor is one that is cleared.
  const isValue = !sub || readValue(valuePart(attribute), Reflect.get(whole, 'value')) !== undefined;
  const read = isValue ? readOne(attribute, whole) : undefined;
  return read === undefined ? [] : [read];
}

const valuePart = ({ subAttributes = [], ...attribute }: Attribute): Attribute =>
  findAttribute(subAttributes, 'value') ?? attribute;

/** The value that a path describes: the equalities of its filter, and what is written. */
export function newValue({ filter, sub }: Place, value: unknown): object {
  const described = Object.fromEntries(
    (filter ? equalities(filter) : []).map(([name, wanted]) => [
      isSameName(name, 'value') ? 'value' : name,
      wanted,
    ]),
  );
  return sub ? { ...described, [sub.name]: value } : { ...described, ...partsOf(value) };
}

/** The text of a value stands for the whole. */
const partsOf = (value: unknown): object => (typeof value === 'string' ? { value } : Object(value));

function equalities(filter: Filter): [string, unknown][] {
  if (filter.kind === 'and') return [...equalities(filter.left), ...equalities(filter.right)];
  return filter.kind === 'compare' && filter.op === 'eq' ? [[filter.name, filter.value]] : [];
}

/** Entra ID removes members by an array of their values. */
async function without(
  values: readonly unknown[],
  attribute: Attribute,
  value: unknown,
  work: PatchWork,
): Promise<unknown[]> {
  const given = await readAll(attribute, listOf(value), work);
  const keyOf = (each: unknown) =>
    comparable(valuePart(attribute), isObject(each) ? Reflect.get(each, 'value') : each);
  const unwanted = new Set(given.map(keyOf));
  await work.spend(values.length);
  return values.filter((each) => !unwanted.has(keyOf(each)));
}

/** A value that is there already is not added again. A new primary value takes the place of the old. */
async function joined(
  values: readonly unknown[],
  added: readonly unknown[],
  { spend, textsOf }: PatchWork,
): Promise<readonly unknown[]> {
  const known = textsOf.get(values) ?? new Set<string>();
  const isNew = async (each: unknown) => {
    await spend(TEXT_STEPS);
    const text = textOf(each);
    return !known.has(text) && known.add(text);
  };
  if (known.size === 0) for (const each of values) await isNew(each);
  const fresh: unknown[] = [];
  for (const each of added) if (await isNew(each)) fresh.push(each);
  if (fresh.length === 0) {
    textsOf.set(values, known);
    return values;
  }
  const primary = fresh.findLast(isPrimary);
  const all = onlyPrimary([...values, ...fresh], primary);
  if (primary === undefined) textsOf.set(all, known);
  return all;
}

/** The prices of reading a value, and of making a text of one. */
const READ_STEPS = 5;
const TEXT_STEPS = 10;

function onlyPrimary(values: readonly unknown[], primary: unknown): readonly unknown[] {
  if (primary === undefined) return values;
  return values.map((each) =>
    each !== primary && isPrimary(each) ? { ...Object(each), primary: false } : each,
  );
}

/** Members of objects are in the order of their schema only where the client sent them so. */
const textOf = (value: unknown) =>
  isObject(value)
    ? JSON.stringify(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : String(value);
