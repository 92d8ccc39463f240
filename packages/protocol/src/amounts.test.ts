import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAmount, writeAmount } from './amounts.ts';

test.each([
  ['0.0001', 1n],
  ['12.5', 125_000n],
  ['007', 70_000n],
  ['999999999999', 9_999_999_999_990_000n],
  [99.5, 995_000n],
  [0.1, 1_000n],
  [99_999_999_999.1234, 999_999_999_991_234n],
])('%s is an amount', (amount, units) => {
  expect(readAmount(amount)).toBe(units);
});

test.each([
  '0',
  '0.0000',
  '-1',
  '+1',
  '1e3',
  '.5',
  '5.',
  '1.00001',
  '1,5',
  ' 1',
  '',
  '999999999999.0001',
  '1000000000000',
  '１',
  0,
  -0.5,
  1e21,
  1e-7,
  0.1 + 0.2,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e308,
  999_999_999_999.5,
  99_999_999_999.12346,
])('%s is not an amount', (amount) => {
  expect(readAmount(amount)).toBeUndefined();
});

test('an amount that is written is read as the same', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 9_999_999_999_990_000n }), (units) => {
      expect(writeAmount(units)).toMatch(/^\d+\.\d{4}$/);
      expect(readAmount(writeAmount(units))).toBe(units);
    }),
  );
});

test('amounts have four decimals, and a sign where money comes back', () => {
  expect(['0', '1', '-5000', '995000'].map(writeAmount)).toEqual(['0.0000', '0.0001', '-0.5000', '99.5000']);
});
