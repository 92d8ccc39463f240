import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allSettings } from '../../apps/server/src/config.ts';
import { configurationPage, exampleOf } from './configuration-page.ts';
import { performancePage, sizesTable } from './expectation.ts';
import { errorPage } from './files.ts';

test('codes are grouped by status, each with an anchor, and a bar in a text breaks no table', () => {
  const page = errorPage(
    {
      GONE: { status: 410, meaning: 'It was here.' },
      BAD_REQUEST: { status: 400, meaning: 'One of a|b.' },
      INVALID_SCOPE: { status: 400, meaning: 'No scope.' },
    },
    { code_used: 'The code was used.' },
  );

  expect(page.slice(page.indexOf('## 400'))).toBe(`## 400

| Code | Meaning and remedy |
| --- | --- |
| <a id="bad_request"></a>\`BAD_REQUEST\` | One of a\\|b. |
| <a id="invalid_scope"></a>\`INVALID_SCOPE\` | No scope. |

## 410

| Code | Meaning and remedy |
| --- | --- |
| <a id="gone"></a>\`GONE\` | It was here. |

## Reasons of INVALID_GRANT

\`details.reason\` is one of these.

| Reason | Meaning and remedy |
| --- | --- |
| \`code_used\` | The code was used. |
`);
});

describe('the page of settings', () => {
  const PORT = { accepts: 'an integer between 1 and 9', fallback: '`1`', meaning: 'The port.' };
  const page = `# Settings

<!-- settings: server -->
| old |
<!-- end -->
By hand.

<!-- features -->
old
<!-- end features -->
`;

  test('tables are written from the code, and what stands around them stays', () => {
    const written = configurationPage(page, { server: { PORT } }, { vases: { VASES: PORT }, none: {} });

    expect(written).toBe(`# Settings

<!-- settings: server -->
| Variable | Accepted | Default | Example | Meaning |
|---|---|---|---|---|
| \`PORT\` | an integer between 1 and 9 | \`1\` | \`PORT=8080\` | The port. |
<!-- end -->
By hand.

<!-- features -->

### Vases

| Variable | Accepted | Default | Example | Meaning |
|---|---|---|---|---|
| \`VASES\` | an integer between 1 and 9 | \`1\` | \`VASES=2\` | The port. |

<!-- end features -->
`);
  });

  test('a group that the page lacks, or names in vain, is refused', () => {
    expect(() => configurationPage(page, {}, {})).toThrow('server');
    expect(() => configurationPage(page, { server: {}, mail: {} }, {})).toThrow('mail');
  });

  test('the service takes every example, in production or, where it refuses that, in development', () => {
    const settings = Object.entries(allSettings).filter(([, { meaning }]) => meaning !== '');
    const refused = settings.filter(([name, setting]) => {
      const [variable = '', ...value] = exampleOf(name, setting).split('=');
      if (variable.endsWith('_FILE')) return variable !== `${name}_FILE`;
      const takes = (isProduction: boolean) => {
        try {
          return setting.read(value.join('='), { name, isProduction }) !== undefined;
        } catch {
          return false;
        }
      };
      return !takes(true) && !takes(false);
    });

    expect(settings.length).toBeGreaterThan(150);
    expect(refused.map(([name, setting]) => exampleOf(name, setting))).toEqual([]);
    expect(() => exampleOf('VASES', { accepts: 'a colour', fallback: 'none' })).toThrow(
      'VASES has no example',
    );
  });
});

describe('figures to expect', () => {
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
      ['audit append, one chain', 'enforce, one chain'].map(
        (flow) => `| ${flow} | 450 | 3 | 9 | 3.0 | 3.1 |`,
      ),
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
    expect(() => performancePage(page, without(results))).toThrow(/^scripts\/bench\/RESULTS\.md/);
  });

  test('a page without a place for the figures is missed', () => {
    expect(() => performancePage('Before.', results)).toThrow('docs/performance.md');
  });

  const figures = `
| Flow | A second | Share | Aim | Share of CPU | p50 ms | p99 ms | Server CPU | Postgres CPU | Redis CPU | Driver CPU |
| verify | 3,530 | 37 % | 110 % | 36 % | 4.15 | 13.13 | 0.250 | 0.100 | 0.030 | 0.042 |
| authorize → token | 390 | 16 % | 50 % | 17 % | 37.80 | 90.55 | 2.000 | 1.000 | 0.100 | 0.117 |
| Disk, rows and indexes | 10.0 GB |
| Highest resident memory | 211 MB quiet, 445 MB besieged |
`;

  test('the sizes follow from the measured figures', () => {
    const rows = sizesTable(figures).split('\n');

    // 1,000,000 a day are 11.574 a second; ten times that at 2 ms is 0.231, and 1,000 verifications at 0.25 ms are
    // 0.25 cores. Figures are rounded up.
    expect(rows).toContain('| Cores of all instances, in the busiest minute | 0.01 | 0.05 | 0.49 |');
    expect(rows).toContain('| Disk of PostgreSQL, a year | 37 GB | 365 GB | 3650 GB |');
    expect(rows).toContain('| Connections of PostgreSQL | 43 | 43 | 57 |');
  });

  test('a figure that is not there is missed', () => {
    expect(() => sizesTable(figures.replace('| verify |', '| verifies |'))).toThrow('no figure');
  });
});
