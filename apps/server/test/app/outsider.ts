import { createHash } from 'node:crypto';
import { type AuditEntry, verifyChain } from '@behest/protocol/audit-chain';
import { leafOf, partsOf } from '@behest/protocol/audit-parts';
import { areEqual, consistencyRanges, HASH_BYTES, verifyConsistency } from '@behest/protocol/merkle';
import {
  extendTiles,
  MissingTile,
  proofOf,
  rootOf,
  type Tile,
  tileKey,
  tilePath,
  tilesByKey,
  tileWidth,
} from '@behest/protocol/merkle-tiles';
import {
  readCheckpointText,
  readNote,
  readVkey,
  type TreeHead,
  verifyNote,
} from '@behest/protocol/signed-note';
import { verifyReceipt } from '@behest/sdk/receipts';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { Developer, Service } from './start-app.ts';

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const hexOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** All that an account shows of itself. */
export interface Copy {
  readonly entries: readonly AuditEntry[];
  readonly tiles: readonly Tile[];
  readonly note: string;
  /** Receipts, as texts. */
  readonly receipts: readonly string[];
}

/** The public keys of the service, and the name of the log. */
interface Known {
  readonly vkey: string;
  readonly origin: string;
  readonly did: unknown;
  readonly jwks: unknown;
}

/** @throws Error when the service answers anything else than 200 */
async function read(service: Service, url: string): Promise<Buffer> {
  const answer = await service.app.inject({ method: 'GET', url: new URL(url, 'https://auth.test').pathname });
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
  return answer.rawPayload;
}

async function ask<Answer>(acme: Developer, url: string): Promise<Answer> {
  const answer = await acme('GET', url);
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.body}`);
  return answer.json();
}

/** The keys of the service, which an outsider got once. */
export async function keysOf(service: Service, acme: Developer): Promise<Known> {
  const { vkey, origin } = await ask<{ vkey: string; origin: string }>(acme, '/v1/transparency');
  const [did, jwks] = await Promise.all(
    ['/.well-known/did.json', '/.well-known/jwks.json'].map((url) => read(service, url)),
  );
  return { vkey, origin, did: JSON.parse(String(did)), jwks: JSON.parse(String(jwks)) };
}

/** Reads everything through HTTP. @throws Error when the service refuses a part */
export async function copyOf(service: Service, acme: Developer, grantIds: readonly string[]): Promise<Copy> {
  const receipts: string[] = [];
  for (const grantId of grantIds) receipts.push((await acme('GET', `/v1/grants/${grantId}/receipt`)).body);
  const { url } = await ask<{ url: string }>(acme, '/v1/transparency');
  const entries: AuditEntry[] = [];
  let cursor: string | null = null;
  do {
    const page: { entries: AuditEntry[]; nextCursor: string | null } = await ask(
      acme,
      `/v1/audit/entries?limit=500${cursor ? `&cursor=${cursor}` : ''}`,
    );
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor);
  const note = String(await read(service, `${url}/checkpoint`));
  const { size = 0 } = headIn(note) ?? {};
  const tiles: Tile[] = [];
  for (const position of tilesOf(size)) {
    const hashes = await read(service, `${url}/${tilePath(position, tileWidth(position, size))}`);
    tiles.push({ ...position, hashes });
  }
  return { entries, tiles, note, receipts };
}

function headIn(note: string): TreeHead | undefined {
  const signed = readNote(note);
  return signed && readCheckpointText(signed.text);
}

/** Where a tree of a size has tiles. */
function* tilesOf(size: number) {
  for (let level = 0; tileWidth({ level, index: 0 }, size) > 0; level += 1) {
    for (let index = 0; tileWidth({ level, index }, size) > 0; index += 1) yield { level, index };
  }
}

/**
 * Looks for what is wrong, with nothing but the public keys.
 *
 * @param kept a note that the outsider has from before
 * @returns where something is wrong; undefined when all agrees
 */
export async function faultIn(copy: Copy, known: Known, kept?: string): Promise<string | undefined> {
  return faultOfLog(copy, known, kept) ?? faultOfEntries(copy) ?? (await faultOfReceipts(copy, known));
}

export function faultOfLog(
  { note, tiles }: Copy,
  { vkey, origin }: Known,
  kept?: string,
): string | undefined {
  const [signed, key] = [readNote(note), readVkey(vkey, sha256)];
  if (!signed || !key || !verifyNote(signed, [key], verifyEd25519).ok) return 'note';
  const head = readCheckpointText(signed.text);
  if (head?.origin !== origin) return 'note';
  const { size, root } = head;
  const shown = tilesByKey(tiles);
  const leaves: Uint8Array[] = [];
  for (const position of tilesOf(size)) {
    const hashes = shown.get(tileKey(position))?.hashes;
    if (hashes?.length !== tileWidth(position, size) * HASH_BYTES) return 'tiles';
    if (position.level > 0) continue;
    for (let at = 0; at < hashes.length; at += HASH_BYTES) leaves.push(hashes.subarray(at, at + HASH_BYTES));
  }
  for (const made of extendTiles({ size: 0, edge: new Map(), leaves }, sha256)) {
    if (!areEqual(made.hashes, shown.get(tileKey(made))?.hashes ?? new Uint8Array())) return 'tiles';
  }
  if (!areEqual(rootOf({ start: 0, end: size }, shown, sha256), root)) return 'tiles';
  return kept !== undefined && !hasGrown(kept, head, shown) ? 'kept' : undefined;
}

/** Whether a log begins with what a note said before. */
function hasGrown(
  kept: string,
  { origin, size, root }: TreeHead,
  tiles: ReturnType<typeof tilesByKey>,
): boolean {
  const before = headIn(kept);
  if (!before || before.origin !== origin || before.size > size) return false;
  try {
    const proof = proofOf(consistencyRanges(before.size, size), tiles, sha256);
    return verifyConsistency({ oldSize: before.size, oldRoot: before.root, size, root, proof }, sha256);
  } catch (error) {
    if (error instanceof MissingTile) return false;
    throw error;
  }
}

export function faultOfEntries({ entries, note, tiles }: Copy): string | undefined {
  if (!verifyChain(entries, {}, hexOf).valid) return 'chain';
  if (entries.length !== headIn(note)?.size) return 'length';
  const leaves = tiles.filter(({ level }) => level === 0).sort((one, other) => one.index - other.index);
  const hashes = Buffer.concat(leaves.map((tile) => tile.hashes));
  const isOther = entries.findIndex((entry, at) => {
    const leaf = leafOf(entry.hash, partsOf(entry, sha256), sha256);
    return !areEqual(leaf, hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES));
  });
  return isOther < 0 ? undefined : `leaf ${isOther}`;
}

export async function faultOfReceipts({ receipts, note }: Copy, { vkey, origin, did, jwks }: Known) {
  for (const receipt of receipts) {
    const verdict = await verifyReceipt(receipt, { vkeys: [vkey], origin, did, jwks });
    if (!verdict.ok || !verdict.anchored) return `receipt: ${verdict.failed}`;
    if (verdict.warnings.length > 0) return `receipt: ${verdict.warnings}`;
    const [said, head] = [verdict.receipt?.checkpoint, headIn(note)];
    if (said?.size === head?.size && said?.root !== Buffer.from(head?.root ?? []).toString('base64'))
      return 'receipt: fork';
  }
  return undefined;
}

function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false; // a key that is no point of the curve
  }
}
