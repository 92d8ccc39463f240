import { createHash, createPublicKey, verify } from 'node:crypto';
import {
  areEqual,
  consistencyRanges,
  HASH_BYTES,
  type LeafRange,
  verifyConsistency,
} from '@behest/protocol/merkle';
import {
  proofOf,
  rootOf,
  type Tiles,
  tilePath,
  tilesByKey,
  tilesFor,
  tileWidth,
} from '@behest/protocol/merkle-tiles';
import type { TreeHead } from '@behest/protocol/signed-note';

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
}

/** A server does not answer, or not with what was asked. It says nothing about the history of a log. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** Whether the server answered that it does not have it. */
  readonly isMissing: boolean;

  constructor(
    message: string,
    { isMissing = false, ...options }: ErrorOptions & { isMissing?: boolean } = {},
  ) {
    super(message, options);
    this.isMissing = isMissing;
  }
}

/** How a command reaches other machines. */
export interface Network {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

const TIMEOUT = 10_000; // milliseconds
const NOTE_BYTES = 64 * 1024;

/** Reads a text of an address: a note, or a DID document. */
export const readTextAt = async (url: string, network: Network): Promise<string> =>
  (await readAt(url, NOTE_BYTES, network)).toString('utf8');

/** Reads the tiles that ranges of leaves need, as they are in the tree of a size. @returns undefined when one is missing */
async function readTiles(
  logUrl: string,
  { ranges, size }: { readonly ranges: readonly LeafRange[]; readonly size: number },
  network: Network,
): Promise<Tiles | undefined> {
  const reading = tilesFor(ranges).map(async (position) => {
    const bytes = tileWidth(position, size) * HASH_BYTES;
    const url = `${logUrl}/${tilePath(position, bytes / HASH_BYTES)}`;
    const hashes = await readAt(url, bytes, network).catch((error: unknown) => {
      if (error instanceof Unreachable && error.isMissing) return undefined;
      throw error;
    });
    return hashes?.length === bytes ? [{ ...position, hashes }] : [];
  });
  const tiles = await Promise.all(reading); // at most two of each level
  return tiles.every(({ length }) => length > 0) ? tilesByKey(tiles.flat()) : undefined;
}

/** Whether the tiles of a log have the root that its checkpoint says. */
export async function servesTree(
  logUrl: string,
  { size, root }: TreeHead,
  network: Network,
): Promise<boolean> {
  const whole = { start: 0, end: size };
  const tiles = await readTiles(logUrl, { ranges: [whole], size }, network);
  return tiles !== undefined && areEqual(rootOf(whole, tiles, sha256), root);
}

/**
 * Whether the larger of two trees begins with the smaller one. The log is asked for tiles, and for no proof.
 * @returns `tiles` when they do not make the larger tree, and so prove nothing of the smaller one
 */
export async function relationOf(
  logUrl: string,
  heads: readonly [TreeHead, TreeHead],
  network: Network,
): Promise<'one_history' | 'fork' | 'tiles'> {
  const [older, { size, root }] = heads[0].size <= heads[1].size ? heads : [heads[1], heads[0]];
  if (older.size === size) return areEqual(older.root, root) ? 'one_history' : 'fork';
  const [whole, ranges] = [{ start: 0, end: older.size }, consistencyRanges(older.size, size)];
  const tiles = await readTiles(logUrl, { ranges: [whole, ...ranges], size }, network);
  if (!tiles) return 'tiles';
  const [oldRoot, proof] = [rootOf(whole, tiles, sha256), proofOf(ranges, tiles, sha256)];
  if (!verifyConsistency({ oldSize: older.size, oldRoot, size, root, proof }, sha256)) return 'tiles';
  return areEqual(oldRoot, older.root) ? 'one_history' : 'fork';
}

async function readAt(url: string, mostBytes: number, { fetch: get, signal }: Network): Promise<Buffer> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]);
  try {
    const answer = await get(url, { redirect: 'manual', signal: deadline });
    if (answer.status !== 200)
      throw new Unreachable(`${url} answers ${answer.status}.`, { isMissing: answer.status === 404 });
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of answer.body ?? []) {
      length += part.length;
      if (length > mostBytes) throw new Unreachable(`${url} has more than ${mostBytes} bytes.`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Unreachable) throw error;
    throw new Unreachable(`${url} cannot be reached.`, { cause: error });
  }
}
