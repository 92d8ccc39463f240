import { once } from 'node:events';
import { createReadStream, globSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { freePort } from '../machine/ports.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.png': 'image/png',
  '.txt': 'text/plain',
};

/** Serves the files of a folder over HTTP, below a path of the host. @returns the address of that path */
export async function serveFolder(folder: string, base = '/') {
  const port = await freePort();
  const server = createServer(({ url = '/' }, answer) => {
    const path = normalize(decodeURIComponent(url.replace(/[?#].*/, '')));
    const own = path.startsWith(base) ? path.slice(base.length) : undefined;
    const file = join(folder, own === '' || own?.endsWith('/') ? `${own}index.html` : (own ?? ''));
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return void answer.writeHead(404).end();
    answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(answer);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}${base.slice(0, -1)}`, stop };
}

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
