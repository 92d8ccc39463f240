import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shortest } from '../test/timing.ts';
import { JsonError, type JsonProblem, parseJson, parseJsonText } from './json.ts';
import { partTexts } from './json-parts.ts';

function problemOf(text: string | Uint8Array): JsonProblem | 'none' {
  try {
    parseJson(typeof text === 'string' ? new TextEncoder().encode(text) : text);
    return 'none';
  } catch (error) {
    if (error instanceof JsonError) return error.problem;
    throw error;
  }
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const withMembers = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"m${index}":0`).join(',')}}`;

const withValues = (count: number) => `[${Array(count).fill('0')}]`;

describe('the reader accepts', () => {
  test('anything that every reader understands in one way', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(!text.includes('\\u0000') && !/\\ud[89a-f]/.test(text));
        expect(JSON.stringify(parseJsonText(text), null, indent)).toBe(text);
      }),
    );
  });

  test.each([
    ['32 levels', nested(32)],
    ['10,000 members', withMembers(10_000)],
    ['49,999 values in an array', withValues(49_999)],
    ['one name in two objects', '{"a":{"b":1},"c":{"b":2},"d":[{"b":3},{"b":4}]}'],
    ['structure inside texts', '{"a":"{\\"b\\":1,[:}","\\\\":":"}'],
    ['a pair of escaped surrogates', '"\\ud83d\\ude00"'],
    ['names that objects inherit', '{"__proto__":1,"constructor":2,"toString":3}'],
    ['names that are numbers', '{"1":1,"0":0,"01":2}'],
    ['a large number', '1e308'],
  ])('%s', (_, text) => {
    expect(problemOf(text)).toBe('none');
  });

  /** @see https://github.com/nodejs/node/issues/63785 */
  test('names are what they were written as, whatever was read before', () => {
    for (const poison of ['{"\\\\":1}', '{"a":1,"\\\\":2}', '{"a":1,"b":1,"\\\\":2}']) JSON.parse(poison);

    for (const name of ['a', 'b', '"', '\\', '\n', '\t', 'é', '\\\\', '"a', 'constructor', '__proto__']) {
      const escaped = [...name]
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('');
      for (const before of ['', '"x":[1,{"y:":"z:"}],', '"x":1,"w":1 , ']) {
        for (const written of [JSON.stringify(name), `"${escaped}"`]) {
          const read = Object(parseJsonText(`{${before}${written} :{"\\u0062":"\\\\"}}`));

          expect(Object.keys(read).at(-1)).toBe(name);
          expect(Object.entries(read).at(-1)?.[1]).toEqual({ b: '\\' });
        }
      }
    }
  });

  test('`__proto__` is data like any other', () => {
    const read = parseJsonText('{"__proto__":{"admin":true}}');

    expect(Object.keys(Object(read))).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });
});

