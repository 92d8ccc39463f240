import { isDeepStrictEqual } from 'node:util';
import type { AuditEntry } from '@behest/protocol/audit-chain';
import { auditLine } from '@behest/protocol/audit-line';
import { leafOf, partsOf } from '@behest/protocol/audit-parts';
import { extendTiles, rootOf, tilesByKey } from '@behest/protocol/merkle-tiles';
import { type Copy, sha256 } from './outsider.ts';

/** Numbers from 0 to below `most`. The same seed gives the same ones. */
export type Random = (most: number) => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (most) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most);
  };
}

const oneOf = <Value>(values: readonly Value[], random: Random): Value => {
  const value = values[random(values.length)];
  if (value === undefined) throw new Error('There is nothing to choose from.');
  return value;
};

/** Changes one thing of JSON, anywhere in it. */
function editedJson(value: unknown, random: Random): unknown {
  if (typeof value === 'string') return editedText(value, random);
  if (typeof value === 'number') return value + oneOf([-1, 1, 1000], random);
  if (typeof value === 'boolean') return !value;
  if (value === null || value === undefined) return oneOf([0, '', 'x', false, {}], random);
  const isInside = random(8) > 0;
  if (Array.isArray(value)) {
    const at = random(value.length || 1);
    if (value.length > 0 && isInside) return value.with(at, editedJson(value[at], random));
    const swapped = value.toSpliced(at, 1).toSpliced(random(value.length || 1), 0, value[at]);
    return oneOf([value.toSpliced(at, 1), [...value, value[at] ?? 'x'], swapped], random);
  }
  const members = Object.entries(value);
  if (members.length > 0 && isInside) {
    const [name, inner] = oneOf(members, random);
    return { ...value, [name]: editedJson(inner, random) };
  }
  if (members.length === 0 || random(2) === 0) return { ...value, [`x${random(1000)}`]: 1 };
  const [gone] = oneOf(members, random);
  return Object.fromEntries(members.filter(([name]) => name !== gone));
}

function editedText(text: string, random: Random): string {
  const at = random(text.length + 1);
  const letter = oneOf([...'abcXYZ0189-_=+/ é'], random);
  return oneOf(
    [
      text.slice(0, at) + letter + text.slice(at + 1),
      text.slice(0, at) + letter + text.slice(at),
      text.slice(0, -1),
    ],
    random,
  );
}

/** The members of an entry that its hash covers. */
const HASHED = [
  ...['id', 'seq', 'developerId', 'agentId', 'agentDid', 'grantId', 'principalId', 'action', 'status'],
  ...['metadata', 'purpose', 'timestamp', 'prevHash', 'hash', 'salt'],
] as const;

function editedEntry(entry: AuditEntry, random: Random): AuditEntry {
  const name = oneOf(HASHED, random);
  return { ...entry, [name]: editedJson(entry[name as keyof AuditEntry], random) };
}

/** The chain of these entries, each hash made anew, as somebody writes who has the database. */
export function rechained(entries: readonly AuditEntry[]): AuditEntry[] {
  let prevHash: string | null = null;
  return entries.map((entry, at) => {
    const linked = { ...entry, seq: at + 1, prevHash };
    const hash = Buffer.from(sha256(Buffer.from(auditLine(linked)))).toString('hex');
    prevHash = hash;
    return { ...linked, hash };
  });
}

/** The log of these entries, with a note whose size and root fit, and whose signature cannot. */
export function relogged(entries: readonly AuditEntry[], note: string): Pick<Copy, 'tiles' | 'note'> {
  const leaves = entries.map((entry) => leafOf(entry.hash, partsOf(entry, sha256), sha256));
  const tiles = extendTiles({ size: 0, edge: new Map(), leaves }, sha256);
  const root = rootOf({ start: 0, end: leaves.length }, tilesByKey(tiles), sha256);
  const [origin, , , ...rest] = note.split('\n');
  return { tiles, note: [origin, leaves.length, Buffer.from(root).toString('base64'), ...rest].join('\n') };
}

type Edit = (copy: Copy, random: Random) => Partial<Copy>;

const at = <Value>(values: readonly Value[], random: Random, edit: (value: Value) => Value): Value[] => {
  const index = random(values.length);
  return values.map((value, place) => (place === index ? edit(value) : value));
};

