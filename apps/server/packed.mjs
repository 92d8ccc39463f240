import { createHash } from 'node:crypto';
import fs from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// To find and load the two thousand files of the packages takes half of a start, so `tools/pack` writes them as a few.
// Importing this file makes the sources import those. Without them, or after the lock file has changed, the packages
// are loaded from where npm put them.
const ROOT = path.join(import.meta.dirname, '../..');
const HOME = path.join(ROOT, 'node_modules/.cache/behest-packages');

const index = readIndex();
if (index) usePacked(index);

function readIndex() {
  const file = path.join(HOME, 'index.json');
  if (!fs.existsSync(file)) return undefined;
  const index = JSON.parse(fs.readFileSync(file, 'utf8'));
  const lock = fs.readFileSync(path.join(ROOT, 'package-lock.json'));
  return createHash('sha256').update(lock).digest('hex') === index.lock ? index : undefined;
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
  return `${specifier} is new to the packed packages; remove ${HOME}, or run \`node tools/pack/main.ts\`.`;
}
