import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Counts } from '../test/harness/counts-reporter.ts';
import { lockProblems } from './lock-check.ts';
import { packPackages } from './pack/pack.ts';

/**
 * `npm test` runs what answers an edit in minutes, `npm test -- agents` every file whose path holds that word,
 * `npm test -- example` follows the worked example, and `npm run test:all` runs everything else.
 */
const root = join(import.meta.dirname, '..');
const words = process.argv.slice(2).filter((word) => word !== '--all');
const isAll = process.argv.includes('--all');
const isQuick = !isAll && words.length === 0;

const lock = lockProblems(join(root, 'package-lock.json'));
for (const problem of lock) process.stderr.write(`${problem}\n`);
if (isAll) await packPackages(root); // many tests start a process, which takes a fifth of the time then

if (words[0] === 'example') {
  const { followExample } = await import('../test/docs/worked-example.ts');
  process.exit((await followExample()) ? 0 : 1);
}

let counts: Counts = { passed: 0, failed: 0, skipped: 0 };
const reporters = ['default', join(import.meta.dirname, '../test/harness/counts-reporter.ts')];
const vitest = spawn('vitest', ['run', ...reporters.map((each) => `--reporter=${each}`), ...words], {
  cwd: root,
  env: { ...process.env, ...(isQuick && { TEST_QUICK: '1' }), ...(isAll && { TEST_ALL: '1' }) },
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
vitest.on('message', (message: Counts) => {
  counts = message;
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => vitest.kill(name));
process.once('disconnect', () => vitest.kill('SIGTERM'));
const status = await new Promise<number | null>((ended) => vitest.once('close', ended));

const { passed, failed, skipped } = counts;
// A run that broke off, or a file that does not load, has failed without a failed test.
const broken = lock.length + (status !== 0 && failed === 0 ? 1 : 0);
const left = skipped > 0 ? `, ${skipped} skipped` : '';
process.stdout.write(`${passed} passed, ${failed + broken} failed${left}\n`);
process.exit(failed + broken > 0 ? 1 : 0);
