import { join } from 'node:path';
import { writeReference } from './packages/reference.ts';

/** `npm run reference` writes the reference of the SDK to `dist/reference`, as Markdown made from the sources. */
const ROOT = join(import.meta.dirname, '..');
const out = join(ROOT, 'dist/reference');
await writeReference(ROOT, out);
process.stdout.write(`wrote ${out}\n`);
