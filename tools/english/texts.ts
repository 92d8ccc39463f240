import { extname } from 'node:path';
import { markdownTexts } from './markdown.ts';
import type { Text } from './sentences.ts';
import { sourceTexts } from './source.ts';

const SQL_COMMENT = /^\s*--+ ?(.*)$|\s--+ (.*)$/;
const HASH_COMMENT = /^\s*#+ ?(?!!)(.*)$|\s# (.*)$/;

/** How the prose of a kind of file is found, by the end of its name. */
const kinds: Readonly<Record<string, (content: string) => Text[]>> = {
  '.ts': sourceTexts,
  '.js': sourceTexts,
  '.mjs': sourceTexts,
  '.md': markdownTexts,
  '.sql': (content) => [...lineComments(content, SQL_COMMENT), ...quoted(content, /'((?:[^'\n]|'')+)'/g)],
  '.yaml': (content) => [
    ...lineComments(content, HASH_COMMENT),
    ...quoted(content, /^\s*\w+: (['"]?[A-Z].*)$/gm),
  ],
  '.json': (content) => quoted(content, /"((?:[^"\\\n]|\\.)+)"/g),
  '.sh': (content) => lineComments(content, HASH_COMMENT),
  '.env': (content) => lineComments(content, HASH_COMMENT),
  '.service': (content) => lineComments(content, HASH_COMMENT),
  Dockerfile: (content) => lineComments(content, HASH_COMMENT),
};

/** The prose of a file, or nothing for a kind of file that holds none. */
export function textsOf(path: string, read: () => string): Text[] | undefined {
  return kinds[extname(path) || path.replace(/^.*\//, '')]?.(read());
}

/** Comments on neighbouring lines are one text. */
function lineComments(content: string, comment: RegExp): Text[] {
  const texts: { line: number; words: string }[] = [];
  let isOpen = false;
  for (const [index, row] of content.split('\n').entries()) {
    const [, whole, trailing] = comment.exec(row) ?? [];
    const words = whole ?? trailing;
    const last = texts.at(-1);
    if (isOpen && last && whole !== undefined) last.words += `\n${words}`;
    else if (words !== undefined) texts.push({ line: index + 1, words });
    isOpen = whole !== undefined;
  }
  return texts;
}

/** Strings that read like prose: three words or more, of which the first has a capital. */
function quoted(content: string, pattern: RegExp): Text[] {
  return [...content.matchAll(pattern)]
    .map(({ index, 0: whole, 1: words = '' }) => ({
      line: content.slice(0, index + whole.indexOf(words)).split('\n').length,
      words,
    }))
    .filter(({ words }) => /^['"]?[A-Z]\w* \S+ \S+/.test(words));
}