function changedEntries(entries: readonly AuditEntry[], random: Random): AuditEntry[] {
  const index = random(entries.length);
  const entry = oneOf(entries, random);
  return oneOf<() => AuditEntry[]>(
    [
      () => at(entries, random, (one) => editedEntry(one, random)),
      () => entries.toSpliced(index, 1),
      () => entries.toSpliced(index, 0, entry),
      () => entries.slice(0, index),
      () => entries.with(index, entry).with(entries.indexOf(entry), entries[index] ?? entry),
    ],
    random,
  )();
}

const onReceipt =
  (edit: (receipt: Record<string, unknown>, random: Random, copy: Copy) => unknown): Edit =>
  (copy, random) => ({
    receipts: at(copy.receipts, random, (text) => JSON.stringify(edit(JSON.parse(text), random, copy))),
  });

/** What somebody may do to a copy, by name. */
export const edits: Readonly<Record<string, Edit>> = {
  rows: ({ entries }, random) => ({ entries: changedEntries(entries, random) }),
  'a member of a row': ({ entries }, random) => ({
    entries: at(entries, random, (one) => editedEntry(one, random)),
  }),
  'rows and their hashes': ({ entries }, random) => ({ entries: rechained(changedEntries(entries, random)) }),
  'rows, hashes, tiles and root': ({ entries, note }, random) => {
    const changed = rechained(changedEntries(entries, random));
    return { entries: changed, ...relogged(changed, note) };
  },
  'a byte of a tile': ({ tiles }, random) => ({
    tiles: at(tiles, random, (tile) => {
      const hashes = Uint8Array.from(tile.hashes);
      const place = random(hashes.length);
      hashes[place] = (hashes[place] ?? 0) ^ (1 << random(8));
      return { ...tile, hashes };
    }),
  }),
  'a shorter, missing or moved tile': ({ tiles }, random) => {
    const other = oneOf(tiles, random);
    return oneOf<() => Partial<Copy>>(
      [
        () => ({ tiles: at(tiles, random, (tile) => ({ ...tile, hashes: tile.hashes.subarray(32) })) }),
        () => ({ tiles: tiles.toSpliced(random(tiles.length), 1) }),
        () => ({ tiles: at(tiles, random, (tile) => ({ ...tile, hashes: other.hashes })) }),
      ],
      random,
    )();
  },
  'the note': ({ note }, random) => ({ note: editedText(note, random) }),
  'a line of the note': ({ note }, random) => {
    const lines = note.split('\n');
    const index = random(lines.length - 1);
    return {
      note: oneOf([lines.toSpliced(index, 1), lines.toSpliced(index, 0, lines[0] ?? '')], random).join('\n'),
    };
  },
  'a member of a receipt': onReceipt((receipt, random) => editedJson(receipt, random)),
  'an entry of a receipt': onReceipt(({ entries, ...rest }, random) => ({
    ...rest,
    entries: editedJson(entries, random),
  })),
  'the statement of a receipt': onReceipt(({ statement, ...rest }, random, { receipts }) => ({
    ...rest,
    statement: oneOf(
      [editedText(String(statement), random), JSON.parse(oneOf(receipts, random)).statement],
      random,
    ),
  })),
  'entries that two receipts exchange': ({ receipts }, random) => {
    const read = receipts.map((text) => JSON.parse(text));
    const member = oneOf(
      ['entries', 'proof', 'consent', 'checkpoint', 'labels', 'keys', 'grantId', 'limits'],
      random,
    );
    const from = read[random(read.length)];
    return {
      receipts: at(receipts, random, (text) =>
        JSON.stringify({ ...JSON.parse(text), [member]: from[member] }),
      ),
    };
  },
  'a letter of the file of a receipt': ({ receipts }, random) => ({
    receipts: at(receipts, random, (text) => editedText(text, random)),
  }),
};

/** Whether an edit has changed nothing: it put a value in the place of the same one. */
export function isSame(one: Copy, other: Copy): boolean {
  const parsed = (texts: readonly string[]) => texts.map(parsedOr);
  return (
    one.note === other.note &&
    isDeepStrictEqual(bytesIn(one), bytesIn(other)) &&
    isDeepStrictEqual(one.entries, other.entries) &&
    isDeepStrictEqual(parsed(one.receipts), parsed(other.receipts))
  );
}

const bytesIn = ({ tiles }: Copy) =>
  tiles.map(({ hashes, level, index }) => [level, index, Buffer.from(hashes).toString('hex')]);

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
