import type { Digest } from './audit-parts.ts';
import { joinBytes } from './bytes.ts';
import { emptyRoot, HASH_BYTES, hashAbove, type LeafRange, largestPowerBelow, nodeHash } from './merkle.ts';

/** The hashes in a full tile. */
export const TILE_WIDTH = 256;

/** Where a tile stands: `level` 0 holds the hashes of leaves, each further level the roots of the full tiles below. */
export interface TilePosition {
  readonly level: number;
  readonly index: number;
}

/** A tile. A tree that grows only adds hashes at the end, so a longer tile also serves a smaller tree. */
export interface Tile extends TilePosition {
  /** At least one hash, at most 256, one after another. */
  readonly hashes: Uint8Array;
}

/** Tiles by `tileKey`. */
export type Tiles = ReadonlyMap<string, Tile>;

export const tileKey = ({ level, index }: TilePosition): string => `${level}/${index}`;

export const tilesByKey = (tiles: Iterable<Tile>): Map<string, Tile> =>
  new Map(Array.from(tiles, (tile) => [tileKey(tile), tile]));

/** A tile that the calculation needs is not among those given, or is too short. */
export class MissingTile extends Error {
  constructor(position: TilePosition) {
    super(`Tile ${tileKey(position)} is missing or too short.`);
    this.name = 'MissingTile';
  }
}

/** The hashes below one hash of a middle. */
const MIDDLE_WIDTH = 16;

/** Where the middle of a full tile is kept: on the negative of the next level. C2SP knows none. */
const middleOf = ({ level, index }: TilePosition): TilePosition => ({ level: -level - 1, index });

/**
 * The hashes halfway up a full tile. Proofs of many leaves would otherwise compute them for each leaf, which takes ten times as
 * long as all else.
 */
export function middleTile({ hashes, ...position }: Tile, sha256: Digest): Tile | undefined {
  if (hashes.length < TILE_WIDTH * HASH_BYTES) return undefined;
  const width = MIDDLE_WIDTH * HASH_BYTES;
  const roots = Array.from({ length: TILE_WIDTH / MIDDLE_WIDTH }, (_, at) =>
    balancedRoot(hashes.subarray(at * width, (at + 1) * width), sha256),
  );
  return { ...middleOf(position), hashes: joinBytes(roots) };
}

/** The middles of which the roots of ranges can be computed, where they are kept. */
export function middlesFor(ranges: readonly LeafRange[]): TilePosition[] {
  const wide = ranges.flatMap(subtreesOf).filter(({ hashes }) => hashes >= MIDDLE_WIDTH);
  return eachOnce(wide.map(({ tile }) => middleOf(tile)));
}

/**
 * The tiles from which the roots of ranges are computed, each once: for a proof, at most two of each level.
 *
 * @param ranges of `inclusionRanges` or `consistencyRanges`, or the whole tree as `{ start: 0, end: size }`
 * @param middles of `middlesFor` that were found
 */
export function tilesFor(ranges: readonly LeafRange[], middles?: Tiles): TilePosition[] {
  const below = ranges.flatMap(subtreesOf).filter((subtree) => !middles || !inMiddle(subtree, middles));
  return eachOnce(below.map(({ tile }) => tile));
}

const eachOnce = (positions: readonly TilePosition[]): TilePosition[] => [
  ...new Map(positions.map((position) => [tileKey(position), position])).values(),
];

/** The proof that consists of the roots of these ranges. @throws MissingTile */
export const proofOf = (ranges: readonly LeafRange[], tiles: Tiles, sha256: Digest): Uint8Array[] =>
  ranges.map((range) => rootOf(range, tiles, sha256));

/**
 * The root over a range of leaves; over `{ start: 0, end: size }`, of the whole tree.
 *
 * @throws MissingTile when one of `tilesFor` is not there
 */
export function rootOf(range: LeafRange, tiles: Tiles, sha256: Digest): Uint8Array {
  const subtrees = subtreesOf(range).map((subtree) => hashOf(subtree, tiles, sha256));
  return (
    subtrees.reduceRight<Uint8Array | undefined>(
      (right, left) => (right ? nodeHash(left, right, sha256) : left),
      undefined,
    ) ?? emptyRoot(sha256)
  );
}

/**
 * The tiles that change when leaves are added.
 *
 * @param size of the tree so far
 * @param edge at least the tiles of `tilesFor([{ start: 0, end: size }])`
 * @param leaves their hashes
 * @throws MissingTile
 */
export function extendTiles(
  {
    size,
    edge,
    leaves,
  }: { readonly size: number; readonly edge: Tiles; readonly leaves: readonly Uint8Array[] },
  sha256: Digest,
): Tile[] {
  const changed: Tile[] = [];
  let [hashes, first, level] = [leaves, size, 0];
  while (hashes.length > 0) {
    const next: Uint8Array[] = [];
    let at = 0;
    while (at < hashes.length) {
      const position = { level, index: Math.floor((first + at) / TILE_WIDTH) };
      const used = (first + at) % TILE_WIDTH;
      const added = hashes.slice(at, at + TILE_WIDTH - used);
      const before = used === 0 ? [] : [firstHashes(position, used, edge)];
      const tile = { ...position, hashes: joinBytes([...before, ...added]) };
      changed.push(tile);
      if (used + added.length === TILE_WIDTH) next.push(balancedRoot(tile.hashes, sha256));
      at += added.length;
    }
    [hashes, first, level] = [next, Math.floor(first / TILE_WIDTH), level + 1];
  }
  return changed;
}

