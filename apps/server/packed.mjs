import { createHash } from 'node:crypto';
import fs from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// To find and load the three thousand files of packages and sources takes most of a start, so `scripts/pack` writes them
// as a few. After the lock file has changed, the packages are loaded from where npm put them; after a source has
// changed, the sources import the packed packages.
const ROOT = path.join(import.meta.dirname, '../..');
const HOME = path.join(ROOT, 'node_modules/.cache/behest-packages');

/** The folder in which Node keeps compiled code. */
export const compiled = path.join(ROOT, 'node_modules/.cache/behest');

/** The folder of the server's entries, and how their names end. */
export const sources = placeOfSources();

function placeOfSources() {
  const index = readIndex();
  if (index && areFresh(index.sources)) {
    return { folder: path.join(HOME, index.sources.folder), ending: '.mjs' };
  }
  if (index) usePacked(index);
  return { folder: path.join(import.meta.dirname, 'src'), ending: '.ts' };
}

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

function usePacked({ folder, files }) {
  const packed = new Map();
  for (const [specifier, file] of Object.entries(files)) {
    packed.set(specifier, pathToFileURL(path.join(HOME, folder, file)).href);
  }
  const packages = new Set(Object.keys(files).map(packageOf));
  module.registerHooks({
    resolve(specifier, context, next) {
      if (context.parentURL?.includes('/node_modules/')) return next(specifier, context);
      const url = packed.get(specifier);
      if (url) return { url, format: 'module', shortCircuit: true };
      if (packages.has(packageOf(specifier))) throw new Error(unpacked(specifier)); // it would be there twice
      return next(specifier, context);
    },
  });
}

function packageOf(specifier) {
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

function unpacked(specifier) {
  return `${specifier} is new to the packed packages; remove ${HOME}, or run \`node scripts/pack/main.ts\`.`;
}
