import { expect, test } from 'vitest';
import { sentencesOf } from './sentences.ts';
import { textsOf } from './texts.ts';

function sentences(path: string, content: string): string[] {
  const found = textsOf(path, () => content)?.flatMap(sentencesOf) ?? [];
  return found.map(({ line, sentence }) => `${line}: ${sentence}`);
}

test('comments, names of tests and strings of a source file are read, queries and keys are not', () => {
  const source = [
    '/** Finds an agent.',
    ' * @param id its id, e.g. `one`. It may be unknown',
    ' */',
    '// The first line,',
    '// and the second.',
    'const found = sql`Select nothing from it`; // why so',
    "const agent = find('agent:read', 'No agent has ' + id + '.');",
    "test.each(rows)('an agent of %s is found', () => {});",
  ].join('\n');

  expect(sentences('a.ts', source)).toEqual([
    '1: Finds an agent.',
    '2: its id, e.g. code.',
    '2: It may be unknown',
    '4: The first line, and the second.',
    '6: why so',
    '7: No agent has code.',
    '8: an agent of %s is found',
  ]);
});

test('paragraphs, headings, items and cells of a page are read, and code is not', () => {
  const page = [
    '# The title',
    'A paragraph with [a link](x.md)',
    'over two lines. It has a second sentence.',
    '- an item',
    '```',
    'the code',
    '```',
    '| a cell | another |',
    '|---|---|',
  ].join('\n');

  expect(sentences('a.md', page)).toEqual([
    '1: The title',
    '2: A paragraph with a link over two lines.',
    '3: It has a second sentence.',
    '4: an item',
    '8: a cell',
    '8: another',
    '9: ---',
    '9: ---',
  ]);
});

test.each([
  ['a.sql', '-- The first line,\n-- and the second.\nselect 1; -- why so', 2],
  ['a.yaml', '# A comment.\nsummary: The service is down', 2],
  ['a.json', '{ "description": "The service is down" }', 1],
  ['a.sh', '#!/bin/sh\n# A comment.\necho 1 # why so', 2],
  ['deploy/Dockerfile', '# A comment.\nRUN true', 1],
])('the prose of %s is read', (path, content, count) => {
  expect(sentences(path, content)).toHaveLength(count);
});

test('a file of another kind holds no prose', () => {
  const texts = textsOf('a.png', () => expect.unreachable());

  expect(texts).toBeUndefined();
});
