import { parentPort } from 'node:worker_threads';
import { inflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import type { PackedPicture } from './brand.rules.ts';

// A thread of its own, which can be ended: it unpacks bytes of strangers.

/** Pixels. Pages show a logo 32 pixels high, on screens with up to four dots for each. */
const SIDE = 128;

parentPort?.on('message', ({ png, packed, unpackedBytes }: PackedPicture) => {
  // The library takes a stream that breaks off for a whole one, and shows memory in place of what is missing.
  const { length } = inflateSync(packed, { maxOutputLength: unpackedBytes });
  if (length !== unpackedBytes) throw new Error(`${length} bytes of pixels`);
  const drawn = reduced(PNG.sync.read(Buffer.from(png)));
  parentPort?.postMessage(PNG.sync.write(drawn, { colorType: 6, deflateLevel: 9 }));
});

/** Scales a picture down to at most `SIDE` pixels a side. Each new pixel is the mean of the pixels it covers. */
function reduced({ width, height, data }: PNG): PNG {
  const factor = Math.min(1, SIDE / Math.max(width, height));
  const [columns, rows] = [width, height].map((side) => Math.max(1, Math.round(side * factor)));
  const to = new PNG({ width: columns, height: rows });
  for (let y = 0; y < to.height; y += 1) {
    for (let x = 0; x < to.width; x += 1) {
      const [left, right] = spanOf(x, width, to.width);
      const [top, bottom] = spanOf(y, height, to.height);
      const mean = meanOf(data, width, { left, right, top, bottom });
      to.data.set(mean, 4 * (y * to.width + x));
    }
  }
  return to;
}

/** The pixels for which one stands in a row of fewer. */
const spanOf = (at: number, from: number, to: number): [number, number] => [
  Math.floor((at * from) / to),
  Math.ceil(((at + 1) * from) / to),
];

interface Part {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The mean red, green, blue and alpha. Colours are weighted by alpha, so transparent pixels add none. */
function meanOf(
  data: Buffer,
  width: number,
  { left, right, top, bottom }: Part,
): [number, number, number, number] {
  let [red, green, blue, alpha] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const at = 4 * (y * width + x);
      const weight = data.readUInt8(at + 3);
      red += data.readUInt8(at) * weight;
      green += data.readUInt8(at + 1) * weight;
      blue += data.readUInt8(at + 2) * weight;
      alpha += weight;
    }
  }
  const seen = Math.max(1, alpha);
  const pixels = (right - left) * (bottom - top);
  return [red / seen, green / seen, blue / seen, alpha / pixels].map(Math.round) as [
    number,
    number,
    number,
    number,
  ];
}
