import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';
import { makePassage, makeThrowAway, sweepThrowAways } from '../../scripts/machine/folders.ts';

const KIND = 'unpacking-chromium';

export interface UnpackedBrowser {
  readonly program: string;
  /** The package brings libraries and fonts that a bare system lacks. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Replaces the package's own configuration, which names folders of its cloud: without fonts the page would show
 * no text.
 */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/**
 * Unpacks the headless Chromium inside `@sparticuz/chromium`. The package's own function is of no use here: it
 * unpacks to a fixed name in the shared temporary folder, and leaves the libraries out outside its cloud.
 */
export async function unpackBrowser(home: string): Promise<UnpackedBrowser> {
  const shipped = fileURLToPath(new URL('../bin/', import.meta.resolve('@sparticuz/chromium')));
  const { version }: { version: string } = JSON.parse(
    fs.readFileSync(join(shipped, '../package.json'), 'utf8'),
  );
  const folder = join(home, `chromium-${version}`);
  if (!fs.existsSync(folder)) await unpackInto(folder, shipped, home);
  return {
    program: join(folder, 'chromium'),
    environment: { LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_PATH: folder },
  };
}

/**
 * Unpacks aside and moves the folder when it is complete, because test files run side by side and any may be
 * killed.
 */
async function unpackInto(folder: string, shipped: string, home: string): Promise<void> {
  makePassage(home);
  await sweepThrowAways(KIND, { place: home });
  const aside = makeThrowAway(KIND, home);
  try {
    const program = fs.createWriteStream(join(aside, 'chromium'), { mode: 0o755 });
    await pipeline(fs.createReadStream(join(shipped, 'chromium.br')), createBrotliDecompress(), program);
    for (const name of ['al2023', 'fonts', 'swiftshader']) untar(join(shipped, `${name}.tar.br`), aside);
    fs.writeFileSync(join(aside, 'fonts.conf'), FONTS);
    fs.renameSync(aside, folder);
  } catch (error) {
    fs.rmSync(aside, { recursive: true, force: true });
    if (!fs.existsSync(folder)) throw error; // another process was quicker
  }
}

function untar(archive: string, folder: string): void {
  const input = brotliDecompressSync(fs.readFileSync(archive));
  const { status, stderr } = spawnSync('tar', ['-x', '-C', folder], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`tar could not unpack ${archive}: ${stderr}`);
}
