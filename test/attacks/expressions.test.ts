import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import known from './expressions.json' with { type: 'json' };

const read: Readonly<Record<string, string>> = known.read;
const linear = new Set(known.linear);

/** How a new expression becomes known. */
const NEW =
  'Check a new expression with recheck (https://makenowjust-labo.github.io/recheck/playground/, checker "automaton"): if it is linear, add it to "linear" in test/attacks/expressions.json; if recheck cannot tell, to "read" with the reason.';

test('31 H1, M5: every regular expression is known to work in time that grows no faster than its text', () => {
  const found = expressionsOf(join(import.meta.dirname, '../..'));

  const unknown = found.filter(({ text }) => !linear.has(text) && !Object.hasOwn(read, text));
  expect(unknown, NEW).toEqual([]);
  expect(found.length).toBeGreaterThan(400);
  expect([...linear].filter((text) => Object.hasOwn(read, text))).toEqual([]);
}, 60_000); // it reads every source

test('an expression is found as a literal, as a call, and inside of another expression', () => {
  const source =
    "const a = text.replace(/a+$/g, '');\nconst b = new RegExp(`^a$`);\nconst c = [RegExp('c')];\n// /d/";
  expect(expressionsIn(source, 'a.ts')).toEqual([
    { text: '/a+$/g', place: 'a.ts:1' },
    { text: 'new RegExp(`^a$`)', place: 'a.ts:2' },
    { text: "RegExp('c')", place: 'a.ts:3' },
  ]);
});

/** What runs for others: the service with its pages, and the packages. Tests read their own texts. */
const SOURCES = ['apps/*/src/**/*.{ts,mts,mjs,js}', 'packages/*/src/**/*.{ts,mts,mjs,js}'];
const TEST_ONLY = /\.test\.ts$|\.samples\.ts$|\/testing\//;

/** An expression as it is written, or the call that makes one of parts. */
interface Expression {
  readonly text: string;
  readonly place: string;
}

/** Lists every regular expression of the sources and of the API description. */
function expressionsOf(root: string): Expression[] {
  const files = globSync(SOURCES, { cwd: root })
    .filter((file) => !TEST_ONLY.test(file))
    .sort();
  const written = files.flatMap((file) => expressionsIn(readFileSync(join(root, file), 'utf8'), file));
  return [...written, ...patternsIn(JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')))];
}

function expressionsIn(source: string, file: string): Expression[] {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest);
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node) || makesExpression(node)) {
      const { line } = parsed.getLineAndCharacterOfPosition(node.getStart(parsed));
      const text = node.getText(parsed).replace(/\s*\n\s*/g, ' ');
      found.push({ text, place: `${file}:${line + 1}` });
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

function makesExpression(node: ts.Node): boolean {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return false;
  return ts.isIdentifier(node.expression) && node.expression.text === 'RegExp';
}

/** The patterns of the API description, which schemas of requests hold as texts. */
function patternsIn(node: unknown): Expression[] {
  if (typeof node !== 'object' || node === null) return [];
  const isOwn = 'pattern' in node && typeof node.pattern === 'string';
  const own = isOwn ? [{ text: `/${node.pattern}/u`, place: 'openapi.json' }] : [];
  return [...own, ...Object.values(node).flatMap(patternsIn)];
}
