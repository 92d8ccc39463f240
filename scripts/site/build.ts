import { spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureInstalled } from '../install.mjs';
import { writeReference } from '../packages/reference.ts';
import { CONTENTS, LISTED_ELSEWHERE, llmsText, summaryOf } from './contents.ts';
import { siteFiles } from './sources.ts';

/**
 * Builds the site. Each page is written as HTML and, beside it, as Markdown. The generator has packages of its own, which
 * are installed with the first build.
 *
 * @param base the path of the host at which the site will be, between slashes
 * @throws Error when a link leads nowhere
 */
export async function buildSite(root: string, out: string, base = '/'): Promise<{ pages: number }> {
  if (!/^\/([^/?#\s]+\/)*$/.test(base))
    throw new Error(`The base has to be a path between slashes, such as /behest/, and is "${base}".`);
  const generator = join(root, 'scripts/site');
  await ensureInstalled(generator);
  const staged = mkdtempSync(join(generator, '.staged-')); // where the theme finds those packages
  try {
    for (const { source, place, text } of await siteFiles(root)) {
      if (text !== undefined) write(join(staged, place), text);
      else for (const folder of ['', 'public']) copy(join(root, source), join(staged, folder, place));
    }
    await writeReference(root, join(staged, 'sdk'));
    const pages = globSync('**/*.md', { cwd: staged }).sort();
    for (const page of pages) copy(join(staged, page), join(staged, 'public', page));
    write(join(staged, 'public/llms.txt'), llmsOf(staged, pages));
    write(
      join(staged, '.vitepress/config.mjs'),
      `export default ${JSON.stringify(siteConfig(staged, out, base))};\n`,
    );
    write(join(staged, '.vitepress/theme/index.mjs'), THEME);
    copy(join(generator, 'theme.css'), join(staged, '.vitepress/theme/theme.css'));
    rmSync(out, { recursive: true, force: true });
    await run(process.execPath, [
      join(generator, 'node_modules/vitepress/bin/vitepress.js'),
      'build',
      staged,
    ]);
    return { pages: pages.length };
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** The default theme with the fonts of the reader's system. */
const THEME = `import theme from 'vitepress/theme-without-fonts';
import './theme.css';
export default theme;
`;

/** The menu's pages by group, then the pages that have a list of their own. */
function llmsOf(staged: string, pages: readonly string[]): string {
  const told = (page: string) => summaryOf(page, readFileSync(join(staged, page), 'utf8'));
  const groups = Object.entries(CONTENTS).map(([group, names]) => [
    group,
    names.map((name) => told(`${name}.md`)),
  ]);
  const shown = new Set(Object.values(CONTENTS).flatMap((names) => names.map((name) => `${name}.md`)));
  const isFurther = (page: string) =>
    !shown.has(page) && LISTED_ELSEWHERE.some((folder) => page.startsWith(folder));
  return llmsText({ ...Object.fromEntries(groups), Further: pages.filter(isFurther).map(told) });
}

function run(program: string, flags: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const child = spawn(program, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', reject);
    child.once('close', (status) => (status === 0 ? resolve() : reject(new Error(output))));
  });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** The configuration of VitePress for staged pages. It is plain data, since it is written to a file there. */
function siteConfig(staged: string, out: string, base: string): unknown {
  const titleOf = (name: string) => summaryOf(name, readFileSync(join(staged, `${name}.md`), 'utf8')).title;
  const sidebar = Object.entries(CONTENTS).map(([text, names]) => ({
    text,
    items: names.map((name) => ({ text: titleOf(name), link: `/${name.replace(/(^|\/)index$/, '$1')}` })),
  }));
  return {
    title: 'Behest',
    description: 'Authorization for AI agents that act on behalf of people',
    lang: 'en',
    outDir: out,
    base,
    srcExclude: ['public/**'],
    metaChunk: true, // or each page would name the files of all pages
    markdown: {
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    },
    themeConfig: {
      search: { provider: 'local' },
      sidebar,
      outline: { level: [2, 3] },
      nav: [
        { text: 'Quickstart', link: '/guides/quickstart' },
        { text: 'API', link: '/api/' },
        { text: 'SDK', link: '/sdk/' },
        { text: 'CLI', link: '/cli' },
        { text: 'Configuration', link: '/configuration' },
      ],
    },
  };
}
