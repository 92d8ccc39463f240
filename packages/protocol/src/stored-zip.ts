import { joinBytes } from './bytes.ts';

/**
 * An archive of members that are stored as they are, in one fixed form: no time, no comment, no attribute. So the same
 * members give the same bytes, and a reader can demand these very bytes. Any program that reads ZIP reads it. No archive,
 * and no member, has 4 GiB or more.
 *
 * @see APPNOTE 6.3.3, §4.3.7 (local header), §4.3.9 (data descriptor), §4.3.12 (central directory), §4.3.16 (its end)
 */
export interface ZipWriter {
  /** The bytes before the first byte of a member. */
  open(name: string): Uint8Array;
  /** Takes note of bytes of the open member, which the caller sends as they are. */
  take(bytes: Uint8Array): void;
  /** The bytes after the last byte of the open member. */
  close(): Uint8Array;
  /** The bytes after all members. */
  end(): Uint8Array;
}

interface Member {
  readonly name: Uint8Array;
  readonly offset: number;
  crc: number;
  size: number;
}

const LOCAL = { signature: 0x04034b50, length: 30 };
const CENTRAL = { signature: 0x02014b50, length: 46 };
const END = { signature: 0x06054b50, length: 22 };
const DESCRIPTOR = { signature: 0x08074b50, length: 16 };
const VERSION = 20;
/** The sizes follow the member (bit 3), and names are UTF-8 (bit 11). */
const FLAGS = 0x0808;
/** 1980-01-01, the first day that the format knows. */
const DATE = 0x21;
const MAX_BYTES = 0xffff_ffff;

export function beginZip(): ZipWriter {
  const members: Member[] = [];
  let length = 0;
  const written = (bytes: Uint8Array) => {
    length += bytes.length;
    if (length > MAX_BYTES) throw new RangeError('The archive has more than 4 GiB.');
    return bytes;
  };
  const last = () => {
    const member = members.at(-1);
    if (!member) throw new Error('No member is open.');
    return member;
  };
  return {
    open(name) {
      const member = { name: new TextEncoder().encode(name), offset: length, crc: 0, size: 0 };
      members.push(member);
      return written(headerOf(LOCAL, member, { crc: 0, size: 0 }));
    },
    take(bytes) {
      const member = last();
      member.crc = crc32(bytes, member.crc);
      member.size += bytes.length;
      written(bytes);
    },
    close() {
      const { crc, size } = last();
      const { bytes, view } = record(DESCRIPTOR);
      view.setUint32(4, crc, true);
      view.setUint32(8, size, true);
      view.setUint32(12, size, true);
      return written(bytes);
    },
    end() {
      const directory = members.map((member) => headerOf(CENTRAL, member, member));
      const size = directory.reduce((sum, { length: one }) => sum + one, 0);
      const { bytes, view } = record(END);
      view.setUint16(8, members.length, true);
      view.setUint16(10, members.length, true);
      view.setUint32(12, size, true);
      view.setUint32(16, length, true);
      return written(joinBytes([...directory, bytes]));
    },
  };
}

/** A header of a member, in its place or in the directory. */
function headerOf(kind: typeof LOCAL, { name, offset }: Member, { crc, size }: Pick<Member, 'crc' | 'size'>) {
  const { bytes, view } = record(kind, name.length);
  const isCentral = kind === CENTRAL;
  if (isCentral) view.setUint16(4, VERSION, true);
  const at = isCentral ? 6 : 4;
  view.setUint16(at, VERSION, true);
  view.setUint16(at + 2, FLAGS, true);
  view.setUint16(at + 8, DATE, true);
  view.setUint32(at + 10, crc, true);
  view.setUint32(at + 14, size, true);
  view.setUint32(at + 18, size, true);
  view.setUint16(at + 22, name.length, true);
  if (isCentral) view.setUint32(42, offset, true);
  bytes.set(name, kind.length);
  return bytes;
}

/**
 * Reads an archive of this form. @returns its members in their order; undefined for any other bytes, though another
 * program may read them
 */
export function readZip(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - END.length;
  if (end < 0 || view.getUint32(end, true) !== END.signature) return undefined;
  const members = new Map<string, Uint8Array>();
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (at + CENTRAL.length > end) return undefined;
    const [size, nameLength] = [view.getUint32(at + 24, true), view.getUint16(at + 28, true)];
    const from = view.getUint32(at + 42, true) + LOCAL.length + nameLength;
    const nameAt = at + CENTRAL.length;
    members.set(
      new TextDecoder().decode(bytes.subarray(nameAt, nameAt + nameLength)),
      bytes.subarray(from, from + size),
    );
    at = nameAt + nameLength;
  }
  return isWritten(bytes, members) ? members : undefined;
}

/** Whether a writer makes these bytes of these members. */
function isWritten(bytes: Uint8Array, members: ReadonlyMap<string, Uint8Array>): boolean {
  const zip = beginZip();
  let at = 0;
  const isNext = (part: Uint8Array) => {
    const isSame = part.every((byte, index) => bytes[at + index] === byte);
    at += part.length;
    return isSame;
  };
  for (const [name, content] of members) {
    if (!isNext(zip.open(name)) || content.byteOffset - bytes.byteOffset !== at) return false;
    zip.take(content);
    at += content.length;
    if (!isNext(zip.close())) return false;
  }
  return isNext(zip.end()) && at === bytes.length;
}

function record({ signature, length }: typeof LOCAL, more = 0) {
  const bytes = new Uint8Array(length + more);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  return { bytes, view };
}

const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb8_8320 : rest >>> 1;
  return rest;
});

/** @see ISO 3309 @param before the value of the bytes before these */
function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ (REMAINDERS[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}
