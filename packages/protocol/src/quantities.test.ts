import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortest } from '../test/timing.ts';
import { readAmount, writeAmount } from './amounts.ts';
import { compareDecimals } from './decimals.ts';
import { parseDuration } from './durations.ts';

test.each([
  ['1s', 1],
  ['90s', 90],
  ['30m', 1_800],
  ['24h', 86_400],
  ['30d', 2_592_000],
  ['9999999999d', 863_999_999_913_600],
])('%s is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  '',
  '0s',
  '007s',
  '1',
  's',
  '1w',
  '1H',
  ' 1s',
  '1s ',
  '1s\n',
  '1.5h',
  '-1s',
  '+1s',
  '1e3s',
  '10000000000s',
  '1h30m',
  '１s',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('I7: 100,000 characters are refused at once', () => {
  const text = `${'1'.repeat(100_000)}s`;

  expect(parseDuration(text)).toBeUndefined();
  expect(shortest(() => parseDuration(text))).toBeLessThan(20);
});

test('nothing but a number and a unit is ever read', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789smhd .-e') }), (text) => {
      const isDuration = /^[1-9]\d{0,9}[smhd]$/.test(text);
      return (parseDuration(text) !== undefined) === isDuration;
    }),
  );
});

test.each([
  ['0.000000001', 1n],
  ['0.0001', 100_000n],
  ['0.000045', 45_000n],
  ['12.5', 12_500_000_000n],
  ['007', 7_000_000_000n],
  ['999999999999', 999_999_999_999_000_000_000n],
  ['999999999998.999999999', 999_999_999_998_999_999_999n],
  [99.5, 99_500_000_000n],
  [0.1, 100_000_000n],
  [0.001615, 1_615_000n],
  [4.5e-5, 45_000n],
  [1e-9, 1n],
  [99_999_999_999.1234, 99_999_999_999_123_400_000n],
])('agents 44: %s is an amount', (amount, units) => {
  expect(readAmount(amount)).toBe(units);
});

test.each([
  '0',
  '0.000000000',
  '-1',
  '+1',
  '1e3',
  '4.5e-5',
  '.5',
  '5.',
  '1.0000000001',
  '1,5',
  ' 1',
  '',
  '999999999999.000000001',
  '1000000000000',
  '１',
  0,
  -0.5,
  -1e-9,
  1e21,
  1e-10,
  1.5e-9,
  0.1 + 0.2,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e308,
  999_999_999_999.5,
  99_999_999_999.12346,
])('%s is not an amount', (amount) => {
  expect(readAmount(amount)).toBeUndefined();
});

test('agents 44: an amount that is written is read as the same', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 999_999_999_999_000_000_000n }), (units) => {
      expect(writeAmount(units)).toMatch(/^\d+\.\d{4}(?:\d{0,4}[1-9])?$/);
      expect(readAmount(writeAmount(units))).toBe(units);
    }),
  );
});

test('agents 44: amounts have four decimals at least, and a sign where money comes back', () => {
  const units = ['0', '1', '45000', '100000', '-500000000', '-45000', '99500000000', '10000000010'];
  expect(units.map(writeAmount)).toEqual([
    ...['0.0000', '0.000000001', '0.000045', '0.0001', '-0.5000', '-0.000045', '99.5000', '10.00000001'],
  ]);
});

test.each([
  ['0', '0.000', 0],
  ['007', '7', 0],
  ['12.5', '12.50', 0],
  ['9', '10', -1],
  ['0.9', '0.10', 1],
  ['1.05', '1.5', -1],
  ['100000000000000000000.1', '100000000000000000000.2', -1],
  ['9007199254740993', '9007199254740992', 1],
])('%s compared with %s is %d', (left, right, sign) => {
  expect(Math.sign(compareDecimals(left, right))).toBe(sign);
});

test('decimals compare as the integers they are thousandths of', () => {
  const thousandths = fc.bigInt({ min: 0n, max: 10n ** 30n });
  const written = (value: bigint) => `${value / 1_000n}.${String(value % 1_000n).padStart(3, '0')}`;

  fc.assert(
    fc.property(thousandths, thousandths, (left, right) => {
      const sign = left < right ? -1 : Number(left > right);
      return Math.sign(compareDecimals(written(left), written(right))) === sign;
    }),
  );
});
