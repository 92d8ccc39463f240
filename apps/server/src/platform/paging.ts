import { badField } from './errors.ts';

/** Pages by number, which older clients ask for, or from a cursor on. */
export interface PageRequest {
  readonly page?: number;
  readonly pageSize?: number;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface PagePlace {
  /** As the answer says it; of a page from a cursor on, 1 and its limit. */
  readonly page: number;
  readonly pageSize: number;
  readonly offset: number;
  readonly cursor: string | undefined;
}

const LARGEST_PAGE = 200;
const FARTHEST_ROW = 100_000;
const DEFAULT_LIMIT = 100;

/** @throws BAD_REQUEST for a mixture of both styles, and for a page too far away. */
export function placeOf({ page, pageSize, limit, cursor }: PageRequest, defaultSize: number): PagePlace {
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
    throw badField('page', 'too_large', 'That far, go on by `cursor`: each answer has a `nextCursor`.');
  }
  return { page: number, pageSize: size, offset: (number - 1) * size, cursor: undefined };
}
