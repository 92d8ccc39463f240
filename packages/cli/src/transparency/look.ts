import { areEqual } from '@behest/protocol/merkle';
import {
  LOG_KEY,
  type NoteKey,
  noteKey,
  readCheckpointText,
  readNote,
  type TreeHead,
  verifyNote,
} from '@behest/protocol/signed-note';
import type { KeptNote, KeptNotes } from './kept-notes.ts';
import {
  type Network,
  readTextAt,
  relationOf,
  servesTree,
  sha256,
  Unreachable,
  verifyEd25519,
} from './log-client.ts';

/** A log that is watched. */
export interface WatchedLog {
  readonly url: string;
  /** The name that its notes have to have. */
  readonly origin: string;
  /** Keys that the operator has given. Without them those of the DID document count, as they were at first. */
  readonly pinned: readonly NoteKey[];
  readonly didUrl: string;
}

export type AlarmKind =
  | 'rollback'
  | 'fork'
  | 'tiles'
  | 'gone'
  | 'bad_signature'
  | 'origin_changed'
  | 'key_changed'
  | 'stalled';

/** A sign that a log does not keep its promise. */
export class Alarm extends Error {
  readonly kind: AlarmKind;
  /** The notes that prove it. */
  readonly notes: readonly string[];

  constructor(kind: AlarmKind, message: string, notes: readonly string[] = []) {
    super(message);
    this.name = 'Alarm';
    this.kind = kind;
    this.notes = notes;
  }
}

export interface Looked extends KeptNote {
  readonly before: TreeHead | undefined;
  /** True when the log signs with a new key that its DID document names. */
  readonly hasNewKey: boolean;
}

/**
 * Looks at a log once, and keeps its note when all is well.
 *
 * @throws Alarm when the log contradicts what it has said before
 * @throws Unreachable
 */
export async function lookAt(log: WatchedLog, notes: KeptNotes, network: Network): Promise<Looked> {
  const note = await readTextAt(`${log.url}/checkpoint`, network).catch((error: unknown) => {
    const kept = notes.find(log.origin);
    if (!kept || !(error instanceof Unreachable && error.isMissing)) throw error;
    throw new Alarm('gone', `${log.url} had ${kept.head.size} leaves, and is not there any more.`, [
      kept.note,
    ]);
  });
  return notes.inTurn(log.origin, async () => {
    const before = notes.find(log.origin);
    const known = log.pinned.length > 0 ? log.pinned : notes.keysOf(log.origin);
    const isFirst = known.length === 0;
    const keys = isFirst ? await keysOfDid(log, network) : known;
    const verified = await verifyLogNote(note, { log, keys, network });
    const { head } = verified;
    if (before) await compare(log, { head, note }, before, network);
    else if (!(await servesTree(log.url, head, network))) throw notServed(log, note);
    notes.keep({ head, note });
    if (isFirst || verified.newKey) notes.keepKeys(log.origin, [...keys, ...(verified.newKey ?? [])]);
    return { head, note, before: before?.head, hasNewKey: verified.newKey !== undefined };
  });
}

/** Compares the note of a log with one that was seen before or elsewhere. @throws Alarm when both cannot be true */
export async function compare(
  log: Pick<WatchedLog, 'url'>,
  { head, note }: KeptNote,
  other: KeptNote,
  network: Network,
): Promise<void> {
  const notes = [other.note, note];
  if (head.size === other.head.size && !areEqual(head.root, other.head.root))
    throw new Alarm('fork', `Two trees of ${head.size} leaves have different roots.`, notes);
  if (head.size < other.head.size)
    throw new Alarm('rollback', `The log has ${head.size} leaves, and had ${other.head.size}.`, notes);
  const relation = await relationOf(log.url, [other.head, head], network);
  if (relation === 'tiles') throw notServed(log, note);
  if (relation === 'fork')
    throw new Alarm(
      'fork',
      `The tree of ${head.size} leaves does not begin with that of ${other.head.size}.`,
      notes,
    );
}

const notServed = ({ url }: Pick<WatchedLog, 'url'>, note: string) =>
  new Alarm('tiles', `The tiles of ${url} do not make the tree that its checkpoint says.`, [note]);

interface Verifying {
  readonly log: WatchedLog;
  readonly keys: readonly NoteKey[];
  readonly network: Network;
}

async function verifyLogNote(
  text: string,
  { log, keys, network }: Verifying,
): Promise<{ head: TreeHead; newKey?: readonly NoteKey[] }> {
  const note = readNote(text);
  const head = note && readCheckpointText(note.text);
  if (!note || !head)
    throw new Alarm('bad_signature', `${log.url}/checkpoint is not a signed checkpoint.`, [text]);
  if (head.origin !== log.origin)
    throw new Alarm('origin_changed', `The log calls itself ${head.origin}, and not ${log.origin}.`, [text]);
  const verdict = verifyNote(note, keys, verifyEd25519);
  if (verdict.ok) return { head };
  const isOtherKey = note.signatures.some(({ name }) => name === log.origin);
  if (verdict.reason === 'bad_signature' || !isOtherKey)
    throw new Alarm('bad_signature', 'The log has not signed its checkpoint.', [text]);
  const published = log.pinned.length > 0 ? [] : await keysOfDid(log, network);
  const verified = verifyNote(note, published, verifyEd25519);
  if (!verified.ok)
    throw new Alarm('key_changed', `The checkpoint is signed with a key that ${log.didUrl} does not name.`, [
      text,
    ]);
  return { head, newKey: verified.signatures.map(({ key }) => key) };
}

/** The Ed25519 keys of a service, under the name of its log. */
async function keysOfDid({ didUrl, origin }: WatchedLog, network: Network): Promise<NoteKey[]> {
  const text = await readTextAt(didUrl, network);
  const keys = jwksIn(text).flatMap(({ kty, crv, x }) => {
    const publicKey = typeof x === 'string' ? Buffer.from(x, 'base64url') : undefined;
    const isKey = kty === 'OKP' && crv === 'Ed25519' && publicKey?.length === 32;
    return isKey ? [noteKey(origin, { type: LOG_KEY, publicKey }, sha256)] : [];
  });
  if (keys.length === 0) throw new Unreachable(`${didUrl} names no Ed25519 key.`);
  return keys;
}

function jwksIn(text: string): Record<string, unknown>[] {
  try {
    const { verificationMethod } = Object(JSON.parse(text));
    const methods: unknown[] = Array.isArray(verificationMethod) ? verificationMethod : [];
    return methods.map((method) => Object(Object(method).publicKeyJwk));
  } catch {
    return []; // the caller says that there is no key
  }
}
