type Page = Readonly<Record<string, unknown>>;

/**
 * Makes a page that is also a list of all rows, its own and those of the pages after it. An empty page is not the end.
 *
 * @param rows the member of a page that has its rows
 * @param ask gets the page at a place, which is a part of the query
 */
export function listOf(rows: string, first: Promise<unknown>, ask: (place: Page) => Promise<unknown>) {
  async function* all(start: Promise<unknown>): AsyncGenerator<unknown> {
    let page: Page = Object(await start);
    for (;;) {
      const found = rowsIn(page, rows);
      yield* found;
      const place = placeAfter(page, found.length);
      if (!place) return;
      page = Object(await ask(place));
    }
  }
  const iterator = (start: Promise<unknown>) => ({ value: () => all(start), enumerable: false });
  const page = first.then((answer) =>
    Object.defineProperty(Object(answer), Symbol.asyncIterator, iterator(Promise.resolve(answer))),
  );
  return Object.defineProperty(page, Symbol.asyncIterator, iterator(page));
}

function rowsIn(page: Page, rows: string): readonly unknown[] {
  const found = page[rows];
  return Array.isArray(found) ? found : [];
}

/** The place of the next page: a cursor, or an index where SCIM counts (RFC 7644, section 3.4.2.4). */
function placeAfter({ nextCursor, startIndex, totalResults }: Page, count: number): Page | undefined {
  if (typeof nextCursor === 'string') return { cursor: nextCursor };
  if (nextCursor === null || typeof totalResults !== 'number' || count === 0) return undefined;
  const next = (typeof startIndex === 'number' ? startIndex : 1) + count;
  return next <= totalResults ? { startIndex: next } : undefined;
}
