/** Prose without the marks of comments and Markdown. Its line breaks are those of the file. */
export interface Text {
  /** The line of the file that the text begins on, counted from 1. */
  readonly line: number;
  readonly words: string;
}

export interface Sentence {
  readonly line: number;
  readonly sentence: string;
}

const BETWEEN = /(?<=[.!?]["'”’)]?)(?<!\b(?:e\.g|i\.e|vs|cf)\.)\s+(?=["'“(]?(?:[A-Z]|code\b|quote\b))/;

/** Splits a text into its sentences. Code becomes the word `code`, and a quotation the word `quote`. */
export function sentencesOf({ line, words }: Text): Sentence[] {
  const found: Sentence[] = [];
  let at = line;
  for (const part of plain(words).split(new RegExp(`(${BETWEEN.source})`))) {
    const sentence = part.replaceAll(/\s+/g, ' ').trim();
    const before = /^\s*/.exec(part)?.[0] ?? '';
    if (sentence) found.push({ line: at + breaksIn(before).length, sentence });
    at += breaksIn(part).length;
  }
  return found;
}

function plain(words: string): string {
  return words
    .replaceAll(/`[^`]*`/g, (code) => `code${breaksIn(code)}`)
    .replaceAll(/“[^”]*”/g, (quote) => `quote${breaksIn(quote)}`)
    .replaceAll(/\{@link (\S+)\}/g, '$1')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*?/g, '');
}

function breaksIn(text: string): string {
  return text.replaceAll(/[^\n]/g, '');
}