describe('the reader refuses', () => {
  test.each<[string, string | Uint8Array, JsonProblem]>([
    ['nothing', '', 'syntax'],
    ['two values', '{}{}', 'syntax'],
    ['a trailing comma', '[1,]', 'syntax'],
    ['NaN', '{"a":NaN}', 'syntax'],
    ['an open string', '"abc', 'syntax'],
    ['a bare NUL', '"\0"', 'syntax'],
    ['a byte-order mark', '\ufeff{}', 'syntax'],
    ['a byte that is no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'encoding'],
    ['UTF-8 that is too long for its character', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 'encoding'],
    ['half a pair in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'encoding'],
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0), 'encoding'],
    ['33 levels', nested(33), 'too_deep'],
    ['33 levels of objects', `${'{"a":'.repeat(33)}0${'}'.repeat(33)}`, 'too_deep'],
    ['10,001 members', withMembers(10_001), 'too_many_members'],
    ['50,000 values in an array', withValues(50_000), 'too_many_values'],
    ['25,000 empty arrays in an array', `[${Array(25_000).fill('[]')}]`, 'too_many_values'],
    ['25,000 empty objects in an array', `[${Array(25_000).fill('{}')}]`, 'too_many_values'],
    ['a member named twice', '{"a":1,"a":1}', 'repeated_member'],
    ['a member named twice, once escaped', '{"a":1,"\\u0061":1}', 'repeated_member'],
    ['`__proto__` named twice', '{"__proto__":1,"__proto__":2}', 'repeated_member'],
    ['a number as a name twice', '{"1":1,"1":2}', 'repeated_member'],
    ['a member named twice, deep inside', '[[{"x":[{"a":1,"b":2,"a":3}]}]]', 'repeated_member'],
    ['an escaped NUL', '"\\u0000"', 'value'],
    ['an escaped NUL in a name', '{"a\\u0000":1}', 'value'],
    ['half a pair', '"\\ud83d"', 'value'],
    ['the other half', '["\\ude00"]', 'value'],
    ['half a pair in a name', '{"\\ud83d":1}', 'value'],
    ['a number too large', '{"a":[1e400]}', 'value'],
    ['a negative number too large', '-1e400', 'value'],
  ])('%s', (_, text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test('a text with half a pair in it', () => {
    expect(() => parseJsonText('"\ud83d"')).toThrow(JsonError);
  });

  test('and the error repeats nothing of it', () => {
    expect(() => parseJsonText('{"password":"hunter2"')).toThrow(
      'The JSON text is not acceptable: its syntax is not that of JSON.',
    );
  });

  test.each<[RegExp, string | Uint8Array]>([
    [/byte-order mark/, '\ufeff{}'],
    [/byte-order mark/, Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0)],
    [/holds NUL/, '{"a":"\\u0000"}'],
    [/holds NUL/, '{"a":"\0"}'],
    [/half of a surrogate pair/, '{"a":"\\ud83d"}'],
    [/half of a surrogate pair/, '{"\\ude00":1}'],
    [/not UTF-8/, Uint8Array.of(0x22, 0xff, 0x22)],
    [/two members of one name/, '{"a":1,"a":1}'],
    [/too large for a double/, '1e400'],
    [/more than 32 levels/, nested(33)],
  ])('agents K11: and the error names the fault: %s', (fault, text) => {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    expect(() => parseJson(bytes)).toThrow(fault);
  });

  test('every repetition, wherever it is put', () => {
    const name = fc.constantFrom('a', 'b', '__proto__', '\\u0061', '1');

    fc.assert(
      fc.property(fc.array(fc.array(name, { maxLength: 4 }), { maxLength: 4 }), (objects) => {
        const text = `[${objects.map((names) => `{${names.map((one) => `"${one}":0`).join(',')}}`).join(',')}]`;
        const plain = objects.map((names) => names.map((one) => one.replace('\\u0061', 'a')));
        const repeats = plain.some((names) => new Set(names).size < names.length);
        expect(problemOf(text)).toBe(repeats ? 'repeated_member' : 'none');
      }),
    );
  });
});

test.each<[string, string]>([
  ['brackets', '['.repeat(1 << 20)],
  ['nested lists', nested(1 << 19)],
  ['nested objects', '{"a":'.repeat(200_000)],
  ['colons', ':'.repeat(1 << 20)],
  ['quotes', '"'.repeat(1 << 20)],
  ['one text', `"${'a'.repeat((1 << 20) - 2)}"`],
  ['backslashes', `"${'\\'.repeat((1 << 20) - 2)}"`],
  ['escapes', `"${'\\u0041'.repeat(170_000)}"`],
  ['members', withMembers(70_000)],
  ['escaped names', `[${'{"\\u0061\\u0061":[0]},'.repeat(9_999)}"${'\\"'.repeat(400_000)}"]`],
  ['escaped quotes without an end', `{"\\u0061":"${'\\"'.repeat(500_000)}`],
  ['empty lists', `[${'[],'.repeat(349_000)}[]]`],
  ['numbers', `[${'1,'.repeat(524_000)}1]`],
  ['digits', '9'.repeat(1 << 20)],
  ['blanks', ' '.repeat(1 << 20)],
])('1 MiB of %s takes less than 200 ms', (_, text) => {
  expect(shortest(() => problemOf(text))).toBeLessThan(200);
});

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
