import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** The slowest checks come first, because the checks run side by side. */
const checks: readonly [name: string, command: string, ...flags: string[]][] = [
  [
    'types',
    'node',
    'node_modules/typescript-native/bin/tsc',
    '-p',
    '.',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/types.tsbuildinfo',
  ],
  ['generated files', 'node', 'scripts/generate.ts', '--check'],
  ['format and lint', 'biome', 'ci', '--colors=off', '--error-on-warnings', '.'],
  ['dead code', 'knip', '--no-progress'],
  [
    'types of pages',
    'node',
    'node_modules/typescript-native/bin/tsc',
    '--noEmit',
    '-p',
    'apps/server/src/platform/page',
  ],
  [
    'types of the console',
    'node',
    'node_modules/typescript-native/bin/tsc',
    '--noEmit',
    '-p',
    'apps/console',
  ],
  ['import rules', 'node', 'scripts/imports.ts'],
];

const NAME_WIDTH = Math.max(...checks.map(([name]) => name.length));
const waiting = [...checks];
let failed = 0;
const started = performance.now();
await Promise.all(Array.from({ length: availableParallelism() }, work));
process.stdout.write(`Checked in ${seconds(started)}\n${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

async function work(): Promise<void> {
  for (let check = waiting.shift(); check; check = waiting.shift()) {
    const [name, command, ...flags] = check;
    const begun = performance.now();
    const { isGood, output } = await run(command, flags);
    process.stdout.write(`${isGood ? 'ok    ' : 'FAILED'}  ${name.padEnd(NAME_WIDTH)}  ${seconds(begun)}\n`);
    if (isGood) continue;
    failed += 1;
    process.stdout.write(`${output.trimEnd().replaceAll(/^/gm, '    ')}\n`);
  }
}

function run(command: string, flags: string[]): Promise<{ isGood: boolean; output: string }> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, flags, {
      cwd: join(import.meta.dirname, '..'),
      env: { ...process.env, NODE_COMPILE_CACHE: 'node_modules/.cache/checks' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', (error) => resolve({ isGood: false, output: error.message }));
    child.once('close', (status) => resolve({ isGood: status === 0, output }));
  });
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
