import { AppError, scimRefusal } from '../../../platform/errors.ts';
import { type Attribute, findAttribute, isSameName, type ResourceType } from './attributes.rules.ts';
import { type Bound, bindMeant, hasValues } from './bind.rules.ts';
import { type Filter, matches, type Path, parsePath } from './filter.rules.ts';
import { changedValues, newValue, type Place, withPart } from './patch.values.rules.ts';
import type { PatchWork } from './patch.work.ts';
import { type ExtensionTarget, targetOf } from './paths.rules.ts';
import {
  checkValues,
  type Document,
  isObject,
  memberOf,
  mustBeComplete,
  mustBeSchemas,
  namesIn,
  readValue,
} from './resource.rules.ts';

type Members = Record<string, unknown>;

/** What a change is about. */
interface Subject {
  readonly type: ResourceType;
  /** The resource's own, which Okta repeats in changes of groups. */
  readonly id: string;
  readonly work: PatchWork;
}

/**
 * Makes all changes or none; the document that it is given stays as it is. What the service does not keep, and what only
 * the service sets, is taken and left out, as in a whole resource.
 * @throws invalidPath, noTarget, mutability, invalidValue
 */
export async function patched(
  subject: Subject,
  document: Document,
  operations: readonly Operation[],
): Promise<Document> {
  const changed: Members = { ...document };
  for (const operation of operations) {
    if (operation.path !== undefined) await change(subject, changed, { ...operation, path: operation.path });
    else await changeWhole(subject, changed, operation);
    await subject.work.spend(1);
  }
  mustBeComplete(subject.type, changed);
  return changed;
}

/** A change without a path: its value names the attributes. */
async function changeWhole(subject: Subject, document: Members, { op, value }: Operation): Promise<void> {
  if (op === 'remove') throw scimRefusal('noTarget', 'A removal has to have a `path`.');
  if (!isObject(value))
    throw scimRefusal('invalidValue', 'A change without a `path` has to have an object as `value`.');
  await changeMembers(subject, document, { op, value }, (name) => name);
}

async function changeMembers(
  subject: Subject,
  document: Members,
  { op, value }: { readonly op: Operation['op']; readonly value: object },
  pathOfMember: (name: string) => string,
): Promise<void> {
  for (const name of namesIn(value)) {
    const path = pathOfMember(name);
    await subject.work.spend(stepsOf(path));
    if (isReadable(path)) await change(subject, document, { op, path, value: Reflect.get(value, name) });
  }
}

/** The price of reading a path. */
const stepsOf = (path: string) => 50 + Math.ceil(path.length / 8);

type Change = Operation & { readonly path: string };

