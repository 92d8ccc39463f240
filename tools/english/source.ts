import ts from 'typescript';
import { markdownTexts } from './markdown.ts';
import type { Text } from './sentences.ts';

const TEST_BLOCKS = new Set(['test', 'it', 'describe']);

/** Comments, names of tests, and strings that read like prose. */
export function sourceTexts(content: string): Text[] {
  const file = ts.createSourceFile('a.ts', content, ts.ScriptTarget.Latest, true);
  const texts: { line: number; words: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) || ts.isImportDeclaration(node) || ts.isJSDoc(node)) return;
    const words = wordsOf(node);
    if (words) texts.push({ line: lineOf(file, node.getStart(file)), words });
    if (words === undefined || ts.isTemplateExpression(node)) ts.forEachChild(node, visit);
  };
  visit(file);
  return [...comments(file), ...texts];
}

/** The words of a string, empty where the string is a key, a query or a fixture. @returns undefined for another node */
function wordsOf(node: ts.Node): string | undefined {
  const words = joined(node);
  if (words === undefined) return undefined;
  const isTitle = ts.isCallExpression(node.parent) && TEST_BLOCKS.has(calledName(node.parent.expression));
  const isProse = isTitle || /^["“]?[A-Z]\w*[’']?\w* \S+ \S+/.test(words);
  return isProse ? words : '';
}

/** A string, a template with `code` for what it inserts, or the sum of such. */
function joined(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `code${literal.text}`).join('');
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const left = joined(node.left);
  const right = joined(node.right);
  if (left === undefined && right === undefined) return undefined;
  return (left ?? 'code') + (right ?? 'code');
}

/** `test` for `test(…)` and for calls of its members, such as `test.each(table)(…)`. */
function calledName(called: ts.Expression): string {
  if (ts.isIdentifier(called)) return called.text;
  if (ts.isCallExpression(called) || ts.isPropertyAccessExpression(called))
    return calledName(called.expression);
  return '';
}

function comments(file: ts.SourceFile): Text[] {
  const ranges = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(file);
    if (children.length === 0) {
      const at = node.getFullStart();
      for (const range of ts.getTrailingCommentRanges(file.text, at) ?? []) ranges.set(range.pos, range);
      for (const range of ts.getLeadingCommentRanges(file.text, at) ?? []) ranges.set(range.pos, range);
    }
    for (const child of children) visit(child);
  };
  visit(file);
  return commentTexts(file, [...ranges.values()]);
}

/** Line comments on neighbouring lines are one text. */
function commentTexts(file: ts.SourceFile, ranges: readonly ts.CommentRange[]): Text[] {
  const texts: { line: number; words: string }[] = [];
  let next = 0; // the line that would continue the last text
  for (const range of ranges) {
    const line = lineOf(file, range.pos);
    const comment = file.text.slice(range.pos, range.end);
    const words = comment.replace(/^\/+ ?/, '');
    const last = texts.at(-1);
    if (range.kind === ts.SyntaxKind.MultiLineCommentTrivia) texts.push(...blockTexts(comment, line));
    else if (last && next === line && isAlone(file, range)) last.words += `\n${words}`;
    else texts.push({ line, words });
    next = range.kind === ts.SyntaxKind.MultiLineCommentTrivia ? 0 : line + 1;
  }
  return texts;
}

/** A docblock is Markdown with a mark on each line. Each of its tags begins a text. */
function blockTexts(comment: string, first: number): Text[] {
  const content = comment
    .replace(/^\/\*+|\*\/$/g, '')
    .replaceAll(/^\s*\* ?/gm, '')
    .replaceAll(/^\s*@(?:param \S+|[a-z]+) ?/gm, '- ');
  return markdownTexts(content).flatMap(({ line, words }) =>
    words.split(/ @[a-z]+ /).map((part) => ({ line: line + first - 1, words: part })),
  );
}

function isAlone({ text }: ts.SourceFile, { pos }: ts.CommentRange): boolean {
  return /^\s*$/.test(text.slice(text.lastIndexOf('\n', pos) + 1, pos));
}

function lineOf(file: ts.SourceFile, position: number): number {
  return file.getLineAndCharacterOfPosition(position).line + 1;
}
