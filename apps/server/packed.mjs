import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// To find and load the three thousand files of packages and sources takes most of a start, so the image holds them as a
// few, which `scripts/pack` writes. A checkout runs its sources, unless they are packed and the same since.
const ROOT = path.join(import.meta.dirname, '../..');
const HOME = path.join(ROOT, 'node_modules/.cache/behest-packages');

/** The folder in which Node keeps compiled code. */
export const compiled = path.join(ROOT, 'node_modules/.cache/behest');

const index = readIndex();

/** The folder of the server's entries, and how their names end. */
export const sources =
  index && areFresh(index.sources)
    ? { folder: path.join(HOME, index.sources.folder), ending: '.mjs' }
    : { folder: path.join(import.meta.dirname, 'src'), ending: '.ts' };

/** @param name `main` or `process-io` */
export const importSource = (name) =>
  import(pathToFileURL(path.join(sources.folder, name + sources.ending)).href);

function readIndex() {
  const file = path.join(HOME, 'index.json');
  if (!fs.existsSync(file)) return undefined;
  const index = JSON.parse(fs.readFileSync(file, 'utf8'));
  const lock = fs.readFileSync(path.join(ROOT, 'package-lock.json'));
  return createHash('sha256').update(lock).digest('hex') === index.lock ? index : undefined;
}

/** A source that was changed in the second of the packing may have been changed after it. */
function areFresh(packed) {
  if (!packed) return false;
  const packedIn = Math.floor(packed.packedAt / 1000);
  return Object.entries(packed.inputs).every(([file, [size, changed]]) => {
    const found = fs.statSync(path.join(ROOT, file), { throwIfNoEntry: false });
    const isSame = found?.size === size && Math.floor(found.mtimeMs / 1000) === changed;
    return isSame && changed < packedIn;
  });
}
