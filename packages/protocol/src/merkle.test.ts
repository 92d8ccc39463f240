import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  consistencyRanges,
  emptyRoot,
  inclusionRanges,
  type LeafRange,
  nodeHash,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';
import {
  extendTiles,
  MissingTile,
  middlesFor,
  middleTile,
  proofOf,
  readTilePath,
  rootOf,
  type Tile,
  tileKey,
  tilePath,
  tilesByKey,
  tilesFor,
  tileWidth,
} from './merkle-tiles.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const base64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
const leafHash = (content: Uint8Array) => sha256(Buffer.concat([new Uint8Array([0]), content]));

/** The seven leaves of the test vectors, by their entries. */
const LEAVES = [
  'f41bd6eb5ed2c0239728545d173b6fa504113048c11a7945808bb37a52d9eb59',
  'a536a379eba7454baabf9b834dcc0fb89dfccfa21c5a544b459aef055ec5e6b7',
  '2e8866804c5f1468ccf04b63f2f589a950ea42e225a8d8ac7cd45ced1a1831cb',
  'e4a6ae3b0c2ce2bd0397d105f9ef34f4367e5f661798b8c0a609bafef4f80f6f',
  '307aa7d8faffd8f7da5475a24e57d60f214f0536e6dc3a87249342312e513628',
  '4731551cdecff24517114e185064b1a6ee2cb17f3c48346f65834ff99132e10b',
  '5fb0004c161cbe26e3949b9d9b636d7907e7541b892a88629170bb74cf4cadf3',
].map(bytesOf);
const ROOT_3 = 'OYFi75gdSJB6ZD6MyNlOuR4rDQi0l+an5kg5ZTZQ+Mc=';
const ROOT_7 = 'ptZdG7CLkZ23N1vgVfqCkRavpHIrl0hRGQLtJCRs7+M=';

describe('the test vectors', () => {
  const tiles = tilesOf(LEAVES);
  const texts = (ranges: LeafRange[]) =>
    proofOf(ranges, tiles, sha256).map((hash) => Buffer.from(hash).toString('base64'));

  test('have these roots and proofs', () => {
    const roots = [0, 3, 7].map((end) =>
      Buffer.from(rootOf({ start: 0, end }, tiles, sha256)).toString('base64'),
    );

    expect(roots).toEqual(['47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=', ROOT_3, ROOT_7]);
    expect(texts(inclusionRanges(3, 7))).toEqual([
      'LohmgExfFGjM8Etj8vWJqVDqQuIlqNisfNRc7RoYMcs=',
      'JEx53rT48LuoTwsmgCt5797638z108f02Qqy9vb+pRc=',
      'lCKgOOop9LZHaJ4jGVt3NAVcYMw2ByRfjx/A1h4uC+U=',
    ]);
    expect(texts(inclusionRanges(6, 7))).toEqual([
      'igB3dkWigwAHAW74DcSmP2FXVwal5QuaQ8R9h/fwQ+w=',
      'UVkleoEpLpD5onlFOfQmv0/ll3PIE7KLZlhLgZ5fVWM=',
    ]);
    expect(texts(consistencyRanges(3, 7))).toEqual([
      'LohmgExfFGjM8Etj8vWJqVDqQuIlqNisfNRc7RoYMcs=',
      '5KauOwws4r0Dl9EF+e809DZ+X2YXmLjApgm6/vT4D28=',
      'JEx53rT48LuoTwsmgCt5797638z108f02Qqy9vb+pRc=',
      'lCKgOOop9LZHaJ4jGVt3NAVcYMw2ByRfjx/A1h4uC+U=',
    ]);
  });

  test('verify at their index only', () => {
    const proof = proofOf(inclusionRanges(3, 7), tiles, sha256);
    const claim = { leaf: at(LEAVES, 3), index: 3, size: 7, root: base64(ROOT_7), proof };

    expect(verifyInclusion(claim, sha256)).toBe(true);
    expect(verifyInclusion({ ...claim, index: 2 }, sha256)).toBe(false);
  });
});

