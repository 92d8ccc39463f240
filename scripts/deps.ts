import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { lockProblems } from './lock-check.ts';

/**
 * `npm run deps -- install --save-exact …`: npm under the pinned Node. npm picks versions by the `engines` that
 * match its own Node, and does not say when it picks an older version for that reason.
 */
const npm = process.env.npm_execpath;
const [program, ...first] = npm ? [process.execPath, npm] : ['npm'];
const { status } = spawnSync(program, [...first, ...process.argv.slice(2)], { stdio: 'inherit' });
const problems = lockProblems(join(import.meta.dirname, '../package-lock.json'));
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : (status ?? 1);
