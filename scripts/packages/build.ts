import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';
import ts from 'typescript';
import { sbomText } from './sbom.ts';
import { buildServer } from './server.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: unknown;
  readonly bin?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly engines?: { readonly node: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The oldest that every dependency of a package asks for (commander 22.12, canonicalize 22), and the server's. */
const [OLDEST_NODE, SERVER_NODE] = ['>=22.12', '>=24.9'];
const SBOM = 'sbom.cdx.json';

/**
 * Writes the packages that are published, as JavaScript with types. The repository itself runs from the sources.
 *
 * @returns the folders of the packages, those first that others need
 */
async function buildPackages(root: string, out: string): Promise<string[]> {
  for (const name of ['protocol', 'sdk', 'cli', 'server'])
    rmSync(join(out, name), { recursive: true, force: true });
  const protocol = buildProtocol(root, join(out, 'protocol'));
  const sdk = await buildSdk(root, join(out, 'sdk'));
  const cli = await buildCli(root, join(out, 'cli'));
  return [protocol, sdk, cli, await buildServerPackage(root, join(out, 'server'))];
}

/** File by file, because each is an entry. */
function buildProtocol(root: string, out: string): string {
  const source = 'packages/protocol/src';
  for (const { path, text } of compile(root, sourcesOf(root, source), 'all')) {
    write(join(out, path.replace(source, 'dist')), text);
  }
  const manifest = manifestOf(root, 'protocol');
  writeManifest(root, out, {
    ...manifest,
    exports: { './*': { types: './dist/*.d.ts', default: './dist/*.js' } },
  });
  return out;
}

/** Each entry with what only it needs, and shared parts. The meter is a part of the SDK; the protocol is not. */
async function buildSdk(root: string, out: string): Promise<string> {
  const manifest = manifestOf(root, 'sdk');
  const entries = Object.fromEntries(
    Object.values(manifest.exports).map((file) => [basename(file, '.ts'), join('packages/sdk', file)]),
  );
  const chunks = await bundle(root, entries);
  for (const { fileName, code } of chunks) write(join(out, 'dist', fileName), code);

  // The meter's files are named, because the compiler writes nothing for what it finds in `node_modules`.
  const typed = [...Object.values(entries), ...sourcesOf(root, 'packages/meter/src')];
  const types = compile(root, typed, 'declarations').filter(isOfSdk);
  for (const emitted of types) {
    const { path, text } = withPlaces(emitted, '@behest/meter', 'packages/meter/src');
    write(join(out, 'dist/types', path.replace('packages/', '')), text);
  }
  const exports = Object.entries(manifest.exports).map(([name, file]) => {
    const entry = basename(file, '.ts');
    return [name, { types: `./dist/types/sdk/src/${entry}.d.ts`, default: `./dist/${entry}.js` }];
  });
  const dependencies = { ...manifest.dependencies };
  delete dependencies['@behest/meter'];
  dependencies['@behest/protocol'] = manifestOf(root, 'protocol').version;
  writeManifest(
    root,
    out,
    { ...manifest, dependencies, exports: Object.fromEntries(exports) },
    installedIn(chunks),
  );
  return out;
}

/** The program, with a file for each group of commands, which is loaded when that group is used. It has no types. */
async function buildCli(root: string, out: string): Promise<string> {
  const manifest = manifestOf(root, 'cli');
  const chunks = await bundle(root, { bin: 'packages/cli/src/bin.ts' });
  for (const { fileName, code } of chunks) write(join(out, 'dist', fileName), code);
  chmodSync(join(out, 'dist/bin.js'), 0o755);
  cpSync(join(root, 'packages/cli/templates'), join(out, 'templates'), { recursive: true });
  const { version } = manifestOf(root, 'sdk');
  const dependencies = { ...manifest.dependencies, '@behest/protocol': version, '@behest/sdk': version };
  const own = { bin: { behest: './dist/bin.js' }, files: ['dist', 'templates'] };
  const exports = { './package.json': './package.json' };
  writeManifest(root, out, { ...manifest, ...own, dependencies, exports }, installedIn(chunks));
  return out;
}

async function buildServerPackage(root: string, out: string): Promise<string> {
  const { version, license } = manifestOf(root, 'sdk');
  const { held, ...needs } = await buildServer(root, out);
  cpSync(join(root, 'apps/server/README.md'), join(out, 'README.md'));
  const manifest = {
    ...{ name: '@behest/server', version, license, ...needs, engines: { node: SERVER_NODE } },
    exports: { './package.json': './package.json' },
    files: ['console', 'dist', 'doctor.mjs', 'migrations', 'src', 'packed.mjs', 'start.mjs'],
  };
  writeManifest(root, out, manifest, held);
  return out;
}

const sourcesOf = (root: string, folder: string) =>
  globSync(`${folder}/**/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));

const isOfSdk = ({ path }: Emitted) => /^packages[/](sdk|meter)[/]/.test(path);

/** Bundles entries, and leaves out what is installed beside the package. */
async function bundle(root: string, input: Readonly<Record<string, string>>): Promise<OutputChunk[]> {
  const build = await rolldown({
    cwd: root,
    input: { ...input },
    platform: 'neutral',
    external: [
      ...[/^@behest\/(protocol|sdk)(\/|$)/, /^node:/],
      ...['@langchain/langgraph', 'commander', 'fastify', 'jose', 'yaml'],
    ],
    resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
    logLevel: 'silent',
  });
  try {
    const { output } = await build.generate({ format: 'es', chunkFileNames: 'shared/[name]-[hash].js' });
    return output.filter((file) => file.type === 'chunk');
  } finally {
    await build.close();
  }
}

/** The names of the installed packages whose code a bundle holds. */
function installedIn(chunks: readonly OutputChunk[]): string[] {
  const files = chunks.flatMap(({ moduleIds }) => moduleIds);
  const names = files.map(
    (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

function manifestOf(root: string, name: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
}

function writeManifest(
  root: string,
  out: string,
  manifest: Omit<Manifest, 'exports'> & { exports: unknown },
  held: readonly string[] = [],
): void {
  const { name, version, license, exports, dependencies, peerDependencies, peerDependenciesMeta } = manifest;
  const { bin, files = ['dist'], engines = { node: OLDEST_NODE }, optionalDependencies } = manifest;
  const published = {
    ...{ name, version, license, type: 'module', sideEffects: false, engines },
    ...{ ...(bin && { bin }), exports, files: [...files, SBOM], dependencies },
    ...(optionalDependencies && { optionalDependencies }),
    ...(peerDependencies && { peerDependencies, peerDependenciesMeta }),
  };
  write(join(out, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  const parts = { name, version, license, dependencies };
  write(join(out, SBOM), sbomText(root, parts, held));
  cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  const readme = join(root, 'packages', basename(out), 'README.md');
  if (existsSync(readme)) cpSync(readme, join(out, 'README.md'));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/**
 * Makes the tarballs that are published.
 * @param folder where the packages are built, below `out`
 * @returns the file of each package, by its name
 */
export async function packTarballs(
  root: string,
  out: string,
  folder = 'dist',
): Promise<ReadonlyMap<string, string>> {
  const tarballs = new Map<string, string>();
  for (const built of await buildPackages(root, join(out, folder))) {
    const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
      cwd: built,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ name, filename }] = JSON.parse(packed);
    tarballs.set(name, join(out, filename));
  }
  return tarballs;
}

/**
 * Unpacks tarballs as npm installs them, without a registry: the packages that they name, and no others, are links to
 * those of the checkout.
 */
export function installTarballs(root: string, tarballs: ReadonlyMap<string, string>, folder: string): void {
  const modules = join(folder, 'node_modules');
  for (const [name, file] of tarballs) {
    const installed = join(modules, name);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', file, '-C', installed, '--strip-components=1']);
    const { dependencies, optionalDependencies, bin } = manifestIn(installed);
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const shipped = join(root, 'node_modules', other);
      if (!other.startsWith('@behest/') && existsSync(shipped)) link(shipped, join(modules, other));
    }
    for (const [program, path] of Object.entries(bin ?? {}))
      link(join(installed, path), join(modules, '.bin', program));
  }
}

interface Installed {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string): Installed =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) symlinkSync(target, path);
}

interface Emitted {
  /** From the root of the repository, with the ending of the output. */
  readonly path: string;
  readonly text: string;
}

/**
 * Compiles sources for publication.
 *
 * @param files from the root, with everything that they import
 * @param what both kinds of output, or declarations alone
 * @throws Error with the faults that the compiler found
 */
function compile(root: string, files: readonly string[], what: 'all' | 'declarations'): Emitted[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(config.config.compilerOptions, root);
  const program = ts.createProgram(
    files.map((file) => join(root, file)),
    {
      ...options,
      ...{ noEmit: false, declaration: true, rewriteRelativeImportExtensions: true },
      ...{ outDir: root, rootDir: root, emitDeclarationOnly: what === 'declarations' },
    },
  );
  const faults = ts.getPreEmitDiagnostics(program);
  if (faults.length > 0) {
    const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => '\n' };
    throw new Error(ts.formatDiagnostics(faults, host));
  }
  const emitted: Emitted[] = [];
  program.emit(undefined, (path, text) =>
    emitted.push({ path: relative(root, path), text: withEndings(text) }),
  );
  return emitted;
}

/** The compiler leaves the endings of sources in declarations. */
function withEndings(text: string): string {
  return text.replaceAll(/((?:from|import)\s*\(?\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2');
}

/** Lets the text of a file name another package's file by its place instead of by the package. */
function withPlaces({ path, text }: Emitted, packageName: string, folder: string): Emitted {
  const specifier = new RegExp(`(['"])${packageName}/([^'"]+)\\1`, 'g');
  return {
    path,
    text: text.replaceAll(specifier, (_, quote: string, name: string) => {
      const place = relative(dirname(path), join(folder, `${name}.js`));
      return `${quote}${place.startsWith('.') ? place : `./${place}`}${quote}`;
    }),
  };
}
