import { compareDecimals } from '../decimals.ts';

const DECIMAL = /^-?(?:0|[1-9][0-9]{0,17})(?:[.][0-9]{1,18})?$/;

/** Tells whether a text is a decimal such as `-12.50`: at most 18 digits on either side of the point. */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text);
}

/** Compares two decimals with signs, as `compareDecimals` does without. */
export function compareSigned(left: string, right: string): number {
  const [leftDigits, rightDigits] = [unsigned(left), unsigned(right)];
  const [leftSign, rightSign] = [signOf(left, leftDigits), signOf(right, rightDigits)];
  if (leftSign !== rightSign) return leftSign - rightSign;
  return leftSign < 0 ? compareDecimals(rightDigits, leftDigits) : compareDecimals(leftDigits, rightDigits);
}

/**
 * Writes a finite number as a decimal: the digits of ECMAScript's `Number::toString`, with the exponent expanded.
 *
 * @example
 * ```ts
 * decimalOf(1e-7); // '0.0000001'
 * ```
 */
export function decimalOf(number: number): string {
  const [digits = '', exponent] = String(number).split('e');
  if (exponent === undefined) return digits;
  const [whole = '', fraction = ''] = unsigned(digits).split('.');
  const sign = number < 0 ? '-' : '';
  const shift = Number(exponent);
  if (shift < 0) return `${sign}0.${'0'.repeat(-shift - whole.length)}${whole}${fraction}`;
  return `${sign}${whole}${fraction}${'0'.repeat(shift - fraction.length)}`;
}

function unsigned(decimal: string): string {
  return decimal.startsWith('-') ? decimal.slice(1) : decimal;
}

/** Zero has no sign, however it is written. */
function signOf(decimal: string, digits: string): number {
  if (!/[1-9]/.test(digits)) return 0;
  return decimal.startsWith('-') ? -1 : 1;
}
