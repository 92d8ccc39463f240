import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { newDatabase } from '../../../test/app/start-app.ts';
import type { Executor } from './db.ts';
import { openDatabase } from './open-database.ts';
import { isoTime } from './values.ts';

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
  const { rows } = await sql<{ text: string }>`select '2026-11-22 16:04:24.123987+00'::text as text`.execute(
    db,
  );

  expect(rows.map(({ text }) => isoTime(text))).toEqual(['2026-11-22T16:04:24.123Z']);
});
