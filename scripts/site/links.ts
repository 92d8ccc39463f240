import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ADDRESS = /\s(?:href|src)="([^"]+)"/g;

/**
 * Every link of the pages that leads to no file or to no heading.
 *
 * @param base the path of the host at which the site is
 */
export function deadLinks(site: string, base = '/'): string[] {
  const pages = globSync('**/*.html', { cwd: site }).filter((page) => page !== '404.html');
  const anchors = new Map<string, ReadonlySet<string>>();
  const anchorsOf = (page: string) => {
    const known = anchors.get(page) ?? idsIn(readFileSync(join(site, page), 'utf8'));
    anchors.set(page, known);
    return known;
  };
  return pages.flatMap((page) =>
    [...readFileSync(join(site, page), 'utf8').matchAll(ADDRESS)].flatMap(([, address = '']) => {
      const target = fileAt(site, { base, page, address });
      if (target === undefined) return [];
      const [file, heading] = target;
      if (!isFile(join(site, file))) return [`${page}: ${address}`];
      const leads = heading === '' || !file.endsWith('.html') || anchorsOf(file).has(heading);
      return leads ? [] : [`${page}: ${address}`];
    }),
  );
}

/** @returns undefined for an address of another site */
function fileAt(
  site: string,
  { base, page, address }: { readonly base: string; readonly page: string; readonly address: string },
): [file: string, heading: string] | undefined {
  if (/^[a-z]+:/.test(address)) return undefined;
  const { pathname, hash } = new URL(address, `https://site.example${base}${page}`);
  if (!pathname.startsWith(base)) return [pathname, '']; // another site of the same host
  const path = decodeURIComponent(pathname).slice(base.length);
  const file = path === '' || path.endsWith('/') ? join(path, 'index.html') : path;
  const heading = decodeURIComponent(hash.slice(1));
  return [isFile(join(site, file)) ? file : `${file}.html`, heading];
}

const idsIn = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id));

/** The links of `llms.txt` and of the Markdown pages that lead to no file. */
export function deadMarkdownLinks(site: string): string[] {
  const pages = ['llms.txt', ...globSync('**/*.md', { cwd: site })];
  return pages.flatMap((page) => {
    const text = readFileSync(join(site, page), 'utf8').replaceAll(/^```.*?^```/gms, '');
    return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
      .filter(([, link = '']) => !/^[a-z]+:/.test(link) && !isFile(join(site, dirname(page), link)))
      .map(([, link]) => `${page}: ${link}`);
  });
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
