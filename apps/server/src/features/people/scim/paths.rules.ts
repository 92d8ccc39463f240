import {
  type Attribute,
  coreAttributes,
  findAttribute,
  isSameName,
  type ResourceType,
  type Schema,
} from './attributes.rules.ts';

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
 * Names are compared without regard to case. Entra ID names `manager` without its URN.
 * @returns undefined for what the service does not keep: an attribute of the standard, of an extension, or of nobody
 */
export function targetOf(type: ResourceType, name: string): Target | ExtensionTarget | undefined {
  const schema = [...type.extensions, type.core].find(({ id }) => isBelow(name, id));
  if (!schema) return within(coreAttributes(type), name) ?? inExtension(type, name);
  const rest = name.slice(schema.id.length + 1);
  if (schema === type.core) return within(coreAttributes(type), rest);
  if (rest === '') return { extension: schema.id };
  return withinExtension(schema, rest);
}

function inExtension({ extensions }: ResourceType, name: string): Target | undefined {
  for (const extension of extensions) {
    const found = withinExtension(extension, name);
    if (found) return found;
  }
  return undefined;
}

function withinExtension({ id, attributes }: Schema, name: string): Target | undefined {
  const found = within(attributes, name);
  return found && { ...found, extension: id };
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
