import { badField } from '../../../platform/errors.ts';

/** The least contrast at which a text of the usual size can be read (WCAG 2.2, 1.4.3). */
const LEAST_CONTRAST = 4.5;

/**
 * An account's colour fills the button that a person presses, under white text, in light and in dark: nothing else of a
 * page has it. @throws BAD_REQUEST when that text could not be read, with the contrast
 */
export function mustBeReadable(colour: string): void {
  const contrast = Math.floor(contrastWithWhite(colour) * 100) / 100;
  if (contrast >= LEAST_CONTRAST) return;
  const measured = `White text on ${colour} has a contrast of ${contrast} : 1`;
  throw badField(
    'accentColor',
    'not_allowed',
    `${measured}, and needs ${LEAST_CONTRAST} : 1; choose a darker colour.`,
  );
}

/** As WCAG 2.2 defines it. @param colour such as "#0b5a68" */
export function contrastWithWhite(colour: string): number {
  const light = (at: number) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 1.05 / (0.2126 * light(1) + 0.7152 * light(3) + 0.0722 * light(5) + 0.05);
}

/** Bytes. */
const MAX_LOGO = 262_144;
/** Pixels. */
const MAX_SIDE = 1024;

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const HEADER = 13; // bytes
/** Length, type and checksum of a chunk, in bytes. */
const FRAME = 12;
/** The chunks that the pixels need. Texts, profiles and the further pictures of an animation are left out. */
const NEEDED = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

export interface PackedPicture {
  /** The file, with nothing beside the pixels. */
  readonly png: Uint8Array;
  /** The compressed pixels, and how many bytes they have to unpack to. */
  readonly packed: Uint8Array;
  readonly unpackedBytes: number;
}

/**
 * The part of a PNG that a decoder needs for its pixels. The size that the header names is judged before anything is
 * unpacked, since a small file may unpack to gigabytes. @throws BAD_REQUEST
 */
export function pictureIn(bytes: Buffer): PackedPicture {
  if (bytes.length > MAX_LOGO) throw refusedLogo(`A logo has at most ${MAX_LOGO} bytes.`);
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw refusedLogo('A logo has to be a PNG.');
  const kept: Buffer[] = [SIGNATURE];
  const packed: Buffer[] = [];
  let [type, unpackedBytes] = ['', 0];
  for (let at = SIGNATURE.length; type !== 'IEND'; ) {
    const end = at + FRAME + (at + FRAME > bytes.length ? 0 : bytes.readUInt32BE(at));
    if (end > bytes.length) throw refusedLogo('The PNG is cut off.');
    const isFirst = type === '';
    type = bytes.toString('latin1', at + 4, at + 8);
    if ((type === 'IHDR') !== isFirst) throw refusedLogo('The PNG has to begin with its one header.');
    const data = bytes.subarray(at + 8, end - 4);
    if (isFirst) unpackedBytes = bytesIn(data);
    if (type === 'IDAT') packed.push(data);
    if (NEEDED.has(type)) kept.push(bytes.subarray(at, end));
    at = end;
    if (type === 'IEND' && end !== bytes.length) throw refusedLogo('Something follows the end of the PNG.');
  }
  return { png: Buffer.concat(kept), packed: Buffer.concat(packed), unpackedBytes };
}

/** By the kind of a PNG's colour: the parts of a pixel, and the bits that a part may have (PNG, section 11.2.1). */
const COLOURS = new Map<number, { readonly parts: number; readonly depths: readonly number[] }>([
  [0, { parts: 1, depths: [1, 2, 4, 8, 16] }],
  [2, { parts: 3, depths: [8, 16] }],
  [3, { parts: 1, depths: [1, 2, 4, 8] }],
  [4, { parts: 2, depths: [8, 16] }],
  [6, { parts: 4, depths: [8, 16] }],
]);

/** How many bytes the pixels of a PNG with this header have: those of each row, and one before it. */
function bytesIn(header: Buffer): number {
  if (header.length !== HEADER) throw refusedLogo('The header of the PNG is not valid.');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (Math.min(width, height) < 1 || Math.max(width, height) > MAX_SIDE) {
    throw refusedLogo(`A logo has 1 to ${MAX_SIDE} pixels a side, and this one has ${width} × ${height}.`);
  }
  if (header.readUInt8(12) !== 0) throw refusedLogo('Save the PNG without interlacing.');
  const [depth, kind] = [header.readUInt8(8), header.readUInt8(9)];
  const colour = COLOURS.get(kind);
  if (!colour?.depths.includes(depth)) {
    throw refusedLogo(`A PNG has no colours of kind ${kind} with ${depth} bits.`);
  }
  return height * (1 + Math.ceil((width * depth * colour.parts) / 8));
}

export const refusedLogo = (message: string) => badField('logo', 'format', message);
