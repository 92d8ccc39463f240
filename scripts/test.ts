import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Counts, Outcome } from '../test/harness/counts-reporter.ts';
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

const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const MOST_AGAIN = 12; // files; more of them are no accident

const sum = (one: Counts, other: Counts): Counts => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
});

const lock = lockProblems(join(root, 'package-lock.json'));
for (const problem of lock) process.stderr.write(`${problem}\n`);
if (isAll) await packPackages(root); // many tests start a process, which takes a fifth of the time then

if (words[0] === 'example') {
  const { followExample } = await import('../test/docs/worked-example.ts');
  process.exit((await followExample()) ? 0 : 1);
}

const reporters = ['default', join(import.meta.dirname, '../test/harness/counts-reporter.ts')];

/** @param over settings of the environment beyond those that the words set */
async function run(filters: readonly string[], over: Record<string, string> = {}) {
  let outcome: Outcome = { good: NONE, faulty: NONE, faultyFiles: [] };
  const vitest = spawn('vitest', ['run', ...reporters.map((each) => `--reporter=${each}`), ...filters], {
    cwd: root,
    env: { ...process.env, ...over },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  vitest.on('message', (message: Outcome) => {
    outcome = message;
  });
  const passOn = (name: NodeJS.Signals) => void vitest.kill(name);
  for (const name of SIGNALS) process.on(name, passOn);
  const endWithParent = () => passOn('SIGTERM');
  process.once('disconnect', endWithParent);
  const status = await new Promise<number | null>((ended) => vitest.once('close', ended));
  for (const name of SIGNALS) process.off(name, passOn);
  process.off('disconnect', endWithParent);
  // A run that broke off has failed without a failed test.
  const broken = status !== 0 && outcome.faulty.failed === 0 ? 1 : 0;
  return { ...outcome, faulty: { ...outcome.faulty, failed: outcome.faulty.failed + broken } };
}

const mode = { ...(isQuick && { TEST_QUICK: '1' }), ...(isAll && { TEST_ALL: '1' }) };
const first = await run(words, mode);
let { faulty } = first;
const { faultyFiles } = first;
// Many of these tests watch real time, and a machine that stands still for seconds fails some of them. With
// TEST_AGAIN a few faulty files run once more with nothing beside them, and what they say then counts.
if (process.env.TEST_AGAIN && faultyFiles.length > 0 && faultyFiles.length <= MOST_AGAIN) {
  process.stdout.write(`${faulty.failed} failed beside others, now alone: ${faultyFiles.join(' ')}\n`);
  const again = await run([...faultyFiles, '--maxWorkers=1'], { ...mode, TEST_QUICK: '' });
  faulty = sum(again.good, again.faulty);
}
const { passed, failed, skipped } = sum(first.good, faulty);
const left = skipped > 0 ? `, ${skipped} skipped` : '';
process.stdout.write(`${passed} passed, ${failed + lock.length} failed${left}\n`);
process.exit(failed + lock.length > 0 ? 1 : 0);
