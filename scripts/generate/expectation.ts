const BLOCK = /(?<=<!-- expectation -->\n)[\s\S]*(?=<!-- end expectation -->)/;

/** The flows of the page, by their names in the results. */
const FLOWS = [
  'verify',
  'authorize',
  'authorize → token',
  'refresh',
  'vault exchange',
  'audit append, one chain',
  'enforce, one chain',
];

/**
 * Writes what to expect into the page on performance, between `<!-- expectation -->` and `<!-- end expectation -->`.
 * @param results the text of `scripts/bench/RESULTS.md`
 * @throws Error when a figure is not there, or the page has no place for it
 */
export function performancePage(page: string, results: string): string {
  if (!BLOCK.test(page)) throw new Error('docs/performance.md has no `<!-- expectation -->`.');
  return page.replace(BLOCK, () => `${expectation(results)}\n`);
}

function expectation(results: string): string {
  const [machine] = /^- (\d+ cores? .*)$/m.exec(results)?.slice(1) ?? [];
  const [versions] = /^- (Node .*)$/m.exec(results)?.slice(1) ?? [];
  if (!machine || !versions) throw new Error('scripts/bench/RESULTS.md names no machine.');
  const [most = '', paced = ''] = results.split('| By the clock');
  const rows = FLOWS.map((flow) => {
    const [rate = ''] = cellsOf(most, flow);
    const [, p50 = '', p99 = ''] = cellsOf(paced, flow);
    return `| ${[flow, rate, `${p50} ms`, `${p99} ms`].join(' | ')} |`;
  });
  const cost = (name: string, unit: string) =>
    `${figures(results, new RegExp(`^\\| ${name} \\| ([\\d.]+) ${unit} \\|`, 'm'))} ${unit}`;
  return [
    `${machine}; ${versions}; the driver on the same machine.`,
    '',
    '| Flow | Most a second | p50 at half of that | p99 |',
    '|---|---:|---:|---:|',
    ...rows,
    '',
    '| A million authorizations with their tokens | |',
    '|---|---:|',
    `| Instances, hours of one core | ${cost('Server, hours of one core', 'h')} |`,
    `| PostgreSQL, hours of one core | ${cost('Postgres, hours of one core', 'h')} |`,
    `| Redis, hours of one core | ${cost('Redis, hours of one core', 'h')} |`,
    `| Disk, rows and indexes | ${cost('Disk, rows and indexes', 'GB')} |`,
  ].join('\n');
}

/** The cells after the name of the first row that has it. */
function cellsOf(part: string, flow: string): string[] {
  const row = part.split('\n').find((line) => line.startsWith(`| ${flow} |`));
  if (!row) throw new Error(`scripts/bench/RESULTS.md has no row ${flow}.`);
  return row
    .split('|')
    .slice(2)
    .map((cell) => cell.trim());
}

interface Size {
  readonly perDay: number;
  readonly verifiedPerSecond: number;
  readonly instances: number;
}

const SIZES: readonly Size[] = [
  { perDay: 10_000, verifiedPerSecond: 10, instances: 2 },
  { perDay: 100_000, verifiedPerSecond: 100, instances: 2 },
  { perDay: 1_000_000, verifiedPerSecond: 1_000, instances: 3 },
];
const BUSIEST = 10; // times the average
const POOL = 10; // DATABASE_POOL_MAX
const BESIDE_POOL = 4; // connections that count calls and record exports
const SECONDS_OF_DAY = 86_400;

/**
 * The table of three installations, computed from the measured figures.
 *
 * @param results the text of `scripts/bench/RESULTS.md`
 * @throws Error when a figure is not there
 */
export function sizesTable(results: string): string {
  const cost = (flow: string) => costsOf(results, flow);
  const [ofPair, ofVerification] = [cost('authorize → token'), cost('verify')];
  const [gigabytes] = figures(results, /^\| Disk, rows and indexes \| ([\d.]+) GB/m);
  const [resident] = figures(results, /^\| Highest resident memory \| .*?([\d]+) MB besieged/m);
  const cores = (at: number) =>
    SIZES.map(({ perDay, verifiedPerSecond }) => {
      const pairs = (BUSIEST * perDay) / SECONDS_OF_DAY;
      const milliseconds = pairs * (ofPair[at] ?? 0) + verifiedPerSecond * (ofVerification[at] ?? 0);
      return (Math.ceil(milliseconds / 10) / 100).toFixed(2);
    });
  const each = (cell: (size: Size) => string | number) => SIZES.map(cell);
  const rows = [
    ['Authorizations with their tokens, a day', ...each(({ perDay }) => perDay.toLocaleString('en'))],
    [
      'Online verifications in the busiest second',
      ...each((size) => size.verifiedPerSecond.toLocaleString('en')),
    ],
    ['Cores of all instances, in the busiest minute', ...cores(0)],
    ['Cores of PostgreSQL', ...cores(1)],
    ['Cores of Redis', ...cores(2)],
    [
      'Disk of PostgreSQL, a year',
      ...each(({ perDay }) => `${Math.round((perDay * 365 * (gigabytes ?? 0)) / 1e6)} GB`),
    ],
    ['Instances', ...each(({ instances }) => instances)],
    ['Memory of an instance, when it was highest', ...each(() => `${resident} MB`)],
    ['`DATABASE_POOL_MAX`', ...each(() => POOL)],
    ['Connections of PostgreSQL', ...each(({ instances }) => (instances + 1) * (POOL + BESIDE_POOL) + 1)],
  ];
  return [
    '| | Small | Middle | Large |',
    '|---|---:|---:|---:|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');
}

/** Milliseconds of processor time that one takes: of the server, PostgreSQL and Redis. The first table has them. */
function costsOf(results: string, flow: string): number[] {
  const row = results.split('\n').find((line) => line.startsWith(`| ${flow} |`));
  const cells = row?.split('|').map((cell) => cell.trim()) ?? [];
  return figures(cells.slice(8, 11).join(' '), /^([\d.]+) ([\d.]+) ([\d.]+)$/);
}

/** The groups of a pattern in the results, as numbers. @throws Error when it is not there */
function figures(text: string, pattern: RegExp): number[] {
  const found = pattern.exec(text);
  if (!found) throw new Error(`scripts/bench/RESULTS.md has no figure like ${pattern}.`);
  return found.slice(1).map(Number);
}
