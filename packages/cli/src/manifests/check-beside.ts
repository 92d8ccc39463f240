import type { Manifest } from '@behest/protocol/manifest/manifest';
import type { Context } from '../context.ts';
import { keptDefinitions } from './definitions.ts';
import { readManifest } from './files.ts';

/** A fault of a manifest, before its place in the text is looked for. */
export interface Found {
  /** The stable name of the fault. */
  readonly rule: string;
  readonly path: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** Faults that a loader does not see: names that look alike, and rules that do not fit the tools they are for. */
export async function faultsBeside(context: Context, file: string, { tools }: Manifest): Promise<Found[]> {
  const similar = (await similarNames([...tools.keys()])).map(([name, earlier]) =>
    similarTo(`tools.${name}`, `the name looks like ${earlier}`),
  );
  const kept = file === '-' ? {} : keptDefinitions(context, file);
  const { ruleFaults } = await import('./check-definitions.ts');
  const faults = [...tools].flatMap(([name, { arguments: rules }]) => {
    const definition = Object.hasOwn(kept, name) ? kept[name] : undefined;
    if (!rules || !definition) return [];
    return ruleFaults(rules, definition).map(({ rule, pointer, message }): Found => {
      const path = `tools.${name}.arguments${pointer && `.${pointer}`}`;
      return { rule, path, severity: 'error', message };
    });
  });
  return [...similar, ...faults];
}

/** The warnings of manifests whose connector looks like that of an earlier file, by file. */
export async function similarConnectors(
  context: Context,
  files: readonly string[],
): Promise<ReadonlyMap<string, Found>> {
  const named = new Map<string, string>();
  for (const file of files.filter((each) => each !== '-')) {
    const manifest = await readManifest(context, file).catch(() => undefined); // its faults are told of already
    if (manifest && !named.has(manifest.connector)) named.set(manifest.connector, file);
  }
  return new Map(
    (await similarNames([...named.keys()])).map(([name, earlier]) => [
      named.get(name) ?? '',
      similarTo('connector', `${name} looks like ${earlier} in ${named.get(earlier)}`),
    ]),
  );
}

const similarTo = (path: string, message: string): Found => ({
  ...{ rule: 'similar_names', path, message },
  severity: 'warning',
});

/** Each name that looks like an earlier one of the list, with that one. */
async function similarNames(names: readonly string[]): Promise<(readonly [name: string, earlier: string])[]> {
  const { looksOf } = await import('@behest/protocol/tools-entry');
  const first = new Map<string, string>();
  return names.flatMap((name) => {
    const looks = looksOf(name);
    const earlier = first.get(looks);
    if (earlier === undefined) first.set(looks, name);
    return earlier === undefined || earlier === name ? [] : [[name, earlier] as const];
  });
}
