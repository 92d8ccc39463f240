import type { Digest } from './audit-parts.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { bytesOfHex, hexOfBytes, joinBytes } from './bytes.ts';
import { HASH_BYTES } from './merkle.ts';

/** What a checkpoint says: this log, with so many leaves, has this root. */
export interface TreeHead {
  /** The log's own name, which is also the name of its key. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** A signature line of a note. */
export interface NoteSignature {
  readonly name: string;
  /** Eight digits of lower-case hex. */
  readonly keyId: string;
  /** For a key of type `LOG_KEY` the signature; for one of `WITNESS_KEY` eight bytes of time before it. */
  readonly bytes: Uint8Array;
}

/** A text with the signatures below it. */
export interface SignedNote {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A log signs the text itself. */
export const LOG_KEY = 1;
/** A witness signs the text with the time at which it saw it. */
export const WITNESS_KEY = 4;

/** A public Ed25519 key with its name, as a vkey writes it. */
export interface NoteKey {
  readonly name: string;
  readonly type: typeof LOG_KEY | typeof WITNESS_KEY;
  readonly keyId: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

export type VerifyEd25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/** A signature that holds. */
export interface VerifiedSignature {
  readonly key: NoteKey;
  /** Of a witness, in seconds. */
  readonly time?: number;
}

export type NoteVerdict =
  | { readonly ok: true; readonly signatures: readonly VerifiedSignature[] }
  | { readonly ok: false; readonly reason: 'bad_signature' | 'no_known_key' };

/** An inclusion proof with the checkpoint to which it leads. */
export interface TlogProof {
  readonly index: number;
  readonly proof: readonly Uint8Array[];
  readonly note: string;
}

/** What a log sends to its witness. */
export interface AddCheckpoint {
  /** The size that the witness confirmed last. */
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
  readonly note: string;
}

const NOTE_BYTES = 64 * 1024;
const NOTE_SIGNATURES = 100;
const PROOF_LINES = 63; // C2SP tlog-witness, add-checkpoint
const PROOF_BYTES = NOTE_BYTES + 8 * 1024;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
const TLOG_PROOF = 'c2sp.org/tlog-proof@v1';

const utf8 = new TextEncoder();

/**
 * The text of a checkpoint, which the log signs.
 *
 * @see https://c2sp.org/tlog-checkpoint
 */
export const checkpointText = ({ origin, size, root }: TreeHead): string =>
  `${origin}\n${size}\n${encodeBase64(root)}\n`;

/** Reads the text of a checkpoint. Lines after the third are ignored. */
export function readCheckpointText(text: string): TreeHead | undefined {
  const [origin, digits, hash, ...more] = text.split('\n');
  const size = readNumber(digits);
  const root = readHash(hash);
  if (!origin || size === undefined || !root || more.length === 0 || more.pop() !== '') return undefined;
  return more.includes('') ? undefined : { origin, size, root };
}

/**
 * The first four bytes of the hash over a key and its name, as hex.
 *
 * @see https://c2sp.org/signed-note
 */
export function keyIdOf(name: string, type: number, publicKey: Uint8Array, sha256: Digest): string {
  const hash = sha256(joinBytes([utf8.encode(`${name}\n`), new Uint8Array([type]), publicKey]));
  return hexOfBytes(hash.subarray(0, 4));
}

export function noteKey(
  name: string,
  { type, publicKey }: Pick<NoteKey, 'type' | 'publicKey'>,
  sha256: Digest,
): NoteKey {
  return { name, type, publicKey, keyId: keyIdOf(name, type, publicKey, sha256) };
}

/** `<name>+<key id>+<base64 of type and key>`. */
export const vkeyOf = ({ name, keyId, type, publicKey }: NoteKey): string =>
  `${name}+${keyId}+${encodeBase64(joinBytes([new Uint8Array([type]), publicKey]))}`;

/**
 * Reads a vkey of an Ed25519 key.
 *
 * @returns undefined for another type, or when the id is not that of the key
 */
export function readVkey(text: string, sha256: Digest): NoteKey | undefined {
  if (text.length > 1024) return undefined;
  // Base64 has plus signs of its own, names have none.
  const [name, keyId, ...rest] = text.split('+');
  const bytes = decodeBase64(rest.join('+'));
  const type = bytes?.[0];
  if (!name || !isKeyName(name) || bytes?.length !== 33) return undefined;
  if (type !== LOG_KEY && type !== WITNESS_KEY) return undefined;
  const key = noteKey(name, { type, publicKey: bytes.subarray(1) }, sha256);
  return key.keyId === keyId ? key : undefined;
}

/** A signature line, with its line feed. */
export const signatureLine = ({ name, keyId, bytes }: NoteSignature): string =>
  `— ${name} ${encodeBase64(joinBytes([bytesOfHex(keyId), bytes]))}\n`;

/** A text with its signatures. The text ends with a line feed. */
export const writeNote = ({ text, signatures }: SignedNote): string =>
  `${text}\n${signatures.map(signatureLine).join('')}`;

/**
 * Reads a note, and verifies nothing.
 *
 * @returns undefined when the text is no note, or has over 64 KiB or over 100 signatures
 */
export function readNote(note: string): SignedNote | undefined {
  if (!isText(note, NOTE_BYTES)) return undefined;
  const end = note.lastIndexOf('\n\n');
  if (end < 0) return undefined;
  const signatures = readSignatures(note.slice(end + 2));
  return signatures && { text: note.slice(0, end + 1), signatures };
}

/** Reads signature lines, such as a witness answers. At least one, at most 100. */
export function readSignatures(text: string): NoteSignature[] | undefined {
  if (!isText(text, NOTE_BYTES) || !text.endsWith('\n')) return undefined;
  const lines = text.slice(0, -1).split('\n', NOTE_SIGNATURES + 1);
  if (lines.length > NOTE_SIGNATURES) return undefined;
  const read = lines.map(readSignature);
  return read.every((signature) => signature !== undefined) ? read : undefined;
}

/**
 * Verifies the signatures of the given keys. Those of other keys are ignored, as C2SP demands; one that does not hold
 * refuses the note.
 */
export function verifyNote(
  { text, signatures }: SignedNote,
  keys: readonly NoteKey[],
  verify: VerifyEd25519,
): NoteVerdict {
  const verified = new Map<NoteKey, VerifiedSignature>();
  for (const signature of signatures) {
    const key = keys.find(({ name, keyId }) => name === signature.name && keyId === signature.keyId);
    if (!key) continue;
    const found = verifySignature(text, signature, { key, verify });
    if (!found) return { ok: false, reason: 'bad_signature' };
    if (!verified.has(key)) verified.set(key, found);
  }
  return verified.size > 0
    ? { ok: true, signatures: [...verified.values()] }
    : { ok: false, reason: 'no_known_key' };
}

/** Verifies one signature over a text by the key that it names. */
export function verifySignature(
  text: string,
  { bytes }: NoteSignature,
  { key, verify }: { readonly key: NoteKey; readonly verify: VerifyEd25519 },
): VerifiedSignature | undefined {
  if (key.type === LOG_KEY) {
    const holds = bytes.length === SIGNATURE_BYTES && verify(key.publicKey, utf8.encode(text), bytes);
    return holds ? { key } : undefined;
  }
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined;
  const time = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  if (!Number.isSafeInteger(time)) return undefined;
  const holds = verify(key.publicKey, cosignatureMessage(time, text), bytes.subarray(TIME_BYTES));
  return holds ? { key, time } : undefined;
}

/**
 * What a witness signs.
 *
 * @param time in seconds
 * @see https://c2sp.org/tlog-cosignature
 */
export const cosignatureMessage = (time: number, text: string): Uint8Array =>
  utf8.encode(`cosignature/v1\ntime ${time}\n${text}`);

/** The bytes of a witness's signature line: the time, and the signature over `cosignatureMessage`. */
export function cosignatureBytes(time: number, signature: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(TIME_BYTES + signature.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(time));
  bytes.set(signature, TIME_BYTES);
  return bytes;
}

/** @see https://c2sp.org/tlog-proof */
export const writeTlogProof = ({ index, proof, note }: TlogProof): string =>
  `${TLOG_PROOF}\nindex ${index}\n${proofLines(proof)}\n${note}`;

/** Reads an inclusion proof, and verifies nothing. A line `extra` is ignored, since nothing binds it. */
export function readTlogProof(text: string): TlogProof | undefined {
  const parts = readProofParts(text);
  if (parts?.head.shift() !== TLOG_PROOF) return undefined;
  if (parts.head[0]?.startsWith('extra ')) parts.head.shift();
  const index = readNumber(parts.head.shift(), 'index ');
  const proof = readProof(parts.head);
  return index === undefined || !proof ? undefined : { index, proof, note: parts.note };
}

/** @see https://c2sp.org/tlog-witness */
export const writeAddCheckpoint = ({ oldSize, proof, note }: AddCheckpoint): string =>
  `old ${oldSize}\n${proofLines(proof)}\n${note}`;

/** Reads what a log sends to a witness, and verifies nothing. */
export function readAddCheckpoint(body: string): AddCheckpoint | undefined {
  const parts = readProofParts(body);
  const oldSize = readNumber(parts?.head.shift(), 'old ');
  const proof = parts && readProof(parts.head);
  return oldSize === undefined || !proof ? undefined : { oldSize, proof, note: parts.note };
}

/** Encodes bytes as base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encodeBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** Decodes base64 as strictly as `decodeBase64url`, and with its padding. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const unpadded = text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
  const bytes = decodeBase64url(unpadded.replaceAll('+', '-').replaceAll('/', '_'));
  return bytes && encodeBase64(bytes) === text ? bytes : undefined;
}

function readSignature(line: string): NoteSignature | undefined {
  const [dash, name, signature, ...more] = line.split(' ');
  const bytes = decodeBase64(signature ?? '');
  if (dash !== '—' || !name || !isKeyName(name) || more.length > 0 || !bytes || bytes.length < 5)
    return undefined;
  return { name, keyId: hexOfBytes(bytes.subarray(0, 4)), bytes: bytes.subarray(4) };
}

/** The lines before the first empty one, and the note after it. */
function readProofParts(text: string): { head: string[]; note: string } | undefined {
  if (!isText(text, PROOF_BYTES)) return undefined;
  const end = text.indexOf('\n\n');
  return end < 0 ? undefined : { head: text.slice(0, end).split('\n'), note: text.slice(end + 2) };
}

function readProof(lines: readonly string[]): Uint8Array[] | undefined {
  if (lines.length > PROOF_LINES) return undefined;
  const hashes = lines.map(readHash);
  return hashes.every((hash) => hash !== undefined) ? hashes : undefined;
}

const proofLines = (proof: readonly Uint8Array[]) => proof.map((hash) => `${encodeBase64(hash)}\n`).join('');

function readHash(text: string | undefined): Uint8Array | undefined {
  const bytes = decodeBase64(text ?? '');
  return bytes?.length === HASH_BYTES ? bytes : undefined;
}

/** A number in the one way of writing it. */
function readNumber(text: string | undefined, prefix = ''): number | undefined {
  const number = text?.startsWith(prefix) ? Number(text.slice(prefix.length)) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 && `${prefix}${number}` === text ? number : undefined;
}

/** Notes are well-formed text with line feeds, but no other control character. */
const isText = (text: string, most: number) =>
  text.length <= most && utf8.encode(text).length <= most && text.isWellFormed() && !CONTROLS.test(text);

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a note must not have
const CONTROLS = /[\0-\x09\x0b-\x1f]/;

const isKeyName = (name: string) => !/[\s+]/u.test(name);
