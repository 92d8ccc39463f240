import type { Digest } from './audit-parts.ts';
import { HASH_BYTES, type LeafRange, largestPowerBelow, nodeHash } from './merkle.ts';

/** A leaf of a tree and its hash. */
export interface PlacedLeaf {
  readonly index: number;
  readonly hash: Uint8Array;
}

/**
 * The ranges of a tree that hold none of these leaves, from left to right. Their roots prove all of the leaves together.
 * Neighbours share what is beside them, so the proof of many leaves is much smaller than a proof of each.
 *
 * @param indices of leaves of the tree, ascending
 */
export function* rangesBeside(indices: readonly number[], size: number): Generator<LeafRange> {
  const waiting = size > 0 ? [{ start: 0, end: size, from: 0, to: indices.length }] : [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { start, end, from, to } = next;
    if (from === to) yield { start, end };
    else if (end - start > 1) {
      const middle = start + largestPowerBelow(end - start);
      const split = firstFrom(middle, indices, from, to);
      waiting.push({ start: middle, end, from: split, to }, { start, end: middle, from, to: split });
    }
  }
}

/**
 * The root of the tree that has these leaves, by the roots of `rangesBeside`.
 *
 * @returns undefined where the leaves do not ascend below `size`, or the proof is not exactly what they need
 */
export function rootAbove(
  leaves: readonly PlacedLeaf[],
  { size, proof }: { readonly size: number; readonly proof: readonly Uint8Array[] },
  sha256: Digest,
): Uint8Array | undefined {
  const indices = leaves.map(({ index }) => index);
  const isPlaced = (index: number, at: number) =>
    Number.isSafeInteger(index) && index > (indices[at - 1] ?? -1) && index < size;
  if (!Number.isSafeInteger(size) || size < 1 || !indices.every(isPlaced)) return undefined;
  if (![...leaves.map(({ hash }) => hash), ...proof].every(({ length }) => length === HASH_BYTES))
    return undefined;
  let used = 0;
  const rootOf = (start: number, end: number, from: number, to: number): Uint8Array | undefined => {
    if (from === to) {
      used += 1;
      return proof[used - 1];
    }
    if (end - start === 1) return leaves[from]?.hash;
    const middle = start + largestPowerBelow(end - start);
    const split = firstFrom(middle, indices, from, to);
    const left = rootOf(start, middle, from, split);
    const right = left && rootOf(middle, end, split, to);
    return left && right && nodeHash(left, right, sha256);
  };
  const root = rootOf(0, size, 0, leaves.length);
  return used === proof.length ? root : undefined;
}

/** The place of the first of `indices[from…to)` that is at least `least`, or `to`. */
function firstFrom(least: number, indices: readonly number[], from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((indices[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
