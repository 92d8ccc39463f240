import type { Answer } from '../client/transport.ts';

type Page = Readonly<Record<string, unknown>>;

/**
 * Makes a page that is also a list of all rows, its own and those of the pages after it. An empty page is not the end.
 *
 * @param rows the member of a page that has its rows, or undefined where the page is its rows
 * @param ask gets the page at a place, which is a part of the query
 */
export function listOf(
  rows: string | undefined,
  first: Promise<Answer>,
  ask: (place: Page) => Promise<Answer>,
) {
  async function* all(start: () => Promise<Answer>): AsyncGenerator<unknown> {
    let answer = await start();
    for (;;) {
      const found = rowsIn(answer.data, rows);
      for (const row of found) yield row; // an array of rows may be this very list
      const place = placeAfter(answer, found.length);
      if (!place) return;
      answer = await ask(place);
    }
  }
  const iterator = (start: () => Promise<Answer>) => ({ value: () => all(start), enumerable: false });
  const page = first.then((answer) =>
    Object.defineProperty(
      Object(answer.data),
      Symbol.asyncIterator,
      iterator(async () => answer),
    ),
  );
  // Through the page, so that a failure has one handler whether a program awaits the list or iterates over it.
  return Object.defineProperty(
    page,
    Symbol.asyncIterator,
    iterator(() => page.then(() => first)),
  );
}

function rowsIn(page: unknown, rows: string | undefined): readonly unknown[] {
  const found: unknown = rows === undefined ? page : Object(page)[rows];
  return Array.isArray(found) ? found : [];
}

/** The place of the next page: a cursor, or an index where SCIM counts (RFC 7644, section 3.4.2.4). */
function placeAfter({ data, answered }: Answer, count: number): Page | undefined {
  if (Array.isArray(data)) return placeIn(answered.headers.get('link'));
  const { nextCursor, startIndex, totalResults }: Page = Object(data);
  if (typeof nextCursor === 'string') return { cursor: nextCursor };
  if (nextCursor === null || typeof totalResults !== 'number' || count === 0) return undefined;
  const next = (typeof startIndex === 'number' ? startIndex : 1) + count;
  return next <= totalResults ? { startIndex: next } : undefined;
}

/** Takes the cursor alone from a link (RFC 8288), so that the next request goes to the same service with its key. */
function placeIn(link: string | null): Page | undefined {
  const address = /<([^<>]*)>[^,<]*;\s*rel="next"/.exec(link ?? '')?.[1] ?? '';
  const cursor = new URLSearchParams(address.replace(/^[^?]*\??/, '')).get('cursor');
  return cursor === null ? undefined : { cursor };
}
