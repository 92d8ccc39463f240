import { join } from 'node:path';
import { buildPackages } from './packages/build.ts';

/** `npm run packages` writes `dist/protocol` and `dist/sdk`, each ready for `npm pack` and `npm publish`. */
const ROOT = join(import.meta.dirname, '..');
for (const folder of await buildPackages(ROOT, join(ROOT, 'dist'))) process.stdout.write(`wrote ${folder}\n`);
