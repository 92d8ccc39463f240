import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { newDatabase } from '../../../test/app/start-app.ts';
import { pageOf } from '../paging.ts';
import type { Executor } from './db.ts';
import { openDatabase } from './open-database.ts';
import { boundedRows, MAX_BYTES, pageRows } from './page-rows.ts';
import { isoTime } from './values.ts';

let db: Executor;
beforeAll(async () => {
  db = openDatabase({ connectionString: await newDatabase() }, 1); // one session, which has the sequence
  await sql`create temp sequence evaluated`.execute(db);
  return () => db.destroy();
});

interface Row {
  readonly id: string;
  readonly text: string;
}

/** A page of a list whose rows have these sizes, numbered from 1. */
async function readSizes(sizes: readonly number[], after: string, limit: number) {
  const rows = sql<Row>`
    select id, repeat('x', bytes) as text, nextval('evaluated')
    from unnest(${sizes}::int[]) with ordinality as list (bytes, id) where id > ${after} order by id limit ${limit + 1}`;
  return pageRows((await boundedRows(rows).execute(db)).rows, limit);
}

/** The numbers in the pages of a list. @param show makes an item of a row, of another size */
async function pagesOf(sizes: readonly number[], limit: number, show: (text: string) => string) {
  const pages: { ids: number[]; bytes: number }[] = [];
  let after: string | null = '0';
  while (after !== null) {
    const found = await readSizes(sizes, after, limit);
    const { page, nextCursor }: { page: { id: number; text: string }[]; nextCursor: string | null } = pageOf(
      found,
      ({ id }) => id,
      ({ id, text }) => ({ id: Number(id), text: show(text) }),
    );
    pages.push({
      ids: page.map(({ id }) => id),
      bytes: Buffer.byteLength(JSON.stringify({ page, nextCursor })),
    });
    after = nextCursor;
  }
  return pages;
}

const shorter = (text: string) => text.slice(0, text.length / 20);
const same = (text: string) => text;
const longer = (text: string) => text.replaceAll('x', '\\n');

test('pages of rows of any sizes hold each row once, in order, and no page is larger than 1 MiB unless it has one row', async () => {
  const bytes = fc.oneof(fc.nat(500), fc.nat(60_000), fc.integer({ min: 300_000, max: 1_100_000 }));
  const sizes = fc.array(bytes, { maxLength: 20 });

  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom(shorter, same, longer),
      async (list, limit, show) => {
        const pages = await pagesOf(list, limit, show);

        expect(pages.flatMap(({ ids }) => ids)).toEqual(list.map((_, at) => at + 1));
        for (const { ids, bytes } of pages) {
          expect(ids.length).toBeLessThanOrEqual(limit);
          expect(ids.length <= 1 || bytes <= MAX_BYTES).toBe(true);
          expect(ids.length > 0 || list.length === 0).toBe(true);
        }
      },
    ),
    { numRuns: 25 },
  );
});

test.each([
  [500, 16_384, 63], // as many as have room in 1 MiB
  [500, 100, 500],
  [3, 2_000_000, 1],
])('a list of %i rows of %i bytes has %i on its first page', async (rows, bytes, expected) => {
  const found = await readSizes(Array(rows).fill(bytes), '0', 500);

  expect(found.rows).toHaveLength(expected);
  expect(found.hasMore).toBe(expected < rows);
});

test('Postgres evaluates the rows of a page and two after it, and no other', async () => {
  const evaluated = async () => {
    const { rows } = await sql<{ last: string }>`select last_value as last from evaluated`.execute(db);
    return Number(rows[0]?.last);
  };
  const before = await evaluated();

  const { rows } = await readSizes(Array(500).fill(16_384), '0', 500);

  expect((await evaluated()) - before).toBe(rows.length + 2);
});

describe('times', () => {
  let db: Executor;
  beforeAll(async () => {
    db = openDatabase({ connectionString: await newDatabase() }, 1); // one session, which has the time zone
    return () => db.destroy();
  });

  test.each(['UTC', 'Asia/Kathmandu', 'America/New_York'])(
    'a time that the database writes in %s is the time that went in',
    async (zone) => {
      await sql`select set_config('timezone', ${zone}, false)`.execute(db);
      const times = [
        '2026-11-22T16:04:24.123Z',
        '2026-02-28T23:59:59.900Z',
        '2026-01-01T00:00:00.000Z',
        '1999-12-31T00:00:00.010Z',
        '9999-12-31T12:00:00.999Z',
        '0999-12-31T12:00:00.500Z',
      ];

      const asked = sql<{ text: string }>`select t::text as text from unnest(${times}::timestamptz[]) as t`;
      const { rows } = await asked.execute(db);

      expect(rows.map(({ text }) => isoTime(text))).toEqual(times);
    },
  );

  test('parts of a millisecond are cut off, as in every answer', async () => {
    const { rows } = await sql<{
      text: string;
    }>`select '2026-11-22 16:04:24.123987+00'::text as text`.execute(db);

    expect(rows.map(({ text }) => isoTime(text))).toEqual(['2026-11-22T16:04:24.123Z']);
  });
});