/** How many hashes a tile has in a tree of this size: 0 where it does not exist. */
export function tileWidth({ level, index }: TilePosition, size: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH));
}

/**
 * The path of a tile below a log's address, such as `tile/0/x001/x234/067` or, with fewer hashes, `tile/1/000.p/8`.
 *
 * @see https://c2sp.org/tlog-tiles
 */
export function tilePath({ level, index }: TilePosition, width: number): string {
  const groups: string[] = [];
  let rest = index;
  do {
    groups.unshift(`${groups.length > 0 ? 'x' : ''}${String(rest % 1000).padStart(3, '0')}`);
    rest = Math.floor(rest / 1000);
  } while (rest > 0);
  return `tile/${level}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/**
 * Reads the path of a tile.
 *
 * @returns undefined when `tilePath` does not write such a path
 */
export function readTilePath(path: string): (TilePosition & { readonly width: number }) | undefined {
  if (path.length > 64) return undefined;
  const [folder, level, ...groups] = path.split('/');
  const partial = groups.at(-2)?.endsWith('.p') ? Number(groups.pop()) : TILE_WIDTH;
  const index = groups.map((group) => group.replace('x', '').replace('.p', '')).join('');
  const tile = { level: Number(level), index: Number(index), width: partial };
  if (folder !== 'tile' || !isBetween(tile.level, 0, 63) || !isBetween(tile.width, 1, TILE_WIDTH))
    return undefined;
  if (!isBetween(tile.index, 0, Number.MAX_SAFE_INTEGER)) return undefined;
  // Each tile has one path: no other way of writing the same numbers is taken.
  return tilePath(tile, tile.width) === path ? tile : undefined;
}

const isBetween = (value: number, least: number, most: number) =>
  Number.isSafeInteger(value) && value >= least && value <= most;

/** A complete subtree, as the hashes of a tile that it joins. Their number is a power of two below 256. */
interface Subtree {
  readonly tile: TilePosition;
  readonly from: number;
  readonly hashes: number;
}

/** The complete subtrees of a range, which become smaller from left to right. */
function subtreesOf({ start, end }: LeafRange): Subtree[] {
  const subtrees: Subtree[] = [];
  let at = start;
  while (at < end) {
    const leaves = largestPowerBelow(end - at + 1);
    let [level, below] = [0, 1]; // the leaves below one hash of the level
    while (below * TILE_WIDTH <= leaves) [level, below] = [level + 1, below * TILE_WIDTH];
    const [position, hashes] = [at / below, leaves / below];
    subtrees.push({
      tile: { level, index: Math.floor(position / TILE_WIDTH) },
      from: position % TILE_WIDTH,
      hashes,
    });
    at += leaves;
  }
  return subtrees;
}

/** The hashes of a middle that are above a subtree. */
function inMiddle({ tile, from, hashes }: Subtree, tiles: Tiles): Uint8Array | undefined {
  if (hashes < MIDDLE_WIDTH) return undefined;
  const bytes = HASH_BYTES / MIDDLE_WIDTH; // of a hash below it
  const middle = tiles.get(tileKey(middleOf(tile)))?.hashes;
  if (middle?.length !== TILE_WIDTH * bytes) return undefined;
  return middle.subarray(from * bytes, (from + hashes) * bytes);
}

/** The roots of subtrees of tiles: ranges of one proof have them in common. */
const computed = new WeakMap<Tile, Map<number, Uint8Array>>();

function hashOf(subtree: Subtree, tiles: Tiles, sha256: Digest): Uint8Array {
  const middle = inMiddle(subtree, tiles);
  if (middle) return balancedRoot(middle, sha256);
  const { tile: position, from, hashes } = subtree;
  const bytes = firstHashes(position, from + hashes, tiles).subarray(from * HASH_BYTES);
  const tile = tiles.get(tileKey(position));
  if (!tile || hashes === 1) return bytes;
  const known = computed.get(tile) ?? new Map<number, Uint8Array>();
  const place = (TILE_WIDTH + from) / hashes; // as in a heap
  const root = known.get(place) ?? balancedRoot(bytes, sha256);
  computed.set(tile, known.set(place, root));
  return root;
}

function firstHashes(position: TilePosition, width: number, tiles: Tiles): Uint8Array {
  const hashes = tiles.get(tileKey(position))?.hashes;
  if (!hashes || hashes.length < width * HASH_BYTES) throw new MissingTile(position);
  return hashes.subarray(0, width * HASH_BYTES);
}

/** The root over hashes whose number is a power of two. */
function balancedRoot(bytes: Uint8Array, sha256: Digest): Uint8Array {
  if (bytes.length === HASH_BYTES) return bytes;
  const hashes = Uint8Array.from(bytes);
  for (let width = hashes.length; width > HASH_BYTES; width /= 2)
    for (let at = 0; at < width; at += 2 * HASH_BYTES) hashes.set(hashAbove(hashes, at, sha256), at / 2);
  return hashes.subarray(0, HASH_BYTES);
}
