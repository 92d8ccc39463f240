import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, normalize, relative } from 'node:path';
import { GLOBAL_OPTIONS } from '../../packages/cli/src/program/globals.ts';
import { allCommands, SECTIONS } from '../../packages/cli/src/program/groups.ts';
import type { CommandSpec, OptionSpec } from '../../packages/cli/src/program/spec.ts';
import { apiPages } from './api-pages.ts';

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

const HEAD = `# Commands of behest

This page is made from the commands. The [README of the program](../packages/cli/README.md) has a
first walk.

## Options of every command
`;

/** The reference of the program. */
async function cliPage(): Promise<string> {
  const commands = await allCommands();
  const sections = SECTIONS.map(({ name: section, groups }) => {
    const own = groups.flatMap((group) => commands.filter(({ name }) => name.split(' ')[0] === group.name));
    return `## ${section}\n\n${own.map(commandText).join('\n\n')}`;
  });
  return `${HEAD}\n${optionsText(GLOBAL_OPTIONS)}\n\n${sections.join('\n\n')}\n`;
}

function commandText({ name, summary, notes, args = [], options = [], examples }: CommandSpec): string {
  const usage = args.map(({ name: arg, isOptional, isMany }) => {
    const text = `${arg}${isMany ? '...' : ''}`;
    return isOptional ? ` [${text}]` : ` <${text}>`;
  });
  const parts = [
    `### \`behest ${name}${usage.join('')}\``,
    inProse(`${summary}.${notes ? ` ${notes}` : ''}`),
    ...(options.length > 0 ? [optionsText(options)] : []),
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
  ];
  return parts.join('\n\n');
}

const optionsText = (options: readonly OptionSpec[]) =>
  ['| Option | Meaning |', '|---|---|', ...options.map(optionLine)].join('\n');

function optionLine({ flags, about, isRequired, choices, default: value }: OptionSpec): string {
  const more = [
    isRequired ? 'required' : '',
    choices && !/true\|false/.test(flags) ? choices.map((each) => `\`${each}\``).join(', ') : '',
    value === undefined ? '' : `default \`${value}\``,
  ].filter(Boolean);
  return `| \`${escaped(flags)}\` | ${escaped(about)}${more.length > 0 ? `; ${more.join('; ')}` : ''} |`;
}

/** A text beside code, in which `<name>` is no tag. */
const inProse = (text: string) =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', String.raw`\<`)))
    .join('');

const escaped = (text: string) => text.replaceAll('|', String.raw`\|`);
