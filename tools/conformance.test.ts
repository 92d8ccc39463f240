import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const OWN = 'apps/server/src/features/access/oauth/';
const text = readFileSync('docs/conformance.md', 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| Rule/.test(line));
const named = rows.flatMap((row) => [...row.matchAll(/([\w./-]+\.test\.ts): “([^”]+)”/g)]);

test.each(named.map(([, file = '', name = '']) => [file, name]))('%s has the test “%s”', (file, name) => {
  const path = file.includes('/') ? file : `${OWN}${file}`;
  expect(existsSync(path), path).toBe(true);
  expect(readFileSync(path, 'utf8').replaceAll("\\'", "'")).toContain(name);
});

test('every row names a test, or says why there is none', () => {
  const [listed = '', onPaper = ''] = text.split('## On paper only');
  const bare = listed.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Rule'));

  expect(named.length).toBeGreaterThan(60);
  expect(bare.filter((line) => !line.includes('.test.ts: “') && !line.includes('Not built'))).toEqual([]);
  expect(onPaper).toMatch(/OpenID provider/);
});
