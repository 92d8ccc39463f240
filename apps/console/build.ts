import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where the server reads the files. The packages and the image hold the same folder. */
const OUT = 'apps/server/console';
/** The files that decide what is built. */
const INPUTS = [
  'apps/console/{index.html,package.json,*.ts}',
  'apps/console/src/**/*.{ts,tsx,css,json}',
  'apps/server/src/platform/page/{dom.js,page.css,messages/*}',
  'apps/server/src/features/record/receipts/{page-texts.ts,page/*}',
  'packages/protocol/src/**/*.ts',
  'apps/server/src/features/people/setup/page/setup-walkthroughs.js',
  'package-lock.json',
];
const DIGEST = 'digest.txt';

/** Builds the console and the page at /verify, unless the files there were built from these sources. A process of its own has Vite's settings. */
export async function buildConsole(root: string): Promise<void> {
  const held = join(root, OUT, DIGEST);
  if (existsSync(held) && readFileSync(held, 'utf8') === digestOf(root)) return;
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [import.meta.filename], { env });
}

async function build(root: string): Promise<void> {
  const digest = digestOf(root);
  const out = join(root, OUT);
  const staged = `${out}.${randomUUID()}`;
  const vite = await import('vite');
  await vite.build({
    configFile: join(import.meta.dirname, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: staged, emptyOutDir: true },
  });
  const { verifyPage } = await import('./verify-page.ts');
  writeFileSync(join(staged, 'verify.html'), await verifyPage(root));
  writeFileSync(join(staged, DIGEST), digest);
  const earlier = `${out}.${randomUUID()}`;
  if (existsSync(out)) renameSync(out, earlier);
  renameSync(staged, out);
  rmSync(earlier, { recursive: true, force: true });
}

function digestOf(root: string): string {
  const digest = createHash('sha256');
  for (const file of INPUTS.flatMap((pattern) => globSync(pattern, { cwd: root })).sort())
    digest.update(`${file}\n`).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}

if (import.meta.main) {
  process.env.NODE_ENV = 'production';
  await build(join(import.meta.dirname, '../..'));
}
