import { join } from 'node:path';
import { expect, test } from 'vitest';
import known from './expressions.json' with { type: 'json' };
import { expressionsIn, expressionsOf } from './expressions.ts';

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