async function change(subject: Subject, document: Members, operation: Change): Promise<void> {
  const { type, id, work } = subject;
  await work.spend(stepsOf(operation.path));
  const { name, filter, sub: subName } = pathOf(operation.path);
  const target = targetOf(type, name);
  if (!target) return;
  if (!target.attribute) {
    if (filter) throw invalidPath(operation.path);
    await changeExtension(subject, document, target, operation);
    return;
  }
  const { attribute, extension } = target;
  if (subName !== undefined && target.sub) throw invalidPath(operation.path);
  const sub = subName === undefined ? target.sub : findAttribute(attribute.subAttributes ?? [], subName);
  if (filter && (!hasValues(attribute) || target.sub)) throw invalidPath(operation.path);
  const bound = filter && boundIn(attribute, filter, operation.path);
  if (subName !== undefined && !sub) return;
  if (attribute.name === 'id' && operation.value !== id) throw notMutable(attribute.name);
  if (attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly') return;
  if (operation.op === 'remove' && attribute.required && !sub) throw notMutable(attribute.name);

  const holder = extension === undefined ? document : membersOf(document, extension);
  await changeAttribute(holder, { attribute, sub, filter, bound }, operation, work);
  if (holder[attribute.name] === undefined) delete holder[attribute.name];
  if (extension !== undefined && Object.keys(holder).length === 0) delete document[extension];
}

async function changeExtension(
  subject: Subject,
  document: Members,
  { extension }: ExtensionTarget,
  { op, value }: Operation,
): Promise<void> {
  if (op === 'remove' || value === null) {
    delete document[extension];
    return;
  }
  if (!isObject(value)) throw scimRefusal('invalidValue', `\`${extension}\` has to be an object.`);
  await changeMembers(subject, document, { op, value }, (name) => `${extension}:${name}`);
}

function membersOf(document: Members, name: string): Members {
  const found = document[name];
  const members: Members = isObject(found) ? { ...found } : {};
  document[name] = members;
  return members;
}

async function changeAttribute(
  holder: Members,
  place: Place,
  operation: Operation,
  work: PatchWork,
): Promise<void> {
  const { attribute, sub } = place;
  const { op, value } = operation;
  const before = holder[attribute.name];
  if (attribute.multiValued) {
    const values = Array.isArray(before) ? before : [];
    holder[attribute.name] = checkValues(attribute, await changedValues(values, place, operation, work));
    return;
  }
  if (attribute.type === 'complex') {
    holder[attribute.name] = changedParts(isObject(before) ? before : undefined, place, operation);
    return;
  }
  holder[attribute.name] = op === 'remove' && !sub ? undefined : readValue(attribute, value);
}

/** The parts of an attribute with one value, such as `name` and `manager`. */
function changedParts(before: object | undefined, place: Place, operation: Operation): object | undefined {
  const { attribute, sub, bound } = place;
  const { op, value } = operation;
  const isMeant = !bound || (before !== undefined && matches(bound, { [attribute.name]: before }));
  if (op === 'remove' && !isMeant) return before;
  if (op === 'remove' && !sub) return undefined;
  if (!isMeant) return orNothing(readValue(attribute, newValue(place, value)));
  if (sub) return orNothing(withPart({ ...before }, sub, operation));
  const given = readValue(attribute, value);
  const kept = isObject(value) ? Object.entries({ ...before }).filter(([name]) => !names(value, name)) : [];
  return orNothing({ ...Object.fromEntries(kept), ...Object(given) });
}

const names = (value: object, part: string) => Object.keys(value).some((name) => isSameName(name, part));

const orNothing = (parts: unknown): object | undefined =>
  isObject(parts) && Object.keys(parts).length > 0 ? parts : undefined;

/** Whether a member of a value reads as a path. Any other is nobody's attribute. */
function isReadable(name: string): boolean {
  try {
    parsePath(name);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** @throws invalidPath */
function pathOf(text: string): Path {
  try {
    return parsePath(text);
  } catch (error) {
    throw error instanceof AppError ? invalidPath(text) : error;
  }
}

/** @throws invalidPath */
function boundIn(attribute: Attribute, filter: Filter, path: string): Bound {
  try {
    return bindMeant(attribute, filter, attribute.multiValued ? [] : [attribute.name]);
  } catch (error) {
    throw error instanceof AppError ? invalidPath(path) : error;
  }
}

const notMutable = (name: string) =>
  scimRefusal('mutability', `\`${name}\` cannot be changed or removed so.`);

/** RFC 7644 §3.5.2. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path?: string;
  readonly value?: unknown;
}

const MOST = 100;

/** Reads the body of a PATCH. @throws invalidSyntax, invalidValue */
export function readOperations(body: object): Operation[] {
  mustBeSchemas(body);
  const operations = memberOf(body, 'operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MOST) {
    throw scimRefusal('invalidValue', `\`Operations\` has to be an array of 1 to ${MOST} changes.`);
  }
  return operations.map((each: unknown) => {
    const given = isObject(each) ? each : {};
    const op = String(memberOf(given, 'op')).toLowerCase();
    const [path, value] = [memberOf(given, 'path') ?? undefined, memberOf(given, 'value')];
    if (op !== 'add' && op !== 'remove' && op !== 'replace') {
      throw scimRefusal('invalidSyntax', '`op` has to be `add`, `remove` or `replace`.');
    }
    if (path !== undefined && typeof path !== 'string') throw invalidPath();
    return { op, ...(path !== undefined && path !== '' && { path }), ...(value !== undefined && { value }) };
  });
}

/** @param path as it was sent */
function invalidPath(path?: string): Error {
  const which =
    path === undefined
      ? 'a text'
      : `well formed: \`${path.slice(0, 200).replaceAll(/[^ -~]/g, '?')}\` is not`;
  return scimRefusal('invalidPath', `A \`path\` has to be ${which}.`);
}
