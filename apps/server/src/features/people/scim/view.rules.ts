import { AppError, scimRefusal } from '../../../platform/errors.ts';
import type { ResourceType } from './attributes.rules.ts';
import { type ExtensionTarget, type Target, targetOf } from './paths.rules.ts';
import { isObject, memberOf } from './resource.rules.ts';

type Resource = Readonly<Record<string, unknown>>;

/** The attributes that a client wants to see (RFC 7644 §3.9). */
export interface View {
  readonly only?: readonly (Target | ExtensionTarget)[];
  readonly without?: readonly (Target | ExtensionTarget)[];
}

/** Reads `attributes` and `excludedAttributes`: lists with commas in a query, arrays in a search. @throws invalidValue */
export function readView(type: ResourceType, given: object): View {
  const [only, without] = [listIn(given, 'attributes'), listIn(given, 'excludedAttributes')];
  if (only && without) {
    throw scimRefusal('invalidValue', 'Send either `attributes` or `excludedAttributes`.');
  }
  const known = (names: readonly string[]) => names.flatMap((name) => targetOf(type, name) ?? []);
  return { ...(only && { only: known(only) }), ...(without && { without: known(without) }) };
}

const MAX_NAMES = 1000;

function listIn(given: object, wanted: string): string[] | undefined {
  const value = memberOf(given, wanted);
  const names = Array.isArray(value) ? value.map(String) : String(value ?? '').split(',');
  const list = names.map((name) => name.trim()).filter(Boolean);
  if (list.length > MAX_NAMES)
    throw scimRefusal('invalidValue', `\`${wanted}\` has at most ${MAX_NAMES} names.`);
  return list.length > 0 ? list : undefined;
}

/** Whether an attribute of the core is shown, so that it need not be read otherwise. */
export function isShown({ only, without }: View, name: string): boolean {
  const isMeant = ({ extension, attribute }: Target | ExtensionTarget) =>
    extension === undefined && attribute?.name === name;
  if (only) return only.some(isMeant);
  return !without?.some((target) => isMeant(target) && !target.sub);
}

/** The parts of a resource that are to be seen. `schemas` and `id` always are. */
export function viewed(resource: Resource, { only, without }: View): Resource {
  const { schemas, id } = resource;
  if (only) {
    const shown: Record<string, unknown> = { schemas, id };
    for (const target of only) copy(resource, shown, target);
    return shown;
  }
  if (!without) return resource;
  let shown: Resource = resource;
  for (const target of without) shown = reduced(shown, target);
  return { ...shown, schemas, id };
}

function copy(resource: Resource, shown: Record<string, unknown>, target: Target | ExtensionTarget): void {
  const { extension, attribute, sub } = target;
  const holder = extension === undefined ? resource : resource[extension];
  if (!isObject(holder)) return;
  if (!attribute) {
    shown[extension] = holder;
    return;
  }
  const value: unknown = Reflect.get(holder, attribute.name);
  if (value === undefined) return;
  const into = extension === undefined ? shown : { ...Object(shown[extension]) };
  if (extension !== undefined) shown[extension] = into;
  into[attribute.name] = sub ? withParts(into[attribute.name], value, sub.name) : value;
}

/** Adds one part to what is shown of an attribute already. */
function withParts(shown: unknown, value: unknown, part: string): unknown {
  if (Array.isArray(value)) {
    const before: unknown[] = Array.isArray(shown) ? shown : [];
    return value.map((each, index) => withParts(before[index], each, part));
  }
  const known: unknown = isObject(value) ? Reflect.get(value, part) : undefined;
  return { ...Object(shown), ...(known !== undefined && { [part]: known }) };
}

function reduced(resource: Resource, { extension, attribute, sub }: Target | ExtensionTarget): Resource {
  if (extension !== undefined && attribute) {
    const holder = resource[extension];
    return isObject(holder)
      ? { ...resource, [extension]: reduced({ ...holder }, sub ? { attribute, sub } : { attribute }) }
      : resource;
  }
  const name = attribute?.name ?? extension ?? '';
  const { [name]: value, ...others } = resource;
  return sub && value !== undefined ? { ...resource, [name]: withoutPart(value, sub.name) } : others;
}

function withoutPart(value: unknown, part: string): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutPart(each, part));
  if (!isObject(value)) return value;
  const { [part]: _, ...others } = { ...value } as Record<string, unknown>;
  return others;
}

/** Entity tags of a header: `*`, or a list. Weak comparison (RFC 9110 §8.8.3.2), as the service's tags are weak. */
function namesTag(header: string, tag: string): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((each) => opaque(each) === opaque(tag));
}

/** @throws PRECONDITION_FAILED when the resource is another version than the client means */
export function mustBeVersion(ifMatch: string | undefined, tag: string): void {
  if (ifMatch === undefined || namesTag(ifMatch, tag)) return;
  throw new AppError('PRECONDITION_FAILED', 'The resource has changed; read it again.');
}

export const isKnownVersion = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag);
