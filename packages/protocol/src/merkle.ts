import type { Digest } from './audit-parts.ts';

/** The bytes of each hash in a tree: SHA-256. */
export const HASH_BYTES = 32;
/** What a node's hash is taken of. It is filled anew for each: a proof of many leaves takes millions of them. */
const node = Uint8Array.of(1, ...new Uint8Array(2 * HASH_BYTES));

/** Leaves `[start, end)` of a tree. Each hash of a proof is the root over such a range. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/** What an inclusion proof is to show. */
export interface Inclusion {
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** What a consistency proof is to show: the tree of `size` begins with the leaves of the tree of `oldSize`. */
export interface Consistency {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** The hash of two neighbours. */
export function nodeHash(left: Uint8Array, right: Uint8Array, sha256: Digest): Uint8Array {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return sha256(node);
}

/** The hash of two neighbours that stand one after the other. */
export function hashAbove(hashes: Uint8Array, at: number, sha256: Digest): Uint8Array {
  for (let each = 0; each < 2 * HASH_BYTES; each += 1) node[each + 1] = hashes[at + each] ?? 0;
  return sha256(node);
}

/** The root of the tree without a leaf. */
export const emptyRoot = (sha256: Digest): Uint8Array => sha256(new Uint8Array());

/**
 * The ranges whose roots are the inclusion proof of one leaf, from the leaf's neighbour up.
 *
 * @throws RangeError when the tree has no such leaf
 * @see RFC 9162, section 2.1.3.1
 */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  checkSize(index);
  checkSize(size);
  if (index >= size) throw new RangeError(`A tree of ${size} leaves has no leaf ${index}.`);
  const ranges: LeafRange[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + largestPowerBelow(end - start);
    if (index < middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
    }
  }
  return ranges;
}

/**
 * The ranges whose roots are the proof that the tree of `size` begins with the tree of `oldSize`.
 *
 * @throws RangeError when the older tree is larger
 * @see RFC 9162, section 2.1.4.1
 */
export function consistencyRanges(oldSize: number, size: number): LeafRange[] {
  checkSize(oldSize);
  checkSize(size);
  if (oldSize > size) throw new RangeError(`A tree of ${size} leaves does not begin with ${oldSize} leaves.`);
  if (oldSize === 0) return []; // each tree begins with the empty one
  const ranges: LeafRange[] = [];
  let [start, end] = [0, size];
  while (end !== oldSize) {
    const middle = start + largestPowerBelow(end - start);
    if (oldSize <= middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
    }
  }
  // Whoever checks has the root of the older tree, but not of a part at its right edge.
  if (start > 0) ranges.unshift({ start, end });
  return ranges;
}

/**
 * Whether a leaf stands at an index of the tree with this root.
 *
 * @see RFC 9162, section 2.1.3.2
 */
export function verifyInclusion({ leaf, index, size, root, proof }: Inclusion, sha256: Digest): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || ![leaf, root, ...proof].every(isHash)) return false;
  let [node, last, hash] = [index, size - 1, leaf];
  for (const next of proof) {
    if (last === 0) return false; // the proof goes on above the root
    if (isRight(node) || node === last) {
      hash = nodeHash(next, hash, sha256);
      while (!isRight(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = nodeHash(hash, next, sha256);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && areEqual(hash, root);
}

/**
 * Whether a tree begins with all leaves of an older one.
 *
 * @see RFC 9162, section 2.1.4.2
 */
export function verifyConsistency(
  { oldSize, oldRoot, size, root, proof }: Consistency,
  sha256: Digest,
): boolean {
  if (!isSize(oldSize) || !isSize(size) || oldSize > size || ![oldRoot, root, ...proof].every(isHash)) {
    return false;
  }
  if (size === 0 && !areEqual(root, emptyRoot(sha256))) return false;
  if (oldSize === size) return proof.length === 0 && areEqual(oldRoot, root);
  if (oldSize === 0) return proof.length === 0 && areEqual(oldRoot, emptyRoot(sha256));
  let [node, last] = [oldSize - 1, size - 1];
  while (isRight(node)) [node, last] = [half(node), half(last)];
  // node is 0 where the older tree is complete: then its root is the first hash, and the proof leaves it out.
  const [first, ...rest] = node === 0 ? [oldRoot, ...proof] : proof;
  if (first === undefined) return false;
  let [oldHash, hash] = [first, first];
  for (const next of rest) {
    if (last === 0) return false;
    if (isRight(node) || node === last) {
      oldHash = nodeHash(next, oldHash, sha256);
      hash = nodeHash(next, hash, sha256);
      while (!isRight(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = nodeHash(hash, next, sha256);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && areEqual(oldHash, oldRoot) && areEqual(hash, root);
}

/** The largest power of two below a number of at least 2. Shifts would end at 32 bits. */
export function largestPowerBelow(number: number): number {
  let power = 1;
  while (power * 2 < number) power *= 2;
  return power;
}

/** Whether two hashes are the same. None is a secret, so it may take longer the later they differ. */
export const areEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);

function checkSize(value: number): void {
  if (!isSize(value)) throw new RangeError(`${value} is not the size of a tree.`);
}

const isSize = (value: number) => Number.isSafeInteger(value) && value >= 0;
const isHash = (bytes: Uint8Array) => bytes.length === HASH_BYTES;
const isRight = (node: number) => node % 2 === 1;
const half = (node: number) => Math.floor(node / 2);
