import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTENTS, summaryOf } from './contents.ts';

/** The configuration of VitePress for staged pages. It is plain data, since it is written to a file there. */
export function siteConfig(staged: string, out: string, base: string): unknown {
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
