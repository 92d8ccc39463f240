import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const OWN = 'apps/server/src/features/oauth/oauth/';
const text = readFileSync('docs/conformance.md', 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (Rule|Flow) /.test(line));
const named = rows.flatMap((row) => [...row.matchAll(/([\w./-]+\.test\.ts): “([^”]+)”/g)]);

test.each(named.map(([, file = '', name = '']) => [file, name]))('%s has the test “%s”', (file, name) => {
  const path = file.includes('/') ? file : `${OWN}${file}`;
  expect(existsSync(path), path).toBe(true);
  expect(readFileSync(path, 'utf8').replaceAll("\\'", "'")).toContain(name);
});

/** The chapters whose rows need no test: each says why in their place. */
const WITHOUT_TESTS = ['On paper only', 'Reserved paths'];

test('every row names a test, or says why there is none', () => {
  const chapters = text.split(/^## /m).slice(1);
  const titles = chapters.map((chapter) => chapter.split('\n', 1)[0] ?? '');
  const tested = chapters.filter((_, each) => !WITHOUT_TESTS.includes(titles[each] ?? ''));
  const bare = tested
    .flatMap((chapter) => chapter.split('\n'))
    .filter((line) => line.startsWith('| ') && !/^\| (Rule|Flow) /.test(line));

  expect(titles).toEqual(expect.arrayContaining([...WITHOUT_TESTS, 'Metadata', 'MCP']));
  expect(titles.filter((title) => /AuthZEN|CIBA|SSF|RFC 7662/.test(title))).toHaveLength(4);
  expect(bare.length).toBeGreaterThan(110);
  expect(bare.filter((line) => !line.includes('.test.ts: “') && !line.includes('Not built'))).toEqual([]);
  expect(chapters[titles.indexOf('On paper only')]).toMatch(/OpenID provider/);
});
