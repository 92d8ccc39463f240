import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareDecimals } from './decimals.ts';

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
