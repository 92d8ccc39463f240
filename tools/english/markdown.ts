import type { Text } from './sentences.ts';

const FENCE = /^\s*(?:>\s*)?(?:```|~~~)/;
const CELL = /(?<!\\)\|/;
const MARK = /^\s*(?:#{1,6}|[-*+]|\d+[.)]|>)\s+/;

/** Paragraphs, headings, list items and cells of tables. Fences hold code. */
export function markdownTexts(content: string): Text[] {
  const texts: { line: number; words: string }[] = [];
  let isCode = false;
  let isOpen = false;
  for (const [index, row] of content.split('\n').entries()) {
    const line = index + 1;
    if (FENCE.test(row)) isCode = !isCode;
    const last = texts.at(-1);
    if (isCode || FENCE.test(row) || !row.trim()) isOpen = false;
    else if (row.startsWith('|')) texts.push(...cells(row).map((words) => ({ line, words })));
    else if (isOpen && last && !MARK.test(row)) last.words += `\n${row}`;
    else texts.push({ line, words: row.replace(MARK, '') });
    isOpen = !isCode && row.trim() !== '' && !row.startsWith('|') && !row.startsWith('#') && !FENCE.test(row);
  }
  return texts;
}

function cells(row: string): string[] {
  return row
    .split(CELL)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
}
