import { scimRefusal } from '../../../platform/errors.ts';
import {
  type Attribute,
  coreAttributes,
  findAttribute,
  isSameName,
  type ResourceType,
} from './attributes.rules.ts';

/** The attributes of a resource in the names of its schemas, without what the service adds. */
export type Document = Readonly<Record<string, unknown>>;

const LONGEST = 1024; // characters of a text without a bound of its own
const MAX_MEMBERS = 1000; // of one object; directories send some dozens, most of which nobody keeps

/**
 * Reads a resource that a client sent. Unknown attributes, and those that only the service sets, are left out.
 * @throws invalidSyntax, invalidValue
 */
export function readDocument(type: ResourceType, body: object): Document {
  mustBeSchemas(body);
  const document = readMembers(coreAttributes(type), body);
  for (const { id, attributes } of type.extensions) {
    const given = memberOf(body, id);
    if (given === undefined || given === null) continue;
    if (!isObject(given)) throw invalid(id, 'an object');
    const members = readMembers(attributes, given);
    if (Object.keys(members).length > 0) document[id] = members;
  }
  mustBeComplete(type, document);
  return document;
}

/**
 * Directories name schemas of their own there, and old ones. The route says what a body is, so any names are taken.
 * @throws invalidSyntax for what is no array of texts
 */
export function mustBeSchemas(body: object): void {
  const schemas = memberOf(body, 'schemas') ?? [];
  if (Array.isArray(schemas) && schemas.every((each) => typeof each === 'string')) return;
  throw scimRefusal('invalidSyntax', '`schemas` has to be an array of texts.');
}

/** @throws invalidValue */
export function mustBeComplete({ core }: ResourceType, document: Document): void {
  for (const { name, required } of core.attributes) {
    if (required && document[name] === undefined) {
      throw scimRefusal('invalidValue', `The resource has no \`${name}\`.`);
    }
  }
}

function readMembers(attributes: readonly Attribute[], given: object): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const name of namesIn(given)) {
    const attribute = findAttribute(attributes, name);
    if (!attribute || attribute.mutability === 'readOnly') continue;
    const known = readValue(attribute, Reflect.get(given, name));
    if (known !== undefined) read[attribute.name] = known;
  }
  return read;
}

/** The names in an object that a client sent. @throws invalidValue for more than anybody needs */
export function namesIn(given: object): string[] {
  const names = Object.keys(given);
  if (names.length > MAX_MEMBERS)
    throw scimRefusal('invalidValue', `An object has at most ${MAX_MEMBERS} members.`);
  return names;
}

/** The member of a name that has no case. @throws invalidValue */
export function memberOf(given: object, wanted: string): unknown {
  const name = namesIn(given).find((each) => isSameName(each, wanted));
  return name === undefined ? undefined : Reflect.get(given, name);
}

/** @returns undefined for no value: `null`, no characters, no values, no parts @throws invalidValue */
export function readValue(attribute: Attribute, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (!attribute.multiValued) return readOne(attribute, value);
  if (!Array.isArray(value)) throw invalid(attribute.name, 'an array');
  mustBeFew(attribute, value.length); // before the work
  const values = value.map((each) => readOne(attribute, each)).filter((each) => each !== undefined);
  return checkValues(attribute, values);
}

/** @throws invalidValue for too many values, or two that are primary */
export function checkValues(attribute: Attribute, values: readonly unknown[]): unknown {
  const { name, subAttributes = [] } = attribute;
  mustBeFew(attribute, values.length);
  if (findAttribute(subAttributes, 'primary') && values.filter(isPrimary).length > 1)
    throw invalid(name, 'at most one primary value');
  return values.length > 0 ? values : undefined;
}

/** @throws invalidValue */
export function mustBeFew({ name, most = Number.POSITIVE_INFINITY }: Attribute, count: number): void {
  if (count > most) throw invalid(name, `at most ${most} values`);
}

export const isPrimary = (value: unknown) => isObject(value) && Reflect.get(value, 'primary') === true;

/** @throws invalidValue */
export function readOne(attribute: Attribute, value: unknown): unknown {
  const { name, type, subAttributes = [], longest = LONGEST } = attribute;
  if (type === 'complex') {
    const value_ = findAttribute(subAttributes, 'value');
    // Entra ID sends the id of a manager as a text, others the ids of members.
    const given = typeof value === 'string' && value_ ? { value } : value;
    if (!isObject(given)) throw invalid(name, 'an object');
    const parts = readMembers(subAttributes, given);
    if (attribute.multiValued && value_ && parts.value === undefined)
      throw invalid(`${name}.value`, 'a text');
    return Object.keys(parts).length > 0 ? parts : undefined;
  }
  if (type === 'boolean') return readBoolean(name, value);
  if (typeof value !== 'string') throw invalid(name, 'a text');
  if (value.length > longest) throw invalid(name, `at most ${longest} characters long`);
  return value === '' ? undefined : value; // clears it, as `null` does
}

/** Identity providers also send `"True"`. */
function readBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw invalid(name, '`true` or `false`');
  return text === 'true';
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (name: string, what: string) => scimRefusal('invalidValue', `\`${name}\` has to be ${what}.`);
