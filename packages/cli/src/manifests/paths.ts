import { isRecord } from '../config/user-file.ts';

type Key = string | number;

/**
 * Finds the keys of a path such as `tools.pay.caps.per_hour` in a value. Names may have dots themselves, so the longest
 * key that fits is taken.
 *
 * @returns as many keys as the value has; the last may be a name that is not there
 */
export function keysOf(value: unknown, path: string): Key[] {
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
export function without(value: unknown, [key, ...rest]: readonly Key[]): unknown {
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
