import { scimRefusal } from '../../../platform/errors.ts';
import { type Attribute, findAttribute, isSameName, type ResourceType } from './scim.attributes.rules.ts';
import { type Bound, bindValues } from './scim.bind.rules.ts';
import { type Filter, type Path, parsePath } from './scim.filter.rules.ts';
import { matches } from './scim.match.rules.ts';
import { type ExtensionTarget, type Target, targetOf } from './scim.paths.rules.ts';
import {
  checkValues,
  type Document,
  isObject,
  isPrimary,
  mustBeComplete,
  readOne,
  readValue,
} from './scim.resource.rules.ts';

/** RFC 7644 §3.5.2. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path?: string;
  readonly value?: unknown;
}

type Members = Record<string, unknown>;

const MOST = 100;

/** Reads the body of a PATCH. @throws invalidSyntax, invalidValue */
export function readOperations(body: object): Operation[] {
  const of = (json: object, wanted: string): unknown =>
    Object.entries(json).find(([name]) => isSameName(name, wanted))?.[1];
  const schemas = of(body, 'schemas');
  if (
    schemas !== undefined &&
    !(Array.isArray(schemas) && schemas.some((each) => isSameName(String(each), MESSAGE)))
  ) {
    throw scimRefusal('invalidSyntax', `A change has to name \`${MESSAGE}\` in \`schemas\`.`);
  }
  const operations = of(body, 'operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MOST) {
    throw scimRefusal('invalidValue', `\`Operations\` has to be an array of 1 to ${MOST} changes.`);
  }
  return operations.map((each: unknown) => {
    const given = isObject(each) ? each : {};
    const op = String(of(given, 'op')).toLowerCase();
    const [path, value] = [of(given, 'path') ?? undefined, of(given, 'value')];
    if (op !== 'add' && op !== 'remove' && op !== 'replace') {
      throw scimRefusal('invalidSyntax', '`op` has to be `add`, `remove` or `replace`.');
    }
    if (path !== undefined && typeof path !== 'string') throw invalidPath();
    return { op, ...(path !== undefined && path !== '' && { path }), ...(value !== undefined && { value }) };
  });
}

const MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/**
 * Makes all changes or none; the document that it is given stays as it is.
 * @param id the resource's own, which Okta repeats in changes of groups
 * @throws invalidPath, noTarget, mutability, invalidValue, invalidFilter
 */
export function patched(
  type: ResourceType,
  document: Document,
  operations: readonly Operation[],
  id: string,
): Document {
  const changed: Members = structuredClone(document);
  for (const operation of operations) {
    if (operation.path !== undefined) change(type, changed, { ...operation, path: operation.path });
    else changeWhole(type, changed, operation, id);
  }
  mustBeComplete(type, changed);
  return changed;
}

/** A change without a path: its value names the attributes. */
function changeWhole(type: ResourceType, document: Members, { op, value }: Operation, id: string): void {
  if (op === 'remove') throw scimRefusal('noTarget', 'A removal has to have a `path`.');
  if (!isObject(value))
    throw scimRefusal('invalidValue', 'A change without a `path` has to have an object as `value`.');
  for (const [path, part] of Object.entries(value)) {
    if (isSameName(path, 'schemas') || (isSameName(path, 'id') && part === id)) continue;
    change(type, document, { op, path, value: part });
  }
}

type Change = Operation & { readonly path: string };

function change(type: ResourceType, document: Members, operation: Change): void {
  const { name, filter, sub: subName } = pathOf(operation.path);
  const target = targetOf(type, name);
  if (isSameName(name, 'schemas')) throw notMutable(name);
  if (!target) throw invalidPath();
  if (!target.attribute) {
    changeExtension(type, document, target, operation, filter !== undefined);
    return;
  }
  const { attribute, extension } = target;
  const sub = subName === undefined ? target.sub : findAttribute(attribute.subAttributes ?? [], subName);
  if (subName !== undefined && (!sub || target.sub)) throw invalidPath();
  if (attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly') throw notMutable(attribute.name);
  if (filter && (!attribute.multiValued || target.sub)) throw invalidPath();
  if (operation.op === 'remove' && attribute.required && !sub) throw notMutable(attribute.name);

  const holder = extension === undefined ? document : membersOf(document, extension);
  const bound = filter && boundIn(attribute, filter);
  changeAttribute(holder, { attribute, sub, filter, bound }, operation);
  if (holder[attribute.name] === undefined) delete holder[attribute.name];
  if (extension !== undefined && Object.keys(holder).length === 0) delete document[extension];
}

function changeExtension(
  type: ResourceType,
  document: Members,
  { extension }: ExtensionTarget,
  { op, value }: Operation,
  hasFilter: boolean,
): void {
  if (hasFilter) throw invalidPath();
  if (op === 'remove') {
    delete document[extension];
    return;
  }
  if (!isObject(value)) throw scimRefusal('invalidValue', `\`${extension}\` has to be an object.`);
  for (const [name, part] of Object.entries(value)) {
    change(type, document, { op, path: `${extension}:${name}`, value: part });
  }
}

function membersOf(document: Members, name: string): Members {
  const found = document[name];
  const members: Members = isObject(found) ? { ...found } : {};
  document[name] = members;
  return members;
}

interface Place extends Pick<Target, 'attribute'> {
  readonly sub?: Attribute | undefined;
  readonly filter?: Filter | undefined;
  readonly bound?: Bound | undefined;
}

function changeAttribute(holder: Members, place: Place, operation: Operation): void {
  const { attribute, sub } = place;
  const { op, value } = operation;
  const before = holder[attribute.name];
  if (attribute.multiValued) {
    const values = Array.isArray(before) ? before : [];
    holder[attribute.name] = checkValues(attribute, changedValues(values, place, operation));
    return;
  }
  if (op === 'remove' && !sub) {
    delete holder[attribute.name];
    return;
  }
  if (attribute.type !== 'complex') {
    holder[attribute.name] = readValue(attribute, value);
    return;
  }
  const parts = isObject(before) ? { ...before } : {};
  const after = sub ? withPart(parts, sub, operation) : { ...parts, ...Object(readValue(attribute, value)) };
  holder[attribute.name] = Object.keys(after).length > 0 ? after : undefined;
}

function withPart(parts: object, sub: Attribute, { op, value }: Operation): object {
  const { [sub.name]: _, ...others } = parts as Members;
  const known = op === 'remove' ? undefined : readValue(sub, value);
  return known === undefined ? others : { ...others, [sub.name]: known };
}

function changedValues(values: readonly unknown[], place: Place, operation: Operation): unknown[] {
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

function pathOf(text: string): Path {
  try {
    return parsePath(text);
  } catch {
    throw invalidPath();
  }
}

function boundIn(attribute: Attribute, filter: Filter): Bound {
  try {
    return bindValues(attribute, filter);
  } catch {
    throw invalidPath();
  }
}

const invalidPath = () =>
  scimRefusal('invalidPath', 'A `path` leads to no attribute of this kind of resource.');

const notMutable = (name: string) =>
  scimRefusal('mutability', `\`${name}\` cannot be changed or removed so.`);
