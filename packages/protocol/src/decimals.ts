/**
 * Compares two decimals such as `12.50`, written without sign and exponent, exactly and at any length:
 * floating point would call amounts equal that differ in the seventeenth digit.
 *
 * @returns less than, equal to or more than zero, as `left` is to `right`
 */
export function compareDecimals(left: string, right: string): number {
  const [leftWhole, leftFraction] = parts(left);
  const [rightWhole, rightFraction] = parts(right);
  return (
    leftWhole.length - rightWhole.length || order(leftWhole, rightWhole) || order(leftFraction, rightFraction)
  );
}

/** Digits before the point without leading zeros, and after it without trailing ones. */
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
