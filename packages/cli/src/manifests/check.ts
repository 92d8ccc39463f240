import type { Manifest } from '@behest/protocol/manifest/manifest';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { keptDefinitions } from './definitions.ts';
import { loadText, readManifest, textIn } from './files.ts';

/** A fault at its place in a file. */
export interface Problem extends Found {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const MOST = 100; // faults of one file

/**
 * Finds every fault of a manifest. The first is that with which a loader would refuse it. A manifest that loads is
 * compared with the definitions of tools that are kept beside it.
 *
 * @param others faults that are found by comparing files
 */
export async function problemsOf(
  context: Context,
  file: string,
  others: readonly Found[] = [],
): Promise<Problem[]> {
  const text = await textIn(context, file);
  const found = await faultsIn(text, file);
  const isLoaded = !found.some(({ severity }) => severity === 'error');
  const further = isLoaded ? faultsBeside(context, file, await loadText(text, file)) : [];
  const placeOf = await placesIn(text);
  return [...found, ...others, ...(await further)].map((fault) => ({
    file,
    ...placeOf(fault.path),
    ...fault,
  }));
}

async function faultsIn(text: string, file: string): Promise<Found[]> {
  const { manifestFromObject } = await import('@behest/protocol/manifest/load');
  const found: Found[] = [];
  const first = await firstFault(() => loadText(text, file));
  if (Array.isArray(first)) return first;
  found.push(first);
  if (first.rule === 'unparseable') return found;
  // The rest is read without the members that have a fault.
  const { parse } = await import('yaml');
  let value: unknown = parse(text, { uniqueKeys: false });
  let last = first.rule === 'duplicate_key' ? undefined : first;
  while (found.length < MOST) {
    if (last) value = mended(value, last);
    if (value === undefined) return found;
    const next = await firstFault(() => manifestFromObject(value));
    if (Array.isArray(next)) return [...found, ...next];
    if (isOurs(next, found)) return found;
    found.push(next);
    last = next;
  }
  return found;
}

/** True for a fault that is there because members with faults were taken away. */
const isOurs = ({ rule, path }: Found, found: readonly Found[]) =>
  found.some((each) => each.path === path && each.rule === rule) ||
  ((rule === 'empty' || rule === 'missing_key') && found.some((each) => each.path.startsWith(path)));

/** @returns the first fault, or the warnings of a manifest that loads */
async function firstFault(load: () => unknown): Promise<Found | Found[]> {
  try {
    const { warnings = [] } = Object(await load());
    return warnings.map(({ code, path }: { code: string; path: string }) => ({
      ...{ rule: code, path, severity: 'warning' as const },
      message: `the key is not known; later versions refuse it`,
    }));
  } catch (error) {
    const { name, code, path, message } = Object(error);
    if (name !== 'ManifestValidationError') throw error;
    const words = String(message)
      .replace(/^Manifest error at .*?: /, '')
      .replace(/ \(\w+\)$/, '');
    return { rule: code, path, message: words, severity: 'error' };
  }
}

/** The value without the fault, as far as one can go on without its member. */
function mended(value: unknown, { rule, path }: Found): unknown {
  if (path === 'connector' && isRecord(value)) return { ...value, connector: 'unknown' };
  const keys = keysOf(value, path);
  return without(value, rule === 'missing_key' ? keys.slice(0, -1) : keys);
}

/** Finds lines and columns. @returns the first place for a path that is not in the text */
async function placesIn(text: string): Promise<(path: string) => { line: number; column: number }> {
  const { isMap, isPair, isSeq, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const value: unknown = document.errors.length > 0 ? undefined : document.toJS();
  const [fault] = document.errors;
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  return (path) => {
    if (fault) return at(fault.pos[0]);
    let node: unknown = document.contents;
    let offset = 0;
    for (const key of keysOf(value, path)) {
      if (isMap(node)) {
        // The last place of a repeated key is the repetition.
        const pair = node.items
          .filter((item) => isPair(item) && String(Object(item.key).value) === String(key))
          .at(-1);
        if (!pair) break;
        offset = Object(pair.key).range?.[0] ?? offset;
        node = pair.value;
      } else if (isSeq(node) && typeof key === 'number') {
        node = node.items[key];
        offset = Object(node).range?.[0] ?? offset;
      } else break;
    }
    return at(offset);
  };
}

type Key = string | number;

/**
 * Finds the keys of a path such as `tools.pay.caps.per_hour` in a value. Names may have dots themselves, so the longest
 * key that fits is taken.
 *
 * @returns as many keys as the value has; the last may be a name that is not there
 */
function keysOf(value: unknown, path: string): Key[] {
  if (path === '') return [];
  if (Array.isArray(value)) {
    const [whole = '', index = ''] = /^\[?(\d+)\]?\.?/.exec(path) ?? [];
    return index === '' ? [] : [Number(index), ...keysOf(value[Number(index)], path.slice(whole.length))];
  }
  if (!isRecord(value)) return [path];
  const fits = Object.keys(value).filter(
    (key) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`),
  );
  const [key] = fits.toSorted((one, other) => other.length - one.length);
  if (key === undefined) return [path];
  return [key, ...keysOf(value[key], path.slice(key.length).replace(/^\./, ''))];
}

/** Takes the member at some keys away. @returns undefined when it is not there */
function without(value: unknown, [key, ...rest]: readonly Key[]): unknown {
  if (key === undefined) return undefined;
  if (Array.isArray(value) && typeof key === 'number') {
    if (rest.length > 0) return value.with(key, without(value[key], rest));
    return key < value.length ? value.toSpliced(key, 1) : undefined;
  }
  if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
  const { [key]: old, ...others } = value;
  if (rest.length === 0) return others;
  const changed = without(old, rest);
  return changed === undefined ? undefined : { ...value, [key]: changed };
}

/** A fault of a manifest, before its place in the text is looked for. */
interface Found {
  /** The stable name of the fault. */
  readonly rule: string;
  readonly path: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** Faults that a loader does not see: names that look alike, and rules that do not fit the tools they are for. */
async function faultsBeside(context: Context, file: string, { tools }: Manifest): Promise<Found[]> {
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