/** @see https://github.com/google/certificate-transparency, merkle_tree_test.cc: the vectors of Certificate Transparency */
describe('the vectors of Certificate Transparency', () => {
  const leaves = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ]
    .map(bytesOf)
    .map(leafHash);
  const tiles = tilesOf(leaves);
  const proofTexts = (ranges: LeafRange[]) => proofOf(ranges, tiles, sha256).map(hex);

  test('have the published roots', () => {
    const sizes = Array.from({ length: 9 }, (_, end) => hex(rootOf({ start: 0, end }, tiles, sha256)));

    expect(sizes).toEqual([
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]);
  });

  test('have the published proofs', () => {
    expect(proofTexts(inclusionRanges(0, 8))).toEqual([
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ]);
    expect(proofTexts(inclusionRanges(5, 8))).toEqual([
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ]);
    expect(proofTexts(consistencyRanges(2, 8))).toEqual([
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ]);
    expect(proofTexts(consistencyRanges(6, 8))).toEqual([
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ]);
  });
});

describe('trees of every size', () => {
  const MOST = 65_537;
  const leaves = Array.from({ length: MOST }, (_, index) =>
    leafHash(new TextEncoder().encode(`leaf ${index}`)),
  );
  /** The tiles of the largest tree serve every smaller one. */
  const tiles = tilesOf(leaves);
  const naive = recursiveTree(leaves);
  /** The proofs have few ranges, which are computed once. */
  const roots = new Map<string, Uint8Array>();
  const rootOver = (range: LeafRange): Uint8Array => {
    const key = `${range.start}-${range.end}`;
    const kept = roots.get(key) ?? rootOf(range, tiles, sha256);
    roots.set(key, kept);
    return kept;
  };
  const root = (end: number) => rootOver({ start: 0, end });

  test('from 0 to 300 leaves have the roots and proofs of the recursive definition, and each verifies', () => {
    const wrong: unknown[] = [];
    for (let size = 0; size <= 300; size += 1) {
      if (hex(root(size)) !== hex(naive.root(0, size))) wrong.push({ size });
      for (let index = 0; index < size; index += 1) {
        const proof = inclusionRanges(index, size).map(rootOver);
        const claim = { leaf: at(leaves, index), index, size, root: root(size), proof };
        if (!same(proof, naive.inclusion(index, 0, size)) || !verifyInclusion(claim, sha256)) {
          wrong.push({ index, size });
        }
      }
      for (let oldSize = 0; oldSize <= size; oldSize += 1) {
        const proof = consistencyRanges(oldSize, size).map(rootOver);
        const claim = { oldSize, oldRoot: root(oldSize), size, root: root(size), proof };
        if (!same(proof, naive.consistency(oldSize, size)) || !verifyConsistency(claim, sha256)) {
          wrong.push({ oldSize, size });
        }
      }
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  test('at the edge of a third level have the roots and proofs of the recursive definition, and each verifies', () => {
    const wrong: unknown[] = [];
    for (const size of [65_535, 65_536, 65_537]) {
      if (hex(root(size)) !== hex(naive.root(0, size))) wrong.push({ size });
      for (const index of [0, 1, 255, 256, 32_767, 32_768, 65_279, 65_280, 65_534, size - 1]) {
        const proof = inclusionRanges(index, size).map(rootOver);
        const claim = { leaf: at(leaves, index), index, size, root: root(size), proof };
        if (!same(proof, naive.inclusion(index, 0, size)) || !verifyInclusion(claim, sha256)) {
          wrong.push({ index, size });
        }
      }
      for (const oldSize of [0, 1, 2, 255, 256, 257, 300, 32_768, 40_000, 65_279, 65_534, 65_535, size]) {
        const proof = consistencyRanges(oldSize, size).map(rootOver);
        const claim = { oldSize, oldRoot: root(oldSize), size, root: root(size), proof };
        if (!same(proof, naive.consistency(oldSize, size)) || !verifyConsistency(claim, sha256)) {
          wrong.push({ oldSize, size });
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('refuse every proof that was changed', () => {
    const accepted: unknown[] = [];
    for (const size of [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 300]) {
      for (let index = 0; index < size; index += size > 40 ? 7 : 1) {
        const proof = inclusionRanges(index, size).map(rootOver);
        const claim = { leaf: at(leaves, index), index, size, root: root(size), proof };
        for (const change of [
          ...changedProofs(proof).map((changed) => ({ proof: changed })),
          ...[index - 1, index + 1].map((other) => ({ index: other })),
          { leaf: flipped(claim.leaf) },
          { root: flipped(claim.root) },
          { leaf: claim.leaf.subarray(1) },
          { root: new Uint8Array() },
        ]) {
          if (verifyInclusion({ ...claim, ...change }, sha256)) accepted.push({ index, size, change });
        }
        for (const other of [size - 1, size + 1]) {
          // The size decides only on which side the hashes stand: the signed root tells the trees apart.
          const isSameShape = index < other && shape(index, other) === shape(index, size);
          if (verifyInclusion({ ...claim, size: other }, sha256) !== isSameShape)
            accepted.push({ index, size, other });
          if (verifyInclusion({ ...claim, size: other, root: root(other) }, sha256))
            accepted.push({ index, other });
        }
      }
      for (let oldSize = 0; oldSize < size; oldSize += size > 40 ? 7 : 1) {
        const proof = consistencyRanges(oldSize, size).map(rootOver);
        const claim = { oldSize, oldRoot: root(oldSize), size, root: root(size), proof };
        for (const change of [
          ...changedProofs(proof).map((changed) => ({ proof: changed })),
          { oldRoot: flipped(claim.oldRoot) },
          ...(oldSize > 0 ? [{ root: flipped(claim.root) }] : []), // every tree begins with the empty one
          ...[oldSize - 1, oldSize + 1].map((other) => ({ oldSize: other })),
          { oldSize: size, size: oldSize },
          { size: size + 1, root: root(size + 1) },
        ]) {
          if (oldSize === 0 && 'size' in change && change.size === size + 1) continue;
          if (verifyConsistency({ ...claim, ...change }, sha256)) accepted.push({ oldSize, size, change });
        }
      }
    }
    expect(accepted).toEqual([]);
  }, 60_000);

  test('refuse numbers that are no size', () => {
    const claim = { leaf: at(leaves, 0), index: 0, size: 1, root: root(1), proof: [] };
    const older = { oldSize: 1, oldRoot: root(1), size: 1, root: root(1), proof: [] };
    for (const number of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(verifyInclusion({ ...claim, index: number }, sha256)).toBe(false);
      expect(verifyInclusion({ ...claim, size: number }, sha256)).toBe(false);
      expect(verifyConsistency({ ...older, oldSize: number }, sha256)).toBe(false);
      expect(verifyConsistency({ ...older, size: number }, sha256)).toBe(false);
      expect(() => inclusionRanges(number, 2)).toThrow(RangeError);
      expect(() => consistencyRanges(number, 2)).toThrow(RangeError);
    }
    expect(() => inclusionRanges(2, 2)).toThrow(RangeError);
    expect(() => consistencyRanges(3, 2)).toThrow(RangeError);
  });

  test('read at most two tiles of each level for a proof', () => {
    for (const size of [100_000_000, 2 ** 53 - 1]) {
      for (const index of [0, 12_345_678, 99_999_999]) {
        const perLevel = Object.groupBy(tilesFor(inclusionRanges(index, size)), ({ level }) => level);
        expect(Object.values(perLevel).filter((level) => (level?.length ?? 0) > 2)).toEqual([]);
        const older = Object.groupBy(tilesFor(consistencyRanges(index + 1, size)), ({ level }) => level);
        expect(Object.values(older).filter((level) => (level?.length ?? 0) > 2)).toEqual([]);
      }
    }
  });

  test('tell indices apart that differ above 32 bits', () => {
    const size = 2 ** 53 - 1;
    const index = 2 ** 40 + 5;
    const ranges = inclusionRanges(index, size);
    const proof = ranges.map(({ start }) => sha256(new TextEncoder().encode(String(start))));
    const leaf = at(leaves, 0);
    let top = leaf;
    for (const [height, { start }] of ranges.entries()) {
      const other = at(proof, height);
      top = start > index ? nodeHash(top, other, sha256) : nodeHash(other, top, sha256);
    }

    expect(verifyInclusion({ leaf, index, size, root: top, proof }, sha256)).toBe(true);
    expect(verifyInclusion({ leaf, index: index - 2 ** 32, size, root: top, proof }, sha256)).toBe(false);
    expect(verifyInclusion({ leaf, index: 5, size, root: top, proof }, sha256)).toBe(false);
  });
});

describe('tiles', () => {
  const leaves = Array.from({ length: 1000 }, (_, index) =>
    leafHash(new Uint8Array([index % 256, index >> 8])),
  );

  test('are the same in whichever steps the tree grows', () => {
    const whole = tilesOf(leaves);
    for (const step of [1, 7, 255, 256, 257, 999]) {
      let tiles = new Map<string, Tile>();
      for (let size = 0; size < leaves.length; size += step) {
        const edge = new Map(
          tilesFor([{ start: 0, end: size }]).map((tile) => [tileKey(tile), found(tiles, tile)]),
        );
        const changed = extendTiles({ size, edge, leaves: leaves.slice(size, size + step) }, sha256);
        tiles = new Map([...tiles, ...tilesByKey(changed)]);
      }
      expect([...tiles.keys()].toSorted()).toEqual([...whole.keys()].toSorted());
      for (const tile of tiles.values()) expect(hex(tile.hashes)).toBe(hex(found(whole, tile).hashes));
    }
  });

  test('give the same roots by their middles, of which not even the tiles are needed', () => {
    const tiles = tilesOf(leaves);
    const middles = tilesByKey([...tiles.values()].flatMap((tile) => middleTile(tile, sha256) ?? []));
    const ranges = [0, 37, 255, 256, 700, 999].flatMap((index) => inclusionRanges(index, 1000));
    const below = tilesFor(ranges, middles).map((position) => found(tiles, position));
    const known = new Map([...tilesByKey(below), ...middles]);
    const short = new Map(known).set('-1/1', { level: -1, index: 1, hashes: new Uint8Array(32) });

    expect([...middles.keys()]).toEqual(['-1/0', '-1/1', '-1/2']); // 1,000 leaves fill three tiles
    expect(middlesFor(ranges).map(tileKey).toSorted()).toEqual(['-1/0', '-1/1', '-1/2', '-1/3']);
    expect(proofOf(ranges, known, sha256).map(hex)).toEqual(proofOf(ranges, tiles, sha256).map(hex));
    const wide = [{ start: 256, end: 384 }];
    expect(tilesFor(wide, middles)).toEqual([]);
    expect(tilesFor(wide, short).map(tileKey)).toEqual(['0/1']);
    expect(proofOf(wide, new Map([...short, ...tiles]), sha256)).toEqual(proofOf(wide, tiles, sha256));
  });

  test('that are missing or too short are named', () => {
    const tiles = tilesOf(leaves);
    const short = new Map(tiles).set('0/3', {
      level: 0,
      index: 3,
      hashes: found(tiles, { level: 0, index: 3 }).hashes.subarray(32),
    });

    expect(() => rootOf({ start: 0, end: 1000 }, short, sha256)).toThrow(
      new MissingTile({ level: 0, index: 3 }),
    );
    expect(() => extendTiles({ size: 1000, edge: new Map(), leaves }, sha256)).toThrow(MissingTile);
    expect(extendTiles({ size: 1000, edge: new Map(), leaves: [] }, sha256)).toEqual([]);
  });

  test('have the width of their tree', () => {
    expect([0, 1, 255, 256, 257, 512].map((size) => tileWidth({ level: 0, index: 0 }, size))).toEqual([
      0, 1, 255, 256, 256, 256,
    ]);
    expect([256, 257, 300, 512].map((size) => tileWidth({ level: 0, index: 1 }, size))).toEqual([
      0, 1, 44, 256,
    ]);
    expect([255, 256, 65_536, 70_000].map((size) => tileWidth({ level: 1, index: 0 }, size))).toEqual([
      0, 1, 256, 256,
    ]);
    expect(tileWidth({ level: 63, index: 0 }, 2 ** 53 - 1)).toBe(0);
  });

  test('have one path each', () => {
    expect(tilePath({ level: 0, index: 1_234_067 }, 256)).toBe('tile/0/x001/x234/067');
    expect(tilePath({ level: 1, index: 0 }, 8)).toBe('tile/1/000.p/8');
    expect(tilePath({ level: 0, index: 273 }, 112)).toBe('tile/0/273.p/112');
    for (const tile of [
      { level: 0, index: 0, width: 1 },
      { level: 63, index: 999, width: 255 },
      { level: 6, index: 1000, width: 256 },
      { level: 0, index: 2 ** 53 - 1, width: 17 },
    ]) {
      expect(readTilePath(tilePath(tile, tile.width))).toEqual(tile);
    }
    for (const path of [
      ...[
        '',
        'tile',
        'tile/0',
        'tile/0/',
        'tile/0/0',
        'tile/0/00',
        'tile/0/0000',
        'tile/00/000',
        'tile/64/000',
      ],
      ...[
        'tile/-1/000',
        'tile/0/-01',
        'tile/0.5/000',
        'tile/0/000.p/0',
        'tile/0/000.p/256',
        'tile/0/000.p/01',
      ],
      ...[
        'tile/0/000.p/1.5',
        'tile/0/000.p/',
        'tile/0/000.p',
        'tile/0/x000/001',
        'tile/0/x001',
        'tile/0/001/001',
      ],
      ...[
        'tile/0/000/',
        '/tile/0/000',
        'tile/0/000.p/1/',
        'tile/0/x00x/001',
        'tile/0/1e2',
        'tile/ 0/000',
        'Tile/0/000',
      ],
      ...[
        'tile/entries/000',
        `tile/0/${'x001/'.repeat(20)}001`,
        'tile/0/x999/x999/x999/x999/x999/999',
        'tile/0/000?',
      ],
    ]) {
      expect({ path, read: readTilePath(path) }).toEqual({ path, read: undefined });
    }
  });
});

/** The recursive definitions of RFC 6962, section 2.1, with each subtree kept. */
function recursiveTree(leaves: readonly Uint8Array[]) {
  const roots = new Map<number, Uint8Array>();
  const split = (size: number) => 2 ** Math.ceil(Math.log2(size) - 1);
  const root = (start: number, end: number): Uint8Array => {
    if (start === end) return emptyRoot(sha256);
    if (end - start === 1) return at(leaves, start);
    const key = start * 100_000 + end;
    const middle = start + split(end - start);
    const hash = roots.get(key) ?? nodeHash(root(start, middle), root(middle, end), sha256);
    roots.set(key, hash);
    return hash;
  };
  const inclusion = (index: number, start: number, end: number): Uint8Array[] => {
    if (end - start <= 1) return [];
    const middle = start + split(end - start);
    return index < middle
      ? [...inclusion(index, start, middle), root(middle, end)]
      : [...inclusion(index, middle, end), root(start, middle)];
  };
  const subproof = (size: number, start: number, end: number, isWhole: boolean): Uint8Array[] => {
    if (size === end) return isWhole ? [] : [root(start, end)];
    const middle = start + split(end - start);
    return size <= middle
      ? [...subproof(size, start, middle, isWhole), root(middle, end)]
      : [...subproof(size, middle, end, false), root(start, middle)];
  };
  const consistency = (oldSize: number, size: number) =>
    oldSize === 0 ? [] : subproof(oldSize, 0, size, true);
  return { root, inclusion, consistency };
}

function tilesOf(leaves: readonly Uint8Array[]): Map<string, Tile> {
  return tilesByKey(extendTiles({ size: 0, edge: new Map(), leaves }, sha256));
}

/** Each bit position flipped once over the hashes, each hash left out, one added at both ends. */
function changedProofs(proof: readonly Uint8Array[]): Uint8Array[][] {
  return [
    ...proof.map((hash, place) => proof.with(place, flipped(hash, place))),
    ...proof.map((_, place) => proof.toSpliced(place, 1)),
    [...proof, new Uint8Array(32)],
    [new Uint8Array(32), ...proof],
    ...proof.map((hash, place) => proof.with(place, hash.subarray(1))),
  ];
}

function flipped(hash: Uint8Array, place = 0): Uint8Array {
  const changed = Uint8Array.from(hash);
  const byte = (place * 7) % 32;
  changed[byte] = (changed[byte] ?? 0) ^ (1 << (place % 8));
  return changed;
}

/** On which side of a leaf the hashes of its proof stand. */
const shape = (index: number, size: number) =>
  inclusionRanges(index, size)
    .map(({ start }) => (start > index ? 'right' : 'left'))
    .join();

const same = (one: readonly Uint8Array[], other: readonly Uint8Array[]) =>
  one.length === other.length && one.every((each, place) => Buffer.compare(each, at(other, place)) === 0);

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`Nothing stands at ${index}.`);
  return found;
}

function found(tiles: ReadonlyMap<string, Tile>, position: { level: number; index: number }): Tile {
  const tile = tiles.get(tileKey(position));
  if (!tile) throw new Error(`No tile ${tileKey(position)}.`);
  return tile;
}
