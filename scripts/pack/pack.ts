import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type Plugin, rolldown } from 'rolldown';
import { importsOf, type PackedSources, packSources, WRITING } from './sources.ts';

const ENTRY = 'apps/server/src/main.ts';

/** These read files that lie beside their own, so they stay where they are. */
const UNPACKED = ['swagger-ui-dist/absolute-path.js'];

/** `index.json`, which `apps/server/packed.mjs` reads. */
interface Index {
  /** The SHA-256 digest of the lock file. */
  readonly lock: string;
  readonly folder: string;
  /** The packed file of each name that the sources import. */
  readonly files: Readonly<Record<string, string>>;
  readonly sources: PackedSources;
}

/**
 * Writes the packages that the server imports, and its sources, as a few files, which `apps/server/packed.mjs` uses in
 * place of three thousand. It keeps the files that it wrote for this lock file, these imports and these sources.
 */
export async function packPackages(root: string): Promise<void> {
  const { atStart, later } = await importsOf(root, ENTRY);
  const specifiers = [...atStart, ...later].filter((specifier) => !UNPACKED.includes(specifier));
  const lock = hashOf(readFileSync(join(root, 'package-lock.json')));
  const folder = hashOf(`${lock} ${specifiers.join(' ')} ${JSON.stringify(WRITING)}`).slice(0, 16);
  const home = join(root, 'node_modules/.cache/behest-packages');
  const index = join(home, 'index.json');
  const known: Partial<Index> = existsSync(index) ? JSON.parse(readFileSync(index, 'utf8')) : {};

  mkdirSync(home, { recursive: true });
  const files = known.folder === folder ? known.files : undefined;
  const packed = files ?? (await write(root, join(home, folder), specifiers));
  const sources = await packSources(root, home, { packages: { folder, files: packed } });
  const text = JSON.stringify({ lock, folder, files: packed, sources } satisfies Index);
  writeFileSync(`${join(home, folder)}.json`, text);
  renameSync(`${join(home, folder)}.json`, index); // a server that starts meanwhile reads the old index or the new one
}

const hashOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

/** Writes a file for each name, and files for what several of them need. */
async function write(root: string, folder: string, specifiers: readonly string[]) {
  const server = join(root, 'apps/server');
  const nameOf = (specifier: string) => specifier.replace(/[^a-z0-9]+/g, '-').replace(/^-/, '');
  // Rolldown treats CommonJS as Node does when the importing file has this ending.
  const sources = new Map(
    Object.entries(await exportsOf(server, specifiers)).map(([specifier, names]) => [
      join(server, `${nameOf(specifier)}.packed.mjs`),
      `export { ${names.join(', ')} } from ${JSON.stringify(specifier)};`,
    ]),
  );
  const reexports: Plugin = {
    name: 'reexports',
    resolveId: (id) => (sources.has(id) ? id : null),
    load: (id) => sources.get(id) ?? null,
  };
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries([...sources.keys()].map((id) => [basename(id, '.packed.mjs'), id])),
    platform: 'node',
    plugins: [reexports],
    logLevel: 'silent',
  });
  await build.write({
    ...WRITING,
    dir: folder,
    entryFileNames: '[name].mjs',
  });
  await build.close();
  return Object.fromEntries(specifiers.map((specifier) => [specifier, `${nameOf(specifier)}.mjs`]));
}

/** Asks a Node process which names each package exports, because in CommonJS a bundler finds others. */
async function exportsOf(
  server: string,
  specifiers: readonly string[],
): Promise<Record<string, readonly string[]>> {
  const script = `
    const names = async (specifier) => Object.keys(await import(specifier)).filter((name) => name !== 'module.exports');
    const found = ${JSON.stringify(specifiers)}.map(async (specifier) => [specifier, await names(specifier)]);
    process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(found))));`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: server });
  return JSON.parse(stdout);
}

if (import.meta.main) await packPackages(join(import.meta.dirname, '../..'));
