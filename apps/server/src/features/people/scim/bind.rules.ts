import { scimRefusal } from '../../../platform/errors.ts';
import type { Attribute, ResourceType } from './attributes.rules.ts';
import { findAttribute, isSameName, schemasAttribute } from './attributes.rules.ts';
import type { Comparison, Filter, Literal } from './filter.rules.ts';
import { targetOf } from './paths.rules.ts';

/** A filter whose names are resolved. A multi-valued attribute passes when one of its values does. */
export type Bound =
  | { readonly kind: 'and' | 'or'; readonly left: Bound; readonly right: Bound }
  | { readonly kind: 'not'; readonly filter: Bound }
  | { readonly kind: 'any'; readonly path: readonly string[]; readonly filter?: Bound }
  /** About an attribute that is not kept, and so has no value (RFC 7644 §3.4.2.1). */
  | { readonly kind: 'constant'; readonly passes: boolean }
  | Test;

/** A question about one value. */
export interface Test {
  readonly kind: 'test';
  readonly attribute: Attribute;
  /** The members that lead to it from the resource or, within `any`, from the value. */
  readonly path: readonly string[];
  readonly op: Comparison | 'pr' | 'absent';
  readonly value: string | boolean | Date;
  /** The value in the form in which values are compared. */
  readonly folded: Comparable;
}

export type Comparable = string | number | boolean;

/** The place to which a name leads, from the resource or from a value of a multi-valued attribute. */
interface Found {
  readonly path: readonly string[];
  readonly attribute: Attribute;
  readonly sub?: Attribute | undefined;
}

/** Addresses are made when they are shown. */
const UNSEARCHABLE = ['$ref', 'location'];

/** @throws invalidFilter for a comparison that makes no sense; an attribute that is not kept has no value */
export const bindFilter = (type: ResourceType, filter: Filter): Bound =>
  bind(filter, (name) => {
    if (isSameName(name, schemasAttribute.name)) {
      return { path: [schemasAttribute.name], attribute: schemasAttribute };
    }
    const found = targetOf(type, name);
    if (!found?.attribute) return undefined;
    const { extension, attribute, sub } = found;
    return { path: [...(extension ? [extension] : []), attribute.name], attribute, sub };
  });

/**
 * Binds a filter about the values of one attribute.
 * @param path the members that lead to the value of an attribute that has only one
 * @throws invalidFilter
 */
export const bindValues = (attribute: Attribute, filter: Filter, path: readonly string[] = []): Bound =>
  bind(filter, (name) => {
    const sub = findAttribute(attribute.subAttributes ?? [], name);
    if (sub) return { path: [...path, sub.name], attribute: sub };
    // A value without parts is asked for as `value`.
    return !attribute.subAttributes && name.toLowerCase() === 'value'
      ? { path: [], attribute: { ...attribute, multiValued: false } }
      : undefined;
  });

/**
 * Binds the filter of a path, which says which values a change meets. A question about a part that is not kept is about
 * none of them, however it is turned: `emails[unknown ne "x"]` would else change or remove all.
 * @throws as `bindValues`
 */
export const bindMeant = (...asked: Parameters<typeof bindValues>): Bound =>
  withoutUnkept(bindValues(...asked));

const NONE: Bound = { kind: 'constant', passes: false };

function withoutUnkept(bound: Bound): Bound {
  switch (bound.kind) {
    case 'and':
    case 'or':
      return { kind: bound.kind, left: withoutUnkept(bound.left), right: withoutUnkept(bound.right) };
    case 'not':
      return asksOfUnkept(bound.filter) ? NONE : bound;
    case 'constant':
      return NONE;
    default:
      return bound;
  }
}

function asksOfUnkept(bound: Bound): boolean {
  if (bound.kind === 'and' || bound.kind === 'or')
    return asksOfUnkept(bound.left) || asksOfUnkept(bound.right);
  return bound.kind === 'not' ? asksOfUnkept(bound.filter) : bound.kind === 'constant';
}

