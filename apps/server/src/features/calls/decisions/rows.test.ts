import { canonicalJson } from '@behest/protocol/canonical-json';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

interface Row {
  readonly path: readonly string[];
  readonly pointer: string;
  readonly text: string;
}

interface Part {
  readonly path: string;
  readonly binds: boolean;
}

/** The script of the page, which is JavaScript. */
const {
  boundBy,
  compareRows,
  headlineOf,
  moneyOf,
  readable,
  rowsOf,
}: {
  boundBy(parts: Part[]): (row: Row) => boolean;
  compareRows(before: Row[], now: Row[]): { rows: Row[]; gone: Row[] };
  headlineOf(args: unknown, parts: Part[]): object | undefined;
  moneyOf(rows: Row[]): object | undefined;
  readable(text: string): string;
  rowsOf(value: unknown): Row[];
} = await import(new URL('page/approve-rows.js', import.meta.url).href);

const canonical = (args: object) => canonicalJson({ v: 1, arguments: args });

/** The rows of arguments that came as JSON. */
const sentRows = (args: object) => rowsOf(JSON.parse(canonicalJson(args)));

/** What a person reads of a call: the names and the value of each row. */
const shown = (args: object) => sentRows(args).map(({ path, text }) => [path.join(' › '), readable(text)]);

/** Names and texts that look like something else. */
const tricky = fc.constantFrom(
  ...[
    'a',
    'b',
    '#1',
    'a › b',
    'a.b',
    '1',
    '10',
    '',
    ' ',
    '“',
    '"',
    '9000',
    '-1',
    '1e5',
    'true',
    'null',
    '{}',
    '[]',
  ],
  ...['“9000”', ' a', 'a ', '__proto__', '\u202e', '{"a":1}', '[1]'],
);
const name = fc.oneof(tricky, fc.string({ maxLength: 4 }));
const args = fc.dictionary(
  name,
  fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      ...[name, fc.integer(), fc.boolean(), fc.constant(null)],
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    ),
  })).value,
  { maxKeys: 4 },
);

