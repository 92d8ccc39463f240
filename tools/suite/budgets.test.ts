import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { budgets, DEFAULT_BUDGET, unitsFor } from './budgets.ts';

test('a budget of its own is for a file or a folder that is there', () => {
  const missing = budgets.filter(({ path }) => !existsSync(join(import.meta.dirname, '../..', path)));

  expect(missing).toEqual([]);
});

test('a budget is for its file, or for every file in its folder, and for no other', () => {
  const [{ path, units } = { path: '', units: 0 }] = budgets;

  expect(unitsFor(path)).toBe(units);
  expect(unitsFor(`${path}/deep/inside.test.ts`)).toBe(units);
  expect(unitsFor(`${path}-other.test.ts`)).toBe(DEFAULT_BUDGET);
});
