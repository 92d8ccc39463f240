import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partTexts } from './json-parts.ts';

const written = (indent: number) => (value: unknown) => JSON.stringify(value, null, indent);

test('the parts of a text are those that a reader of JSON finds', () => {
  const anyParts = fc.oneof(
    fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
    fc.array(fc.jsonValue()),
  );
  fc.assert(
    fc.property(anyParts, fc.nat(3), (value, indent) => {
      const parts = partTexts(written(indent)(value));

      const read = [...parts].map(([name, text]) => [name, JSON.parse(text)]);
      expect(read).toEqual(
        Object.entries(JSON.parse(written(indent)(value))).map(([name, one]) => [name, one]),
      );
    }),
  );
});

test('a part keeps its digits, and a name is read whatever its escapes', () => {
  const text = String.raw` { "a" : 9.000000000000001 , "\u0062\"}":[1.0, {"a":"]}"}] ,"":-0e5} `;

  expect([...partTexts(text)]).toEqual([
    ['a', '9.000000000000001'],
    ['b"}', '[1.0, {"a":"]}"}]'],
    ['', '-0e5'],
  ]);
  expect([...partTexts('[[],{}, "a,b" ,1e2]')]).toEqual([
    ['0', '[]'],
    ['1', '{}'],
    ['2', '"a,b"'],
    ['3', '1e2'],
  ]);
});

test.each(['{}', '[ ]', '"{}"', '1', 'null', ''])('there are no parts in %j', (text) => {
  expect([...partTexts(text)]).toEqual([]);
});
