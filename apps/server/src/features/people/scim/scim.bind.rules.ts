import { scimRefusal } from '../../../platform/errors.ts';
import type { Attribute, ResourceType } from './scim.attributes.rules.ts';
import { findAttribute, isSameName, schemasAttribute } from './scim.attributes.rules.ts';
import type { Comparison, Filter, Literal } from './scim.filter.rules.ts';
import { targetOf } from './scim.paths.rules.ts';

/** A filter whose names are resolved. A multi-valued attribute passes when one of its values does. */
export type Bound =
  | { readonly kind: 'and' | 'or'; readonly left: Bound; readonly right: Bound }
  | { readonly kind: 'not'; readonly filter: Bound }
  | { readonly kind: 'any'; readonly path: readonly string[]; readonly filter?: Bound }
  | Test;

/** A question about one value. */
export interface Test {
  readonly kind: 'test';
  readonly attribute: Attribute;
  /** The members that lead to it from the resource or, within `any`, from the value. */
  readonly path: readonly string[];
  readonly op: Comparison | 'pr' | 'absent';
  readonly value: string | boolean | Date;
}

/** The place to which a name leads, from the resource or from a value of a multi-valued attribute. */
interface Found {
  readonly path: readonly string[];
  readonly attribute: Attribute;
  readonly sub?: Attribute | undefined;
}

/** Addresses are made when they are shown. */
const UNSEARCHABLE = ['$ref', 'location'];

/** @throws invalidFilter */
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

/** Binds a filter about the values of one attribute. @throws invalidFilter */
export const bindValues = (attribute: Attribute, filter: Filter): Bound =>
  bind(filter, (name) => {
    const sub = findAttribute(attribute.subAttributes ?? [], name);
    if (sub) return { path: [sub.name], attribute: sub };
    // A value without parts is asked for as `value`.
    return !attribute.subAttributes && name.toLowerCase() === 'value'
      ? { path: [], attribute: { ...attribute, multiValued: false } }
      : undefined;
  });

function bind(filter: Filter, find: (name: string) => Found | undefined): Bound {
  const get = (name: string): Found => {
    const found = find(name);
    const leaf = found?.sub ?? found?.attribute;
    if (!found || !leaf) throw refused('names an attribute that resources of this kind do not have');
    if (UNSEARCHABLE.includes(leaf.name)) throw refused(`asks for \`${leaf.name}\`, which is not searched`);
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
      const { path, attribute, sub } = get(filter.name);
      if (sub || !attribute.multiValued) throw refused('has brackets after an attribute without values');
      return { kind: 'any', path, filter: bindValues(attribute, filter.filter) };
    }
  }
}

function about({ path, attribute, sub }: Found, op: Comparison | 'pr', value: Literal): Bound {
  if (!attribute.multiValued) {
    return test(sub ?? attribute, [...path, ...(sub ? [sub.name] : [])], op, value);
  }
  if (!sub && op === 'pr') return { kind: 'any', path };
  const part = sub ?? findAttribute(attribute.subAttributes ?? [], 'value');
  const filter = part
    ? test(part, [part.name], op, value)
    : test({ ...attribute, multiValued: false }, [], op, value);
  return { kind: 'any', path, filter };
}

function test(attribute: Attribute, path: readonly string[], op: Comparison | 'pr', value: Literal): Test {
  const about = { kind: 'test', attribute, path } as const;
  if (op === 'pr') return { ...about, op, value: '' };
  if (attribute.type === 'complex') throw refused('compares an attribute that has parts');
  if (value === null) {
    if (op !== 'eq' && op !== 'ne') throw refused('compares with `null` other than by `eq` and `ne`');
    return { ...about, op: op === 'eq' ? 'absent' : 'pr', value: '' };
  }
  return { ...about, op, value: valueFor(attribute, op, value) };
}

function valueFor({ type, name }: Attribute, op: Comparison, value: Exclude<Literal, null>) {
  if (type === 'boolean') {
    if (op !== 'eq' && op !== 'ne') throw refused(`compares \`${name}\` other than by \`eq\` and \`ne\``);
    const text = String(value).toLowerCase();
    if (text !== 'true' && text !== 'false') throw refused(`compares \`${name}\` with what is no boolean`);
    return text === 'true';
  }
  if (typeof value !== 'string') throw refused(`compares \`${name}\` with what is no text`);
  if (type !== 'dateTime') return value;
  if (op === 'co' || op === 'sw' || op === 'ew') throw refused(`compares a part of the time \`${name}\``);
  const time = /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : new Date(Number.NaN);
  if (Number.isNaN(time.getTime())) throw refused(`compares \`${name}\` with what is no time`);
  return time;
}

const refused = (how: string) => scimRefusal('invalidFilter', `The filter ${how}.`);
