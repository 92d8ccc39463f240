import {
  type Attribute,
  coreAttributes,
  findAttribute,
  isSameName,
  type ResourceType,
} from './scim.attributes.rules.ts';

/** An attribute that a name leads to, or a part of one. */
export interface Target {
  /** The extension that it belongs to; undefined in the core. */
  readonly extension?: string;
  readonly attribute: Attribute;
  readonly sub?: Attribute;
}

/** The whole of an extension. */
export interface ExtensionTarget {
  readonly extension: string;
  readonly attribute?: never;
  readonly sub?: never;
}

/**
 * Finds what a name of RFC 7644, section 3.10, leads to: `userName`, `name.givenName`, or either after a schema's URN.
 * Names are compared without regard to case.
 * @returns undefined for a name that leads nowhere
 */
export function targetOf(type: ResourceType, name: string): Target | ExtensionTarget | undefined {
  const schema = [...type.extensions, type.core].find(({ id }) => isBelow(name, id));
  if (!schema) return within(coreAttributes(type), name);
  const rest = name.slice(schema.id.length + 1);
  if (schema === type.core) return within(coreAttributes(type), rest);
  if (rest === '') return { extension: schema.id };
  const found = within(schema.attributes, rest);
  return found && { ...found, extension: schema.id };
}

const isBelow = (name: string, urn: string) =>
  isSameName(name.slice(0, urn.length), urn) && (name.length === urn.length || name[urn.length] === ':');

function within(attributes: readonly Attribute[], name: string): Target | undefined {
  const [first = '', second, ...more] = name.split('.');
  const attribute = findAttribute(attributes, first);
  if (!attribute || more.length > 0) return undefined;
  if (second === undefined) return { attribute };
  const sub = findAttribute(attribute.subAttributes ?? [], second);
  return sub && { attribute, sub };
}
