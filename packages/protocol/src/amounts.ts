import { decimalOf } from './arguments/decimals.ts';

/**
 * Amounts are counted in billionths of the currency's unit, as whole numbers: floating point would lose some, and one call
 * of a model costs a few of them.
 */
const DECIMALS = 9;
const UNITS = 10n ** BigInt(DECIMALS);
const LARGEST = 999_999_999_999n * UNITS;
const SHOWN_DECIMALS = 4;
/** A number of JSON has as many digits that every parser reads alike. */
const SAFE_DIGITS = 15;
const FORM = /^(\d{1,12})(?:\.(\d{1,9}))?$/;

/**
 * Reads an amount of a request: a decimal text, or a number in its shortest form.
 *
 * @returns billionths; undefined for zero, a sign, the text of an exponent, more than nine decimals or too many digits
 *
 * @example
 * ```ts
 * readAmount('12.5'); // 12500000000n
 * readAmount(4.5e-5); // 45000n
 * readAmount(0.1 + 0.2); // undefined
 * ```
 */
export function readAmount(amount: string | number): bigint | undefined {
  const text = typeof amount === 'number' ? decimalOf(amount) : amount;
  const [, whole, decimals = ''] = FORM.exec(text) ?? [];
  if (whole === undefined) return undefined;
  if (typeof amount === 'number' && text.replace('.', '').length > SAFE_DIGITS) return undefined;
  const units = BigInt(whole) * UNITS + BigInt(decimals.padEnd(DECIMALS, '0'));
  return units > 0n && units <= LARGEST ? units : undefined;
}

/** Writes billionths with four decimals, and with more where there are more: `99.5000`, `0.000045`. */
export function writeAmount(units: bigint | string): string {
  const value = BigInt(units);
  const digits = String(value < 0n ? -value : value).padStart(DECIMALS + 1, '0');
  const shown = digits.slice(-DECIMALS, SHOWN_DECIMALS - DECIMALS);
  const finer = digits.slice(SHOWN_DECIMALS - DECIMALS).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${shown}${finer}`;
}
