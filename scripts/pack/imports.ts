import { type Plugin, rolldown } from 'rolldown';

/** The names by which the sources import packages. */
export interface Imports {
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
