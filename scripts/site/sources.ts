import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, normalize, relative } from 'node:path';
import { apiPages } from './api-pages.ts';
import { cliPage } from './cli-page.ts';

/** A file of the site. Its text is absent for a file that is copied as it is. */
export interface SiteFile {
  /** From the root of the repository. */
  readonly source: string;
  /** From the root of the site. */
  readonly place: string;
  readonly text?: string;
}

const LINK = /(\]\(|src=")([^)\s"]+)/g;

/**
 * Every page of `docs/`, the references of the API and of the CLI, and every file of the repository that a page links to,
 * with links that lead there.
 */
export async function siteFiles(root: string): Promise<SiteFile[]> {
  const made: Readonly<Record<string, string>> = {
    ...apiPages(readFileSync(join(root, 'openapi.json'), 'utf8')),
    'docs/cli.md': await cliPage(),
  };
  const textOf = (source: string) => made[source] ?? readFileSync(join(root, source), 'utf8');
  const isThere = (source: string) => source in made || isFile(join(root, source));
  const found = new Map<string, SiteFile>();
  const waiting = [...globSync('docs/**/*.md', { cwd: root }), ...Object.keys(made)].sort();
  for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
    if (found.has(source)) continue;
    found.set(source, { source, place: placeOf(source) });
    if (!source.endsWith('.md')) continue;
    const linked = pageOf(source, textOf(source), isThere);
    found.set(source, linked.file);
    waiting.push(...linked.targets);
  }
  return [...found.values()];
}

/** The pages of `docs/` and the description of the API are at the root, and what else pages link to is below `project/`. */
function placeOf(source: string): string {
  if (source.startsWith('docs/')) return source.slice('docs/'.length);
  if (source === 'openapi.json') return source;
  return `project/${source}${extname(source) ? '' : '.txt'}`; // a link without an ending leads to a page
}

function pageOf(
  source: string,
  written: string,
  isThere: (source: string) => boolean,
): { file: SiteFile; targets: string[] } {
  const targets: string[] = [];
  const place = placeOf(source);
  const text = written.replaceAll(LINK, (whole, before: string, link: string) => {
    const [path = '', ...heading] = link.split(/(?=#)/);
    const target = normalize(join(dirname(source), path));
    if (path === '' || /^[a-z]+:/.test(path) || !isThere(target)) return whole;
    targets.push(target);
    return `${before}${relative(dirname(place), placeOf(target))}${heading.join('')}`;
  });
  return { file: { source, place, text }, targets };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
