import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { lockProblems } from './lock-check.ts';
import type { Costs } from './suite/cost-reporter.ts';
import type { Counts } from './suite/counts-reporter.ts';

/** `npm test` runs the whole suite, and `npm test -- agents` the files whose path holds that word. */
const root = join(import.meta.dirname, '..');
const lock = lockProblems(join(root, 'package-lock.json'));
for (const problem of lock) process.stderr.write(`${problem}\n`);

let counts: Counts | undefined;
let costs: Costs | undefined;
const suite = join(import.meta.dirname, 'suite');
const reporters = ['default', join(suite, 'counts-reporter.ts'), join(suite, 'cost-reporter.ts')].map(
  (reporter) => `--reporter=${reporter}`,
);
const vitest = spawn('vitest', ['run', ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
vitest.on('message', (message: Counts | Costs) => {
  if ('overBudget' in message) costs = message;
  else counts = message;
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => vitest.kill(name));
process.once('disconnect', () => vitest.kill('SIGTERM'));

vitest.once('close', (status) => {
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 };
  // A run that broke off, or a file that does not load, has failed without a failed test.
  const broken = lock.length + (costs?.overBudget.length ?? 0) + (status !== 0 && failed === 0 ? 1 : 0);
  const line = `${passed} passed, ${failed + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  process.stdout.write(`${line}\n`);
  process.exit(failed + broken > 0 ? 1 : 0);
});