function bind(filter: Filter, find: (name: string) => Found | undefined): Bound {
  const get = (name: string): Found | undefined => {
    const found = find(name);
    const leaf = found?.sub ?? found?.attribute;
    if (leaf && UNSEARCHABLE.includes(leaf.name)) {
      throw refused(`asks for \`${leaf.name}\`, which is not searched`);
    }
    return found;
  };
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, left: bind(filter.left, find), right: bind(filter.right, find) };
    case 'not':
      return { kind: 'not', filter: bind(filter.filter, find) };
    case 'present':
      return about(get(filter.name), 'pr', null);
    case 'compare':
      return about(get(filter.name), filter.op, filter.value);
    case 'values': {
      const found = get(filter.name);
      if (!found) return { kind: 'constant', passes: false };
      const { path, attribute, sub } = found;
      if (sub || !hasValues(attribute)) throw refused('has brackets after an attribute without values');
      if (!attribute.multiValued) return bindValues(attribute, filter.filter, path);
      return { kind: 'any', path, filter: bindValues(attribute, filter.filter) };
    }
  }
}

/** Whether a filter in brackets may follow: `emails[…]`, and `manager[…]` too. */
export const hasValues = ({ multiValued, type }: Attribute) => multiValued || type === 'complex';

function about(found: Found | undefined, op: Comparison | 'pr', value: Literal): Bound {
  if (!found) return { kind: 'constant', passes: value === null ? op === 'eq' : op === 'ne' };
  const { path, attribute, sub } = found;
  if (!sub && op === 'pr' && attribute.multiValued) return { kind: 'any', path };
  // `manager eq "x"` asks for `manager.value`, as `members eq "x"` does for one of the members.
  const part = sub ?? (op === 'pr' ? undefined : findAttribute(attribute.subAttributes ?? [], 'value'));
  if (!attribute.multiValued) {
    return test(part ?? attribute, [...path, ...(part ? [part.name] : [])], op, value);
  }
  const filter = part
    ? test(part, [part.name], op, value)
    : test({ ...attribute, multiValued: false }, [], op, value);
  return { kind: 'any', path, filter };
}

function test(attribute: Attribute, path: readonly string[], op: Comparison | 'pr', value: Literal): Test {
  const about = { kind: 'test', attribute, path, folded: '' } as const;
  if (op === 'pr') return { ...about, op, value: '' };
  if (attribute.type === 'complex') throw refused('compares an attribute that has parts');
  if (value === null) {
    if (op !== 'eq' && op !== 'ne') throw refused('compares with `null` other than by `eq` and `ne`');
    return { ...about, op: op === 'eq' ? 'absent' : 'pr', value: '' };
  }
  const wanted = valueFor(attribute, op, value);
  return { ...about, op, value: wanted, folded: comparable(attribute, wanted) };
}

/** The form in which two values are compared. */
export function comparable({ type, caseExact }: Attribute, value: unknown): Comparable {
  if (type === 'dateTime') return new Date(value instanceof Date ? value : String(value)).getTime();
  if (typeof value === 'boolean') return value;
  return caseExact ? String(value) : String(value).toLowerCase();
}

function valueFor({ type, name }: Attribute, op: Comparison, value: Exclude<Literal, null>) {
  if (type === 'boolean') {
    if (op !== 'eq' && op !== 'ne') throw refused(`compares \`${name}\` other than by \`eq\` and \`ne\``);
    const text = String(value).toLowerCase();
    if (text !== 'true' && text !== 'false') throw refused(`compares \`${name}\` with what is no boolean`);
    return text === 'true';
  }
  if (type !== 'dateTime') return String(value);
  if (op === 'co' || op === 'sw' || op === 'ew') throw refused(`compares a part of the time \`${name}\``);
  const time = /^\d{4}-\d\d-\d\dT/.test(String(value)) ? new Date(String(value)) : new Date(Number.NaN);
  if (Number.isNaN(time.getTime())) throw refused(`compares \`${name}\` with what is no time`);
  return time;
}

const refused = (how: string) => scimRefusal('invalidFilter', `The filter ${how}.`);
