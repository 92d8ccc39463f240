import { verify } from 'node:crypto';
import { areEqual, consistencyRanges, type LeafRange, verifyConsistency } from '@behest/protocol/merkle';
import { MissingTile, proofOf, rootOf, type Tiles } from '@behest/protocol/merkle-tiles';
import {
  checkpointText,
  LOG_KEY,
  type NoteKey,
  noteKey,
  readNote,
  writeNote,
} from '@behest/protocol/signed-note';
import { sha256 } from '../../../platform/ids.ts';
import type { KeyRing } from '../../service/keys/index.ts';

export { sha256 };

export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(publicKey).toString('base64url');
  return verify(null, message, { key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }, signature);
}

/** A tree of a log. */
export interface TreeState {
  readonly logId: string;
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/**
 * What a log cannot have become by growing. `replaced`: another log stands in its place. `rollback`: it was longer before.
 * `fork`: it does not begin with what was signed before. `tiles`: its tiles do not make its root. `truncated`: the chain
 * has fewer entries than the log. `rewritten`: the chain goes on from another entry than the log. `gap`: the chain lacks an
 * entry. `changed`: an entry is not what its hash says. `witness`: a witness has a note of another history that the log has signed.
 */
export type Contradiction =
  | 'replaced'
  | 'rollback'
  | 'fork'
  | 'tiles'
  | 'truncated'
  | 'rewritten'
  | 'gap'
  | 'changed'
  | 'witness';

/** The ranges whose tiles show that a log is whole, that it begins with a state that is known, and how it ends. */
export const rangesToCheck = (log: TreeState, known: TreeState | undefined): LeafRange[] => [
  { start: 0, end: log.size },
  lastLeaf(log),
  ...(known && known.size <= log.size ? consistencyRanges(known.size, log.size) : []),
];

/** Empty where there is no leaf. */
export const lastLeaf = ({ size }: TreeState): LeafRange => ({ start: Math.max(0, size - 1), end: size });

/**
 * @param head the length of the chain
 * @param known what this process, or a note, has said of the log before
 * @param tiles those of `rangesToCheck`
 */
export function contradictionIn(
  log: TreeState,
  {
    head,
    known,
    tiles,
  }: { readonly head: number; readonly known: TreeState | undefined; readonly tiles: Tiles },
): Contradiction | undefined {
  const { logId, origin, size, root } = log;
  if (!origin.endsWith(`/log/${logId}`) || (known && known.origin !== origin)) return 'replaced';
  if (known && known.size > size) return 'rollback';
  if (head < size) return 'truncated';
  try {
    rootOf(lastLeaf(log), tiles, sha256);
    if (!areEqual(rootOf({ start: 0, end: size }, tiles, sha256), root)) return 'tiles';
    if (!known) return undefined;
    const proof = proofOf(consistencyRanges(known.size, size), tiles, sha256);
    const told = { oldSize: known.size, oldRoot: known.root, size, root, proof };
    return verifyConsistency(told, sha256) ? undefined : 'fork';
  } catch (error) {
    if (error instanceof MissingTile) return 'tiles';
    throw error;
  }
}

/** The key that signs notes, under the name of each log. */
export interface LogKey {
  keyOf(origin: string): NoteKey;
  sign(state: { readonly origin: string; readonly size: number; readonly root: Uint8Array }): string;
}

/** @returns undefined without an Ed25519 key */
export function logKeyOf(keyRing: Pick<KeyRing, 'identity' | 'signAsIdentity'>): LogKey | undefined {
  const { signAsIdentity } = keyRing;
  const { ed25519 } = keyRing.identity();
  if (!signAsIdentity || !ed25519) return undefined;
  const publicKey = Buffer.from(ed25519.x, 'base64url');
  const keyOf = (origin: string) => noteKey(origin, { type: LOG_KEY, publicKey }, sha256);
  return {
    keyOf,
    sign(state) {
      const { name, keyId } = keyOf(state.origin);
      const text = checkpointText(state);
      const bytes = signAsIdentity(Buffer.from(text));
      return writeNote({ text, signatures: [{ name, keyId, bytes }] });
    },
  };
}

/** Whether a note has a signature line of this key. */
export const namesKey = (note: string | null, { name, keyId }: NoteKey): boolean =>
  readNote(note ?? '')?.signatures.some((line) => line.name === name && line.keyId === keyId) ?? false;

/** The name of a log: its address, without the scheme. */
export function originOf(publicBaseUrl: string, logId: string): string {
  const { host, pathname } = new URL(publicBaseUrl);
  return `${host}${pathname === '/' ? '' : pathname}/log/${logId}`;
}
