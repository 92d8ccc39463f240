import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const TESTS = ['{apps,packages}/*/{src,test}/**/*.test.ts', '{scripts,test}/**/*.test.ts'];
const BLOCKS = new Set(['test', 'describe']);
/**
 * The id of a line of docs/security.md in a title: a letter for the section, and a number. After a number, as in
 * "18 A5", it is a place in another document.
 */
const LINE_ID = /(?<!\b\d+ )\b[JORTISMCVALWHP]\d{1,2}\b/;

export interface SecurityTest {
  readonly file: string;
  readonly title: string;
  /** The ids of the lines that the title names. */
  readonly lines: readonly string[];
}

/** Lists every test or block of tests whose title names a line of the security page. */
export function securityTests(root: string): SecurityTest[] {
  return globSync(TESTS, { cwd: root })
    .sort()
    .flatMap((file) => titlesIn(readFileSync(join(root, file), 'utf8')).map((title) => ({ file, title })))
    .map((test) => ({ ...test, lines: [...new Set(linesIn(test.title))] }))
    .filter(({ lines }) => lines.length > 0);
}

/** Reads the titles from the syntax, because a comment that looks like a test proves nothing. */
export function titlesIn(source: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) titles.push(...titlesOf(node));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('a.test.ts', source, ts.ScriptTarget.Latest));
  return titles;
}

/**
 * Finds the title of `test('…')`. For a table of tests whose title names no line, finds the titles that its
 * rows make.
 */
function titlesOf({ expression: called, arguments: [title] }: ts.CallExpression): string[] {
  if (!title || !ts.isStringLiteralLike(title)) return [];
  if (ts.isIdentifier(called)) return BLOCKS.has(called.text) ? [title.text] : [];
  if (!ts.isCallExpression(called) || !ts.isPropertyAccessExpression(called.expression)) return [];
  const { expression: block, name } = called.expression;
  if (name.text !== 'each' || !ts.isIdentifier(block) || !BLOCKS.has(block.text)) return [];
  if (LINE_ID.test(title.text)) return [title.text];
  const [table] = called.arguments;
  const rows = table && ts.isArrayLiteralExpression(table) ? table.elements : [];
  const named = rows
    .map((row) => (ts.isArrayLiteralExpression(row) ? row.elements[0] : row))
    .filter((first) => first !== undefined && ts.isStringLiteralLike(first));
  return named.map(({ text }) => title.text.replace('%s', () => text));
}

/** Lists the ids of lines in a text, each once. */
export function linesIn(text: string): string[] {
  return [...new Set(text.match(new RegExp(LINE_ID, 'g')))];
}
