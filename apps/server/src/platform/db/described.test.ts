import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDatabase } from '../../../test/app/start-app.ts';
import { queryDescribed } from './lanes.ts';

let pool: pg.Pool;
let client: pg.PoolClient;
let descriptions = 0;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await newDatabase(), max: 1, pipeline: true });
  client = await pool.connect();
  client.connection.on('rowDescription', () => {
    descriptions += 1;
  });
});
afterAll(async () => {
  client.release();
  await pool.end();
});

const VALUES = `select $1::integer as "whole", 1.50::numeric as "exact", true as "isSo", null as "none", 'a'::text as "word",
  array['a', null] as "words", '{"b": [1]}'::jsonb as "json", '\\x01ff'::bytea as "bytes",
  '2026-01-02 03:04:05+00'::timestamptz as "at"`;

describe('a named statement', () => {
  test('gives the same rows after its columns were described, one by one and together', async () => {
    const values = (whole: number) =>
      queryDescribed(client, { name: 'values', text: VALUES, values: [whole] });
    descriptions = 0;

    const [first] = (await values(1)).rows;
    expect(first).toEqual((await client.query(VALUES, [1])).rows[0]);
    expect(descriptions).toBe(2);

    expect((await values(2)).rows).toEqual([{ ...first, whole: 2 }]);
    const together = await Promise.all([3, 4, 5].map(values));
    expect(together.map(({ rows }) => rows)).toEqual([3, 4, 5].map((whole) => [{ ...first, whole }]));
    expect(descriptions).toBe(2);
  });

  test('has no rows, or many', async () => {
    const text = 'select each from generate_series(1, $1::integer) each';
    const rowsOf = async (count: number) =>
      (await queryDescribed(client, { name: 'series', text, values: [count] })).rows;

    expect(await rowsOf(0)).toEqual([]);
    expect(await rowsOf(0)).toEqual([]);
    expect(await rowsOf(2)).toEqual([{ each: 1 }, { each: 2 }]);
  });

  test('fails alone, among others on its connection', async () => {
    const divide = (by: number) =>
      queryDescribed(client, { name: 'divide', text: 'select 6 / $1::integer as "part"', values: [by] });
    await divide(1);

    const [two, none, three] = await Promise.allSettled([divide(2), divide(0), divide(3)]);

    expect(two).toMatchObject({ value: { rows: [{ part: 3 }] } });
    expect(none).toMatchObject({ reason: { code: '22012' } });
    expect(three).toMatchObject({ value: { rows: [{ part: 2 }] } });
  });

  test('is refused when its columns have changed, and gives no row of another form', async () => {
    await client.query('create table changing as select 1 as a, 2 as b');
    const read = () => queryDescribed(client, { name: 'changing', text: 'select * from changing' });
    expect((await read()).rows).toEqual([{ a: 1, b: 2 }]);
    expect((await read()).rows).toEqual([{ a: 1, b: 2 }]);

    await client.query('alter table changing drop column a');

    await expect(read()).rejects.toMatchObject({ code: '0A000' });
  });
});

test('a statement without a name is described each time', async () => {
  descriptions = 0;

  for (const text of ['select 1 as a', 'select 2 as b']) {
    expect((await queryDescribed(client, { text, values: [] })).rows).toHaveLength(1);
  }

  expect(descriptions).toBe(2);
});
