import { compareBytes, type Digest, digestsOf, leafOfDigests } from '../audit-parts.ts';
import { decodeBase64url, encodeBase64url } from '../base64url.ts';
import { parseJson } from '../json.ts';
import type { PlacedLeaf } from '../receipt-proof.ts';
import { decodeBase64 } from '../signed-note.ts';
import { isObject, type Receipt, type ShownEntry, type WithheldEntry } from './read.ts';

/** The facts of an entry that cannot be hidden. */
export interface EntryFacts {
  readonly action: string;
  readonly agentDid: string | null;
  readonly agentId: string | null;
  readonly developerId: string;
  readonly grantId: string | null;
  readonly id: string;
  readonly purpose: string | null;
  readonly seq: number;
  readonly status: string;
  readonly timestamp: string;
}

/** An entry as its parts show it. */
export interface ReceiptEntry extends EntryFacts {
  readonly index: number;
  /** Undefined where it is hidden. */
  readonly principalId: string | null | undefined;
  /** The members that are shown. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How many members of the metadata are hidden. */
  readonly hidden: number;
}

/** The entries of a receipt, of which each that is shown has its leaf. */
export interface ReadEntries {
  readonly entries: readonly ReceiptEntry[];
  /** The number of entries of which only the leaf is left. */
  readonly withheld: number;
  /** Ascending by index. */
  readonly leaves: readonly PlacedLeaf[];
}

/**
 * Reads the entries, and computes their leaves. The caller proves the leaves.
 *
 * @returns the index of the first entry whose parts break a rule, in place of the entries
 */
export function readEntries({ entries }: Receipt, sha256: Digest): ReadEntries | { readonly faulty: number } {
  const read: ReceiptEntry[] = [];
  const leaves: PlacedLeaf[] = [];
  for (const entry of entries) {
    const { index } = entry;
    if (isWithheld(entry)) {
      leaves.push({ index, hash: decodeBase64(entry.leafHash) ?? new Uint8Array() });
      continue;
    }
    const digests = digestsOf(entry.parts, sha256);
    const shown = readEntry(entry, digests);
    if (!shown) return { faulty: index };
    read.push(shown);
    leaves.push({ index, hash: leafOfDigests(entry.hash, digests, sha256) });
  }
  return { entries: read, withheld: entries.length - read.length, leaves };
}

export const isWithheld = (entry: ShownEntry | WithheldEntry): entry is WithheldEntry => 'leafHash' in entry;

/** A part with its name; undefined for a text that is none. */
export function readPart(text: string): { readonly name: string; readonly value: unknown } | undefined {
  const bytes = decodeBase64url(text);
  if (!bytes) return undefined;
  try {
    const part = parseJson(bytes, bytes.length);
    if (!Array.isArray(part) || part.length !== 3) return undefined;
    const [salt, name, value] = part;
    if (typeof salt !== 'string' || typeof name !== 'string') return undefined;
    return /^(?:[A-Za-z0-9_-]{22})?$/.test(salt) ? { name, value } : undefined;
  } catch {
    return undefined; // JsonError
  }
}

export const isHidden = (part: string): boolean => part.startsWith('#');

/** A part or its digest, as the digest. */
export const digestOfPart = (part: string, sha256: Digest): string =>
  isHidden(part) ? part.slice(1) : encodeBase64url(sha256(new TextEncoder().encode(part)));

const OF_METADATA = 'metadata.';

/**
 * The first part has the entry's own facts, and the second the principal. The others are members of the metadata, each
 * once, in the order of their digests.
 */
function readEntry({ index, parts }: ShownEntry, digests: readonly Uint8Array[]): ReceiptEntry | undefined {
  const [own, principal, ...others] = parts;
  if (own === undefined || principal === undefined || !areOrdered(digests.slice(2))) return undefined;
  const facts = readPart(own);
  if (facts?.name !== 'entry/1' || !areFacts(facts.value) || facts.value.seq !== index + 1) return undefined;
  const person = isHidden(principal) ? undefined : readPart(principal);
  if (!isHidden(principal) && (person?.name !== 'principalId' || !isTextOrNull(person.value)))
    return undefined;
  const metadata: Record<string, unknown> = Object.create(null);
  for (const part of others) {
    if (isHidden(part)) continue;
    const member = readPart(part);
    if (!member?.name.startsWith(OF_METADATA)) return undefined;
    const name = member.name.slice(OF_METADATA.length);
    if (name in metadata) return undefined;
    metadata[name] = member.value;
  }
  const hidden = others.filter(isHidden).length;
  const principalId = person?.value as ReceiptEntry['principalId']; // looked at above
  return { ...facts.value, index, principalId, metadata, hidden };
}

/** Each digest is greater than the one before, so none is there twice. */
const areOrdered = (digests: readonly Uint8Array[]) =>
  digests.every((digest, at) => at === 0 || compareBytes(digests[at - 1] ?? digest, digest) < 0);

const NULLABLE = ['agentDid', 'agentId', 'grantId', 'purpose'];
const TEXTS = ['action', 'developerId', 'id', 'status', 'timestamp'];

function areFacts(value: unknown): value is EntryFacts {
  if (!isObject(value) || Object.keys(value).length !== NULLABLE.length + TEXTS.length + 1) return false;
  const areTexts = TEXTS.every((name) => typeof value[name] === 'string');
  return areTexts && NULLABLE.every((name) => isTextOrNull(value[name])) && Number.isSafeInteger(value.seq);
}

const isTextOrNull = (value: unknown) => value === null || typeof value === 'string';
