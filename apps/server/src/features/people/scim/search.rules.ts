import { scimRefusal } from '../../../platform/errors.ts';
import type { Attribute, ResourceType } from './attributes.rules.ts';
import { type Bound, bindFilter } from './bind.rules.ts';
import { parseFilter } from './filter.rules.ts';
import { targetOf } from './paths.rules.ts';
import { memberOf } from './resource.rules.ts';

/** The order of a list. Resources with one value, and all without an order, stand in the order of their creation. */
export interface Order {
  readonly path: readonly string[];
  readonly attribute: Attribute;
  readonly isDescending: boolean;
}

/** The question of a client about a list (RFC 7644 §3.4.2, RFC 9865). */
export interface Search {
  readonly filter?: Bound;
  readonly order?: Order;
  /** The most resources of the page. */
  readonly count: number;
  /** The place of the first, from 1. A page from a cursor on has none. */
  readonly startIndex?: number;
  /** Where the page before ended; null at the beginning. */
  readonly after?: Position | null;
}

/** The last resource of a page: its place in the order. */
export interface Position {
  readonly id: string;
  /** The value by which the list is sorted, as text. */
  readonly value: string | null;
}

const LOOK_UP = /^\s*(?:id|userName|externalId|displayName)\s+eq\s+"[^"\\]*"\s*$/i;

/** Whether a filter asks an index for one name, as identity providers do before each write. */
export const isLookUp = (filter: unknown): boolean => typeof filter === 'string' && LOOK_UP.test(filter);

export const DEFAULT_COUNT = 100;
export const MAX_COUNT = 200;

/**
 * Reads the query of a list, or the body of a search.
 * @throws invalidFilter, invalidValue, invalidCursor, invalidCount
 */
export function readSearch(type: ResourceType, given: object): Search {
  const of = (wanted: string): unknown => memberOf(given, wanted) ?? undefined;
  const filter = isBlank(of('filter')) ? undefined : of('filter'); // Entra ID sends `filter=`
  if (filter !== undefined && typeof filter !== 'string') throw notText('filter');
  const cursor = of('cursor');
  const order = orderIn(type, of('sortBy'), of('sortOrder'));
  return {
    ...(filter !== undefined && { filter: bindFilter(type, parseFilter(filter)) }),
    ...(order && { order }),
    count: Math.min(Math.max(integerIn('count', of('count')) ?? DEFAULT_COUNT, 0), MAX_COUNT),
    ...(cursor === undefined
      ? { startIndex: Math.max(integerIn('startIndex', of('startIndex')) ?? 1, 1) }
      : { after: positionIn(cursor) }),
  };
}

export const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === '';

function integerIn(name: string, value: unknown): number | undefined {
  if (value === undefined || isBlank(value)) return undefined;
  const text = String(value);
  if (!/^[+-]?\d{1,9}$/.test(text))
    throw scimRefusal('invalidValue', `\`${name}\` has to be a whole number.`);
  return Number(text);
}

function orderIn(type: ResourceType, by: unknown, direction: unknown): Order | undefined {
  if (by === undefined || isBlank(by)) return undefined;
  if (typeof by !== 'string') throw notText('sortBy');
  const found = targetOf(type, by);
  if (!found) return undefined; // nobody has a value of it
  const leaf = found.sub ?? found.attribute;
  if (
    !found.attribute ||
    !leaf ||
    found.attribute.multiValued ||
    leaf.type === 'complex' ||
    leaf.name === 'location'
  ) {
    throw scimRefusal('invalidValue', '`sortBy` has to name an attribute with one value and without parts.');
  }
  const isDescending = String(direction ?? 'ascending').toLowerCase() === 'descending';
  const { extension, attribute, sub } = found;
  const path = [...(extension ? [extension] : []), attribute.name, ...(sub ? [sub.name] : [])];
  return { path, attribute: leaf, isDescending };
}

/**
 * The cursor of the next page: a position, which gives no rights.
 * @param rows those of the page, and one more when there is a next one
 * @returns undefined on the last page, and for a search by index
 */
export function cursorAfter(
  { after, count }: Pick<Search, 'after' | 'count'>,
  rows: readonly { readonly id: string; readonly sortValue: string | null }[],
): string | undefined {
  const last = rows.slice(0, count).at(-1);
  if (after === undefined || rows.length <= count || !last) return undefined;
  return Buffer.from(JSON.stringify([last.id, last.sortValue])).toString('base64url');
}

function positionIn(cursor: unknown): Position | null {
  if (cursor === '') return null;
  const read: unknown = readJson(
    typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '',
  );
  const [id, value]: unknown[] = Array.isArray(read) ? read : [];
  const isValue = value === null || typeof value === 'string';
  if (typeof id !== 'string' || !isValue || /\0/.test(`${id}${value}`)) {
    throw scimRefusal('invalidCursor', '`cursor` has to be the `nextCursor` of an answer.');
  }
  return { id, value };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const notText = (name: string) => scimRefusal('invalidValue', `\`${name}\` has to be a text.`);
