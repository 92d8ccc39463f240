import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite } from './site/build.ts';

/**
 * `npm run site` writes the documentation to `dist/site`, as static files that any web server can show.
 * `npm run site -- --base /behest/` makes it for a path of a host instead of its root.
 */
const ROOT = join(import.meta.dirname, '..');
const { base } = parseArgs({ options: { base: { type: 'string' } } }).values;
const { pages } = await buildSite(ROOT, join(ROOT, 'dist/site'), base);
process.stdout.write(`wrote dist/site: ${pages} pages\n`);
