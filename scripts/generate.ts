import { join } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `npm run generate -- [part]
  without a part        every generated file of the checkout; --check writes nothing and names the stale ones
  site [--base <path>]  dist/site: the documentation as static files, by default for the root of a host
  packages              dist/: each package as a folder and as a tarball that npm installs; same sources, same bytes
  reference             dist/reference: the reference of the SDK, as Markdown made from its sources
`;

const ROOT = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { base: { type: 'string' }, check: { type: 'boolean' }, help: { type: 'boolean' } },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Each part loads only what it needs. */
const parts: Readonly<Record<string, () => Promise<void>>> = {
  files: async () => {
    const { writeGenerated } = await import('./generate/files.ts');
    await writeGenerated(values.check === true);
  },
  site: async () => {
    const { buildSite } = await import('./site/build.ts');
    const { pages } = await buildSite(ROOT, join(ROOT, 'dist/site'), values.base);
    say(`wrote dist/site: ${pages} pages`);
  },
  packages: async () => {
    const { packTarballs } = await import('./packages/build.ts');
    for (const file of (await packTarballs(ROOT, join(ROOT, 'dist'), '.')).values()) say(`wrote ${file}`);
  },
  reference: async () => {
    const { writeReference } = await import('./packages/reference.ts');
    await writeReference(ROOT, join(ROOT, 'dist/reference'));
    say('wrote dist/reference');
  },
};

const [part = 'files'] = positionals;
const make = values.help ? undefined : parts[part];
if (make) await make();
else {
  say(USAGE);
  process.exitCode = values.help ? 0 : 1;
}
