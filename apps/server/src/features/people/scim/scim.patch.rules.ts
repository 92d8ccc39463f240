import { scimRefusal } from '../../../platform/errors.ts';
import { type Attribute, findAttribute, isSameName, type ResourceType } from './scim.attributes.rules.ts';
import { type Bound, bindValues } from './scim.bind.rules.ts';
import { type Filter, type Path, parsePath } from './scim.filter.rules.ts';
import { invalidPath, type Operation } from './scim.patch.operations.rules.ts';
import { changedValues, type Place, withPart } from './scim.patch.values.rules.ts';
import { type ExtensionTarget, targetOf } from './scim.paths.rules.ts';
import { checkValues, type Document, isObject, mustBeComplete, readValue } from './scim.resource.rules.ts';

type Members = Record<string, unknown>;

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

const notMutable = (name: string) =>
  scimRefusal('mutability', `\`${name}\` cannot be changed or removed so.`);
