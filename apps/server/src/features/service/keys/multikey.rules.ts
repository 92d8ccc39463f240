import { base58 } from '@scure/base';

/** `z` means base58. @see https://www.w3.org/TR/cid-1.0/#multibase-0 */
export const multibase = (bytes: Uint8Array): string => `z${base58.encode(bytes)}`;

/** The bytes of a multibase text in base58. @returns undefined for any other text, and for one above 200 digits */
const bytesOf = (text: string): Buffer | undefined =>
  /^z[1-9A-HJ-NP-Za-km-z]{1,200}$/.test(text) ? Buffer.from(base58.decode(text.slice(1))) : undefined;

/** The kinds of keys, with the varint of their multicodec and their length in bytes. */
const KINDS = [
  { kind: 'Ed25519', prefix: [0xed, 0x01], length: 32 },
  { kind: 'X25519', prefix: [0xec, 0x01], length: 32 },
  { kind: 'P-256', prefix: [0x80, 0x24], length: 33 },
  { kind: 'P-384', prefix: [0x81, 0x24], length: 49 },
  { kind: 'secp256k1', prefix: [0xe7, 0x01], length: 33 },
] as const;

export interface Multikey {
  readonly kind: (typeof KINDS)[number]['kind'];
  readonly publicKey: Buffer;
}

/** @see https://www.w3.org/TR/cid-1.0/#Multikey */
export const ed25519Multikey = (publicKey: Uint8Array): string =>
  multibase(Buffer.from([...KINDS[0].prefix, ...publicKey]));

/** @returns undefined for a text that is no public key of these kinds */
export function readMultikey(text: string): Multikey | undefined {
  const bytes = bytesOf(text);
  const found = KINDS.find(
    ({ prefix, length }) =>
      bytes?.length === prefix.length + length && bytes[0] === prefix[0] && bytes[1] === prefix[1],
  );
  return bytes && found && { kind: found.kind, publicKey: bytes.subarray(found.prefix.length) };
}
