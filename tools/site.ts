import { join } from 'node:path';
import { buildSite } from './site/build.ts';

/** `npm run site` writes the documentation to `dist/site`, as static files that any web server can show. */
const ROOT = join(import.meta.dirname, '..');
const { pages } = await buildSite(ROOT, join(ROOT, 'dist/site'));
process.stdout.write(`wrote dist/site: ${pages} pages\n`);
