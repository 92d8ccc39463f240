const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const NO_DIGIT = 64;

/** The value of each ASCII character; `NO_DIGIT` outside the alphabet. */
const digits = new Uint8Array(128).fill(NO_DIGIT);
for (const [value, character] of [...ALPHABET].entries()) digits[character.charCodeAt(0)] = value;

const CODES = new TextEncoder().encode(ALPHABET);
const ascii = new TextDecoder();
const SHORT = 64; // a call of the decoder takes longer than these

/**
 * Decodes base64url strictly: no padding, no white space, no character of the other alphabet, and no unused bit
 * set. Each sequence of bytes has one text, so a token cannot be changed without a change of its bytes.
 *
 * @returns undefined when the text is not strict base64url
 * @see RFC 4648, sections 3.5 and 5; RFC 7515, section 2
 */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined; // six bits are no byte
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [buffer, bits, at] = [0, 0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const digit = digits[text.charCodeAt(index)] ?? NO_DIGIT;
    if (digit === NO_DIGIT) return undefined;
    buffer = ((buffer << 6) | digit) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = buffer >> bits;
    at += 1;
  }
  const unused = buffer & ((1 << bits) - 1);
  return unused === 0 ? bytes : undefined;
}

/** Encodes bytes as base64url without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const text = base64urlBytes(bytes);
  return text.length > SHORT ? ascii.decode(text) : Reflect.apply(String.fromCharCode, null, text);
}

/** The same, as the bytes of the text. */
export function base64urlBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  let at = 0;
  for (let index = 0; index < bytes.length; index += 3) {
    const three = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    text[at] = CODES[three >> 18] ?? 0;
    text[at + 1] = CODES[(three >> 12) & 63] ?? 0;
    text[at + 2] = CODES[(three >> 6) & 63] ?? 0; // beyond the end nothing is written
    text[at + 3] = CODES[three & 63] ?? 0;
    at += 4;
  }
  return text;
}
