import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeThrowAway, sweepThrowAways } from '../../scripts/machine/folders.ts';

const ROOT = join(import.meta.dirname, '../..');
const LEFT_OUT = new Set(['node_modules', '.git', '.behest', 'coverage']);
const NOUN = 'apps/server/src/features/accounts/contacts';
const LIST = 'apps/server/src/features.ts';

const steps: readonly [name: string, command: string, ...flags: string[]][] = [
  ['generate', 'node', 'scripts/generate.ts'],
  ['types', 'node', 'node_modules/typescript-native/bin/tsc', '-p', '.'],
  ['import rules', 'node', 'scripts/imports.ts'],
  ['format and lint', 'biome', 'check', '--vcs-enabled=false', '--error-on-warnings', NOUN, LIST],
  [
    'tests',
    'vitest',
    'run',
    'contacts',
    'http/routes',
    'http/idempotency.routes',
    'http/unknown-members',
    'security/input',
    'src/config',
    'database/functions',
    'sql/owners',
  ],
];

/** Follows docs/worked-example.md in a copy of the checkout, as a newcomer would: `npm test -- example`. */
export async function followExample(): Promise<boolean> {
  await sweepThrowAways('example');
  const folder = makeThrowAway('example');
  try {
    cpSync(ROOT, folder, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    linkPackages(folder);
    const files = exampleIn(readFileSync(join(ROOT, 'docs/worked-example.md'), 'utf8'));
    for (const { path, text } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const list = join(folder, LIST);
    writeFileSync(list, nameFeature(readFileSync(list, 'utf8'), 'accounts', 'contacts'));

    const failed = steps.filter((step) => !succeeds(folder, step)).length;
    process.stdout.write(`${steps.length - failed} passed, ${failed} failed\n`);
    return failed === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The packages are the checkout's; the workspaces among them are the copy's own. */
function linkPackages(folder: string): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '@behest')
      cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
  }
}

function succeeds(folder: string, [name, command, ...flags]: (typeof steps)[number]): boolean {
  const { status, stdout, stderr } = spawnSync(command, flags, { cwd: folder, encoding: 'utf8' });
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}\n`);
  if (status !== 0) process.stdout.write(`${stdout}${stderr}`);
  return status === 0;
}

/** A file that the worked example shows. */
export interface ShownFile {
  /** From the root of the checkout. */
  readonly path: string;
  readonly text: string;
}

const FILE = /^`([\w./-]+)`\n\n```\w+\n(.*?)^```$/gms;

/**
 * The files of docs/worked-example.md: each is a line with its path in backticks, followed by its text in a fence.
 * @throws Error when the page shows no file
 */
export function exampleIn(page: string): ShownFile[] {
  const files = [...page.matchAll(FILE)].map(([, path = '', text = '']) => ({ path, text }));
  if (files.length === 0) throw new Error('The page shows no file.');
  return files;
}

/** Adds a feature to the list in features.ts: its import, and the one line that names it. */
export function nameFeature(list: string, area: string, noun: string): string {
  const path = `./features/${area}/${noun}/${noun}.feature.ts`;
  const imports = list
    .split('\n')
    .filter((line) => line.startsWith(`import`) && line.includes('.feature.ts'));
  const before = imports.find((line) => line.slice(line.indexOf("'")) > `'${path}'`) ?? imports.at(-1) ?? '';
  return list
    .replace(before, `import { ${noun} } from '${path}';\n${before}`)
    .replace(/(features: readonly Feature\[\] = \[\n(?: {2}\w+,\n)*)/, `$1  ${noun},\n`);
}
