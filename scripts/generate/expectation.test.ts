import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { performancePage } from './expectation.ts';

const results = readFileSync(join(import.meta.dirname, '../bench/RESULTS.md'), 'utf8');
const page = 'Before.\n<!-- expectation -->\nold\n<!-- end expectation -->\nAfter.';

test('the page has the highest rate of a flow, and its latency at half of that', () => {
  const measured = [
    ['- 2 cores (AMD EPYC), 24 GB', '- Node 24.21.0, PostgreSQL 18.4 (fsync on), Redis 7.0.15'],
    ['verify', 'authorize', 'authorize → token', 'refresh', 'vault exchange'].map(
      (flow, each) =>
        `| ${flow} | ${each + 1},000 | 48 % | 110 % | 42 % | 2.82 | 9.86 | 0.1 | 0.2 | 0.3 | 0.4 |`,
    ),
    ['audit append, one chain', 'enforce, one chain'].map((flow) => `| ${flow} | 900 | 1 % |`),
    ['| Server, hours of one core | 0.438 h |', '| Postgres, hours of one core | 0.596 h |'],
    ['| Redis, hours of one core | 0.036 h |', '| Disk, rows and indexes | 11.1 GB |'],
    ['| By the clock, at half of the highest rate | A second | p50 ms | p99 ms |'],
    ['verify', 'authorize', 'authorize → token', 'refresh', 'vault exchange'].map(
      (flow, each) => `| ${flow} | 500 | 1.${each} | 7.${each} | 5.0 | 3.1 |`,
    ),
    ['audit append, one chain', 'enforce, one chain'].map((flow) => `| ${flow} | 450 | 3 | 9 | 3.0 | 3.1 |`),
  ];

  const rows = performancePage(page, measured.flat().join('\n')).split('\n');

  expect(rows.slice(0, 4)).toEqual([
    'Before.',
    '<!-- expectation -->',
    '2 cores (AMD EPYC), 24 GB; Node 24.21.0, PostgreSQL 18.4 (fsync on), Redis 7.0.15; the driver on the same machine.',
    '',
  ]);
  expect(rows).toContain('| refresh | 4,000 | 1.3 ms | 7.3 ms |');
  expect(rows).toContain('| PostgreSQL, hours of one core | 0.596 h |');
  expect(rows).toContain('| Disk, rows and indexes | 11.1 GB |');
  expect(rows.at(-1)).toBe('After.');
});

test.each([
  ['a flow that was not measured', (text: string) => text.replaceAll('| refresh |', '| rotation |')],
  ['a run without requests by the clock', (text: string) => text.replace('| By the clock', '| Otherwise')],
  ['a cost that is not there', (text: string) => text.replace('Disk, rows', 'Rows')],
  ['no machine', (text: string) => text.replace(/^- \d+ cores?/m, '- cores')],
])('%s is missed', (_, without) => {
  expect(() => performancePage(page, without(results))).toThrow(/^bench\/RESULTS\.md/);
});

test('a page without a place for the figures is missed', () => {
  expect(() => performancePage('Before.', results)).toThrow('docs/performance.md');
});
