import { looksOf } from '@behest/protocol/manifest/looks';

/** Each name that looks like an earlier one of the list, with that one. */
export function similarNames(names: readonly string[]): (readonly [name: string, earlier: string])[] {
  const first = new Map<string, string>();
  return names.flatMap((name) => {
    const looks = looksOf(name);
    const earlier = first.get(looks);
    if (earlier === undefined) first.set(looks, name);
    return earlier === undefined || earlier === name ? [] : [[name, earlier] as const];
  });
}
