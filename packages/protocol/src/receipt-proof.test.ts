import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { inclusionRanges } from './merkle.ts';
import { rangesBeside, rootAbove } from './receipt-proof.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const leaf = (index: number) => sha256(Buffer.from(`leaf ${index}`));

/** The tree hash as RFC 9162 defines it, section 2.1.1. */
function treeHash(start: number, end: number): Buffer {
  if (end - start === 1) return leaf(start);
  let split = 1;
  while (split * 2 < end - start) split *= 2;
  const [left, right] = [treeHash(start, start + split), treeHash(start + split, end)];
  return sha256(Buffer.concat([Buffer.from([1]), left, right]));
}

const proofOf = (indices: readonly number[], size: number) =>
  [...rangesBeside(indices, size)].map(({ start, end }) => treeHash(start, end));
const placed = (indices: readonly number[]) => indices.map((index) => ({ index, hash: leaf(index) }));

test('the roots beside any leaves prove them in trees of every size up to 33', () => {
  for (let size = 1; size <= 33; size += 1) {
    const root = treeHash(0, size);
    for (let picked = 1; picked < 40; picked += 1) {
      const indices = Array.from({ length: size }, (_, index) => index).filter(
        (index) => (index * 7919 + picked * 104_729 + size) % 5 < picked % 6,
      );
      const proof = proofOf(indices, size);
      expect(rootAbove(placed(indices), { size, proof }, sha256)).toEqual(root);
    }
  }
});

test('of one leaf they are the hashes of its inclusion proof, from left to right', () => {
  const ranges = [...rangesBeside([9], 21)];
  expect(ranges).toEqual(inclusionRanges(9, 21).toSorted((one, other) => one.start - other.start));
});

test('a proof that is too long, too short or of other leaves gives no root or another one', () => {
  const [indices, size] = [[2, 3, 11], 13];
  const proof = proofOf(indices, size);
  const root = treeHash(0, size);
  const above = (leaves: readonly number[], hashes: readonly Uint8Array[], of = size) =>
    rootAbove(placed(leaves), { size: of, proof: hashes }, sha256);

  expect(above(indices, proof)).toEqual(root); // the control
  expect(above(indices, proof.slice(1))).toBeUndefined();
  expect(above(indices, [...proof, leaf(0)])).toBeUndefined();
  expect(above(indices, [proof[0]?.subarray(1) ?? leaf(0), ...proof.slice(1)])).toBeUndefined();
  for (const wrong of [
    [3, 2, 11],
    [2, 2, 11],
    [-1, 2, 3],
    [2, 3, 13],
    [2, 3.5, 11],
  ]) {
    expect(above(wrong, proof)).toBeUndefined();
  }
  expect(above([2, 3, 10], proof)).not.toEqual(root);
  expect(above(indices, proof.toReversed())).not.toEqual(root);
  for (const of of [0, -1, 12.5, Number.NaN, 2 ** 60]) expect(above(indices, proof, of)).not.toEqual(root);
});
