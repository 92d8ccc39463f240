import { join } from 'node:path';
import { packTarballs } from './packages/tarballs.ts';

/**
 * `npm run packages` writes `dist/protocol`, `dist/sdk`, `dist/cli` and `dist/server`, and packs each to a tarball in
 * `dist/` that npm installs. Builds and packs are the same bytes for the same sources.
 */
const ROOT = join(import.meta.dirname, '..');
for (const file of (await packTarballs(ROOT, join(ROOT, 'dist'), '.')).values())
  process.stdout.write(`wrote ${file}\n`);
