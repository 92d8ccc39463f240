import { BESIDE, MAX_BYTES, type PageRows } from './db/page-rows.ts';
import { badField } from './errors.ts';

/** Pages by number, for older clients, or from a cursor on. */
export interface PageRequest {
  readonly page?: number;
  readonly pageSize?: number;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface PagePosition {
  /** The page as the answer shows it; for a page from a cursor on, 1 and its limit. */
  readonly page: number;
  readonly pageSize: number;
  readonly offset: number;
  readonly cursor: string | undefined;
  /** Whether it was asked for by its number. */
  readonly isNumbered: boolean;
}

export interface Page<Item> {
  readonly page: Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * Shows rows until the answer would be too large. An item that is too large by itself is a page by itself.
 * @param show the item of the answer, or its JSON text
 */
export function pageOf<Row, Item>(
  { rows, hasMore, isSmall }: PageRows<Row>,
  cursorOf: (last: Row) => string,
  show: (row: Row) => Item,
): Page<Item> {
  const page = isSmall ? rows.map(show) : upToSize(rows, show);
  const last = rows[page.length - 1];
  const goesOn = hasMore || page.length < rows.length;
  return { page, nextCursor: goesOn && last !== undefined ? cursorOf(last) : null };
}

function upToSize<Row, Item>(rows: readonly Row[], show: (row: Row) => Item): Item[] {
  const page: Item[] = [];
  let bytes = BESIDE;
  for (const row of rows) {
    const item = show(row);
    bytes += Buffer.byteLength(typeof item === 'string' ? item : JSON.stringify(item)) + 1;
    if (bytes > MAX_BYTES && page.length > 0) break;
    page.push(item);
  }
  return page;
}

/** The cursor of most lists: the id of the page's last row. */
export const byId = ({ id }: { readonly id: string }) => id;

/** @throws BAD_REQUEST for a span of time that ends before it begins. */
export function mustBeSpan({ since, until }: { since?: string; until?: string }): void {
  if (since && until && new Date(since) >= new Date(until)) throw badField('until', 'too_small');
}

const LARGEST_PAGE = 200;
const FARTHEST_ROW = 100_000;
const DEFAULT_LIMIT = 100;

/** @throws BAD_REQUEST for a mixture of both styles, and for a page too far away. */
export function positionOf(
  { page, pageSize, limit, cursor }: PageRequest,
  defaultSize: number,
): PagePosition {
  const isNumbered = page !== undefined || pageSize !== undefined;
  const isFromCursor = limit !== undefined || cursor !== undefined;
  if (isNumbered && isFromCursor) {
    const message = 'Ask for a page by `page` and `pageSize`, or by `cursor` and `limit`.';
    throw badField(page === undefined ? 'pageSize' : 'page', 'not_allowed', message);
  }
  if (isFromCursor)
    return { page: 1, pageSize: limit ?? DEFAULT_LIMIT, offset: 0, cursor, isNumbered: false };
  const size = Math.min(pageSize ?? defaultSize, LARGEST_PAGE);
  const number = page ?? 1;
  if (number * size > FARTHEST_ROW) {
    throw badField(
      'page',
      'too_large',
      'This page is too far away. Send `cursor` with the `nextCursor` of an answer.',
    );
  }
  return { page: number, pageSize: size, offset: (number - 1) * size, cursor: undefined, isNumbered: true };
}

/** @throws BAD_REQUEST for a numbered page that its size cut short, because those after it would shift */
export function mustBeWhole(
  { isNumbered, pageSize }: PagePosition,
  { page, nextCursor }: Page<unknown>,
): void {
  if (isNumbered && nextCursor !== null && page.length < pageSize) {
    throw badField(
      'pageSize',
      'too_large',
      'A page of this size is larger than 1 MiB. Ask for a smaller one.',
    );
  }
}
