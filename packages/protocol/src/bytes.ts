/** Byte strings one after another. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += part.length;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const utf8 = new TextEncoder();

/** The UTF-8 of a text. Most texts are ASCII and short, and a call of the encoder takes longer than these. */
export function bytesOfText(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) return utf8.encode(text);
    bytes[at] = code;
  }
  return bytes;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Lower-case hex. */
export function hexOfBytes(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Reads hex, of which the caller knows that it is hex. */
export function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1)
    bytes[at] = digitOf(text.charCodeAt(at * 2)) * 16 + digitOf(text.charCodeAt(at * 2 + 1));
  return bytes;
}

/** Bit 6 is that of letters, whose last bits count from 1. */
const digitOf = (code: number) => (code & 15) + (code >> 6) * 9;