describe('a call in rows', () => {
  test('no two different calls are shown alike', () => {
    fc.assert(
      fc.property(args, args, (one, other) => {
        const isSame = canonical(one) === canonical(other);
        expect(JSON.stringify(shown(one)) === JSON.stringify(shown(other))).toBe(isSame);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    [{ a: 9000 }, { a: '9000' }],
    [{ a: true }, { a: 'true' }],
    [{ a: null }, { a: 'null' }],
    [{ a: {} }, { a: '{}' }],
    [{ a: [] }, { a: {} }],
    [{ a: ['x'] }, { a: { '#1': 'x' } }],
    [{ 'a › b': 1 }, { a: { b: 1 } }],
    [{ a: '“9”' }, { a: '9' }],
    [{ a: 'x ' }, { a: 'x' }],
    [{ 'a ': 1 }, { a: 1 }],
    [{ 'a  b': 1 }, { 'a b': 1 }],
    [{ '\u0430mount': 1 }, { amount: 1 }],
  ])('%j does not look like %j', (one, other) => {
    expect(shown(one)).not.toEqual(shown(other));
  });

  test('no argument is left out, and their order is that of the text that is signed', () => {
    fc.assert(
      fc.property(args, (own) => {
        const texts = sentRows(own).map(({ text }) => text);
        let at = 0;
        const whole = canonical(own);
        for (const text of texts) {
          at = whole.indexOf(text, at);
          expect(at).toBeGreaterThan(-1);
          at += text.length;
        }
        expect(texts).toHaveLength(Object.keys(own).length === 0 ? 0 : countOf(own));
      }),
    );
  });

  test('what is new, changed and gone is said', () => {
    const [before, now] = [sentRows({ a: 1, b: 2, c: 3 }), sentRows({ a: 1, b: '2', d: 4 })];

    const { rows, gone } = compareRows(before, now);

    expect(rows).toEqual([
      { path: ['a'], pointer: '/a', text: '1' },
      { path: ['b'], pointer: '/b', text: '"2"', change: 'changed', before: '2' },
      { path: ['d'], pointer: '/d', text: '4', change: 'new' },
    ]);
    expect(gone).toEqual([{ path: ['c'], pointer: '/c', text: '3' }]);
  });
});

test('a row is bound as the nearest part says, and where no part says anything', () => {
  const parts = [
    { path: '/to', binds: true },
    { path: '/to/memo', binds: false },
    { path: '/note', binds: false },
  ];
  const rows = sentRows({ note: { text: 'x' }, to: { iban: 'DE1', memo: ['a'] }, notes: 1, 'a/b': 2 });

  expect(rows.map((row) => [row.pointer, boundBy(parts)(row)])).toEqual([
    ['/a~1b', true],
    ['/note/text', false],
    ['/notes', true],
    ['/to/iban', true],
    ['/to/memo/0', false],
  ]);
});

test('a call of thousands of values is read once, and has no headline', () => {
  const own = Object.fromEntries(Array.from({ length: 8_000 }, (_, n) => [`n${n}`, n]));
  let reads = 0;
  const parts = Object.keys(own).map((each) => ({
    binds: true,
    get path() {
      reads += 1;
      return `/${each}`;
    },
  }));

  expect(sentRows(own).every(boundBy(parts))).toBe(true);
  expect(headlineOf({ ...own, amount: 1, currency: 'EUR' }, parts)).toBeUndefined();

  expect(reads).toBe(8_000);
});

test.each([
  [{ lines: Array.from({ length: 198 }, () => 'a') }, true],
  [{ lines: Array.from({ length: 199 }, () => 'a') }, false],
  [{ lines: Array.from({ length: 66 }, () => [[], {}, 'a']) }, true],
  [{ lines: Array.from({ length: 67 }, () => [[], {}, 'a']) }, false],
])('a call of two hundred values may have a headline, and one of more has none', (own, has) => {
  expect(headlineOf({ ...own, amount: 1, currency: 'EUR' }, []) !== undefined).toBe(has);
});

describe('the money of a call', () => {
  const money = (own: object) => moneyOf(sentRows(own));

  test.each([
    [{ amount: '9000.00', currency: 'EUR', to: 'Acme' }, ['9,000.00', 'EUR', 'Acme']],
    [{ amount: 1234567, currency: 'JPY', to: { name: 'Acme', iban: 'DE1' } }, ['1,234,567', 'JPY', 'Acme']],
    [{ payment: { amount: '0.05', currency: 'USD' } }, ['0.05', 'USD', undefined]],
    [{ amount: '1', currency: 'EUR', to: 'Acme', payee: 'Other' }, ['1', 'EUR', undefined]],
    [{ amount: '1', currency: 'EUR', to: 'Acme', payee: { iban: 'DE1' } }, ['1', 'EUR', undefined]],
    [{ amount: '1', currency: 'EUR', to: 'Acme', Recipient: 'Eve' }, ['1', 'EUR', undefined]],
  ])('%j has a headline with the digits of the call', (own, [amount, currency, receiver]) => {
    expect(money(own)).toEqual({ amount, currency, receiver });
  });

  test.each([
    { amount: '9000' },
    { amount: '-5', currency: 'EUR' },
    { amount: '007', currency: 'EUR' },
    { amount: '1,000', currency: 'EUR' },
    { amount: '1', currency: 'euro' },
    { amount: '1', currency: 'EUR', fee: { amount: '9000', currency: 'EUR' } },
    { amount: '1', nested: { currency: 'EUR' } },
    { Amount: '9000', amount: '10', currency: 'EUR' },
    { amount: { value: 9000 }, fee: { amount: 1, currency: 'EUR' } },
    { items: [{ amount: 1, currency: 'EUR' }] },
    { amount: 1, currency: 'EUR', total_price: 9000 },
  ])('%j has none', (own) => {
    expect(money(own)).toBeUndefined();
  });
});

/** The values of an object that hold no further ones. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const parts = Object.values(value);
  return parts.length === 0 ? 1 : parts.reduce<number>((sum, part) => sum + countOf(part), 0);
}
