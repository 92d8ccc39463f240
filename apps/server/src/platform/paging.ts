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
}

export interface Page<Row> {
  readonly page: readonly Row[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** @param rows up to one more than `limit`: the row too many says that another page follows. */
export function pageOf<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string): Page<Row> {
  const page = rows.slice(0, limit);
  const last = rows.length > page.length ? page.at(-1) : undefined;
  return { page, nextCursor: last === undefined ? null : cursorOf(last) };
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
  if (isFromCursor) return { page: 1, pageSize: limit ?? DEFAULT_LIMIT, offset: 0, cursor };
  const size = Math.min(pageSize ?? defaultSize, LARGEST_PAGE);
  const number = page ?? 1;
  if (number * size > FARTHEST_ROW) {
    throw badField(
      'page',
      'too_large',
      'This page is too far away. Send `cursor` with the `nextCursor` of an answer.',
    );
  }
  return { page: number, pageSize: size, offset: (number - 1) * size, cursor: undefined };
}
