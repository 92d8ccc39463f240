import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linesIn, securityPage, securityTests, titlesIn } from './page.ts';

const ROOT = join(import.meta.dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
const tests = securityTests(ROOT);
/** The ids are put together here, so that this file proves no line. */
const line = (section: string, number: number) => `${section}${number}`;
const proof = (...lines: string[]) => ({ file: 'a.test.ts', title: `${lines.join()}: a|b <c>`, lines });

test('the page lists the tests of every line, by file and title', () => {
  expect(securityPage(page, tests)).toBe(page);
  expect(tests.length).toBeGreaterThan(200);
});

describe('the page is refused', () => {
  const waiting = line('H', 3);

  test.each<[string, () => string]>([
    [
      'with a line that no test names',
      () =>
        securityPage(
          page,
          tests.filter(({ lines }) => !lines.includes(line('T', 8))),
        ),
    ],
    [
      'with a line among the later ones that a test names',
      () => securityPage(page, [...tests, proof(waiting)]),
    ],
    ['with a test that names what is no line', () => securityPage(page, [...tests, proof(line('J', 99))])],
    ['without one of the lines', () => securityPage(page.replace(/^\| J5 .*\n/m, ''), tests)],
    ['with one of them twice', () => securityPage(page.replace(/^\| J5 .*\n/m, '$&$&'), tests)],
  ])('%s', (_, make) => {
    expect(make).toThrow(/docs\/security\.md:\n[A-Z]\d+ [^\n]+$/);
  });
});

test('a line lists its tests, and no title ends the cell', () => {
  const changed = securityPage(page, [...tests, proof(line('T', 8))]);

  expect(changed).toContain('[a.test.ts](../a.test.ts): “T8: a\\|b &lt;c>”');
});

test('titles are those of tests, of their blocks and of the rows of tables', () => {
  const source = `
    describe('a block', () => {
      test('one', () => expect('test("none")'));
      test.each(['x', 'y'])('%s of a list', () => {});
      test.each<[string, number]>([['z', 1], other])('%s of a table', () => {});
      test.each(elsewhere)('%s from elsewhere', () => {});
      // test('commented out')
    });`;

  expect(titlesIn(source)).toEqual(['a block', 'one', 'x of a list', 'y of a list', 'z of a table']);
});

test('a title names a line by its id alone, not by a place in another document', () => {
  const [five, one] = [line('A', 5), line('C', 1)];

  expect(linesIn(`${five}, ${one}: and ${five} again`)).toEqual([five, one]);
  expect(linesIn(`18 ${five}, RFC 9700 ${one}: a page`)).toEqual([]);
});
