import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { bounds, growthOf, rowsOf, storagePage } from '../../../../scripts/generate/storage.ts';
import { startApp } from '../app/start-app.ts';

test('M7: every table says what bounds its rows, and names what there is', async () => {
  const { db } = await startApp();
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db);

  expect([...bounds.keys()].sort()).toEqual(rows.map(({ name }) => name).sort());
  for (const [name, bound] of bounds) {
    const isBounded = bound === 'operator' || rowsOf(name, 'free') !== undefined;
    expect(isBounded || growthOf(name) !== undefined, name).toBe(true);
  }
});

test('M7: no table of an account is unlimited on the plan free, and together they stay below 1 GiB', () => {
  const rows = [...bounds.keys()].map((name) => rowsOf(name, 'free') ?? 0);
  expect(rows.filter((count) => !Number.isFinite(count))).toEqual([]);

  const [, all] =
    /\| all \|[ |]*\| ([\d,]+) \|/.exec(storagePage('<!-- storage -->\n<!-- end storage -->')) ?? [];
  expect(Number(all?.replaceAll(',', ''))).toBeLessThan(1024);
});
