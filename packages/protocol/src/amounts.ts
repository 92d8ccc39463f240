/** Amounts are counted in ten-thousandths of the currency's unit, as whole numbers: floating point would lose some. */
const UNITS = 10_000n;
const LARGEST = 999_999_999_999n * UNITS;
/** A number of JSON has as many digits that every parser reads alike. */
const SAFE_DIGITS = 15;
const FORM = /^(\d{1,12})(?:\.(\d{1,4}))?$/;

/**
 * Reads an amount of a request: a decimal text, or a number in its shortest form.
 *
 * @returns ten-thousandths; undefined for zero, a sign, an exponent, more than four decimals or too many digits
 *
 * @example
 * ```ts
 * readAmount('12.5'); // 125000n
 * readAmount(0.1 + 0.2); // undefined
 * ```
 */
export function readAmount(amount: string | number): bigint | undefined {
  const text = String(amount);
  const [, whole, decimals = ''] = FORM.exec(text) ?? [];
  if (whole === undefined) return undefined;
  if (typeof amount === 'number' && text.replace('.', '').length > SAFE_DIGITS) return undefined;
  const units = BigInt(whole) * UNITS + BigInt(decimals.padEnd(4, '0'));
  return units > 0n && units <= LARGEST ? units : undefined;
}

/** Writes ten-thousandths with exactly four decimals: `99.5000`. */
export function writeAmount(units: bigint | string): string {
  const value = BigInt(units);
  const digits = String(value < 0n ? -value : value).padStart(5, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}
