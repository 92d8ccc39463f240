import { figures } from './sizes.ts';

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
