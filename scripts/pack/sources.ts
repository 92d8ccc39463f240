import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';

/** The sources as a few files. */
export interface PackedSources {
  readonly folder: string;
  /** In milliseconds since 1970. */
  readonly packedAt: number;
  /** By its path, the size of each source in bytes and the second in which it was changed. */
  readonly inputs: Readonly<Record<string, readonly [size: number, changed: number]>>;
}

const ENTRIES = {
  doctor: 'apps/server/src/doctor.ts',
  main: 'apps/server/src/main.ts',
  'process-io': 'apps/server/src/process-io.ts',
};

/**
 * How both kinds of files are written. V8 keeps the text of each file as long as the process runs, and one character
 * beyond Latin-1 makes it take two bytes for every character of that file.
 */
export const WRITING = {
  format: 'es',
  chunkFileNames: '[name]-[hash].mjs',
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
} as const;

interface Packing {
  /** The packed packages, which the files import by their paths. Other packages are imported by their names. */
  readonly packages: { readonly folder: string; readonly files: Readonly<Record<string, string>> };
  /** The folder from which the sources find the files beside their own; default: the one that is written to. */
  readonly place?: string;
}

/** Writes the sources of the server into a folder of `home` that is named by their content. */
export async function packSources(
  root: string,
  home: string,
  { packages, place = home }: Packing,
): Promise<PackedSources> {
  const packedAt = Date.now();
  const inputs: Record<string, readonly [number, number]> = {};
  const plugin: Plugin = {
    name: 'sources',
    resolveId(specifier, importer) {
      if (!importer || !isOfPackage(specifier)) return null;
      const file = packages.files[specifier];
      return { id: file ? `../${packages.folder}/${file}` : specifier, external: true };
    },
    transform(code, id) {
      if (!id.startsWith(root)) return null;
      const { size, mtimeMs } = statSync(id);
      inputs[relative(root, id)] = [size, Math.floor(mtimeMs / 1000)];
      return code.includes('import.meta') ? { code: fromFolder(code, relative(place, id)), map: null } : null;
    },
  };
  const build = await rolldown({
    cwd: root,
    input: ENTRIES,
    platform: 'node',
    plugins: [plugin],
    logLevel: 'silent',
  });
  const output = {
    ...WRITING,
    entryFileNames: '[name].mjs',
    sourcemap: true,
    sourcemapExcludeSources: true,
  } as const;
  const chunks = (await build.generate(output)).output.filter((part): part is OutputChunk => 'code' in part);
  const digest = createHash('sha256');
  for (const { fileName, code } of chunks) digest.update(`${fileName}\n${code}\n`);
  const folder = `sources-${digest.digest('hex').slice(0, 16)}`;
  if (!existsSync(join(home, folder, 'main.mjs'))) await build.write({ dir: join(home, folder), ...output });
  await build.close();
  sweep(home, folder);
  return { folder, packedAt, inputs };
}

/** Removes files that were packed more than a day ago. No server loads them. */
function sweep(home: string, current: string): void {
  for (const folder of readdirSync(home).filter((name) => name.startsWith('sources-') && name !== current)) {
    const isOld = statSync(join(home, folder)).mtimeMs < Date.now() - 86_400_000;
    if (isOld) rmSync(join(home, folder), { recursive: true });
  }
}

/** Lets a source find the files that lie beside it from the folder of the packed sources. */
function fromFolder(code: string, path: string): string {
  const placed = code
    .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/../${dirname(path)}`)})`)
    .replaceAll('import.meta.url', `new URL(${JSON.stringify(`../${path}`)}, import.meta.url).href`);
  if (/import[.]meta[.](?!dirname|url)/.test(placed)) throw new Error(`${path} reads import.meta otherwise.`);
  return placed;
}

/** The names by which the sources import packages. */
interface Imports {
  /** Loaded at every start. */
  readonly atStart: readonly string[];
  /** Loaded when a setting or a request needs them. */
  readonly later: readonly string[];
}

/** Whether a name is that of a package from elsewhere. */
export const isOfPackage = (specifier: string) => !/^(\.|\/|#|node:|@behest\/)/.test(specifier);

/** Follows the imports of the sources from their entry. */
export async function importsOf(root: string, entry: string): Promise<Imports> {
  const atStart = new Set<string>();
  const all = new Set<string>();
  const collect: Plugin = {
    name: 'collect',
    resolveId(specifier, importer) {
      if (!importer || !isOfPackage(specifier)) return null;
      all.add(specifier);
      return { id: specifier, external: true };
    },
    buildEnd() {
      const open = [...this.getModuleIds()].filter((id) => this.getModuleInfo(id)?.isEntry);
      const seen = new Set(open);
      for (const id of open) {
        if (all.has(id)) atStart.add(id);
        for (const next of this.getModuleInfo(id)?.importedIds ?? []) {
          if (!seen.has(next)) open.push(next);
          seen.add(next);
        }
      }
    },
  };
  const build = await rolldown({
    cwd: root,
    input: entry,
    platform: 'node',
    plugins: [collect],
    logLevel: 'silent',
  });
  await build.generate();
  await build.close();
  const later = [...all].filter((specifier) => !atStart.has(specifier));
  return { atStart: [...atStart].sort(), later: later.sort() };
}
