import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { lockProblems } from './lock-check.ts';
import { packPackages } from './pack/pack.ts';
import type { Costs } from './suite/cost-reporter.ts';
import type { Counts } from './suite/counts-reporter.ts';

/** `npm test` runs the whole suite, and `npm test -- agents` the files whose path holds that word. */
const root = join(import.meta.dirname, '..');
const lock = lockProblems(join(root, 'package-lock.json'));
for (const problem of lock) process.stderr.write(`${problem}\n`);

const suite = join(import.meta.dirname, 'suite');
const reporters = ['default', join(suite, 'counts-reporter.ts'), join(suite, 'cost-reporter.ts')].map(
  (reporter) => `--reporter=${reporter}`,
);

interface Run {
  readonly status: number | null;
  readonly counts: Counts;
  readonly overBudget: readonly string[];
}

function run(filters: readonly string[]): Promise<Run> {
  let counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  let overBudget: readonly string[] = [];
  const vitest = spawn('vitest', ['run', ...reporters, ...filters], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  vitest.on('message', (message: Counts | Costs) => {
    if ('overBudget' in message) overBudget = message.overBudget;
    else counts = message;
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => vitest.kill(name));
  process.once('disconnect', () => vitest.kill('SIGTERM'));
  return new Promise((ended) => vitest.once('close', (status) => ended({ status, counts, overBudget })));
}

await packPackages(root); // the processes of tests start as `npm start` does
const whole = await run(process.argv.slice(2));
const { passed, failed, skipped } = whole.counts;
// Beside other files, and other work of the machine, a file takes more processor time than it does alone.
const over = whole.overBudget.length > 0 ? (await run(whole.overBudget)).overBudget : [];
for (const path of over)
  process.stdout.write(`FAIL  ${path} is over its budget of processor time, alone too\n`);
// A run that broke off, or a file that does not load, has failed without a failed test.
const broken = lock.length + over.length + (whole.status !== 0 && failed === 0 ? 1 : 0);
process.stdout.write(
  `${passed} passed, ${failed + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
);
process.exit(failed + broken > 0 ? 1 : 0);
