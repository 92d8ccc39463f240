/**
 * Compares two decimals such as `12.50`, without sign and exponent, exactly and at any length. Floating point
 * would treat amounts as equal that differ in the seventeenth digit.
 *
 * @returns a negative number when `left` is smaller, 0 when both are equal, a positive number otherwise
 *
 * @example
 * ```ts
 * compareDecimals('12.50', '12.5'); // 0
 * compareDecimals('9', '12.5') < 0; // true
 * ```
 */
export function compareDecimals(left: string, right: string): number {
  const [leftWhole, leftFraction] = parts(left);
  const [rightWhole, rightFraction] = parts(right);
  return (
    leftWhole.length - rightWhole.length || order(leftWhole, rightWhole) || order(leftFraction, rightFraction)
  );
}

/** The digits before the point without leading zeros, and the digits after it without trailing zeros. */
function parts(decimal: string): [string, string] {
  const [whole = '', fraction = ''] = decimal.split('.');
  return [withoutLeadingZeros(whole), withoutTrailingZeros(fraction)];
}

function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === '0') start += 1;
  return digits.slice(start);
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

function order(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
