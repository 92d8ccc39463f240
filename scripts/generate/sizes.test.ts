import { expect, test } from 'vitest';
import { sizesTable } from './sizes.ts';

const results = `
| Flow | A second | Share | Aim | Share of CPU | p50 ms | p99 ms | Server CPU | Postgres CPU | Redis CPU | Driver CPU |
| verify | 3,530 | 37 % | 110 % | 36 % | 4.15 | 13.13 | 0.250 | 0.100 | 0.030 | 0.042 |
| authorize → token | 390 | 16 % | 50 % | 17 % | 37.80 | 90.55 | 2.000 | 1.000 | 0.100 | 0.117 |
| Disk, rows and indexes | 10.0 GB |
| Highest resident memory | 211 MB quiet, 445 MB besieged |
`;

test('the sizes follow from the measured figures', () => {
  const rows = sizesTable(results).split('\n');

  // 1,000,000 a day are 11.574 a second; ten times that at 2 ms is 0.231, and 1,000 verifications at 0.25 ms are
  // 0.25 cores. Figures are rounded up.
  expect(rows).toContain('| Cores of all instances, in the busiest minute | 0.01 | 0.05 | 0.49 |');
  expect(rows).toContain('| Disk of PostgreSQL, a year | 37 GB | 365 GB | 3650 GB |');
  expect(rows).toContain('| Connections of PostgreSQL | 43 | 43 | 57 |');
});

test('a figure that is not there is missed', () => {
  expect(() => sizesTable(results.replace('| verify |', '| verifies |'))).toThrow('no figure');
});
