const DURATION = /^([1-9][0-9]{0,9})([smhd])$/;
const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);

/**
 * Reads a duration: a whole number of seconds, minutes, hours or days, such as `90s`, `30m`, `24h` or `7d`.
 * A day has 86,400 seconds.
 *
 * @returns seconds, at least 1; undefined when the text is not a duration. The caller checks the upper bound,
 * because each field has its own.
 *
 * @example
 * ```ts
 * parseDuration('24h'); // 86_400
 * parseDuration('1.5h'); // undefined
 * ```
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > 11) return undefined; // ten digits and a unit
  const [, count, unit] = DURATION.exec(text) ?? [];
  const unitSeconds = UNIT_SECONDS.get(unit ?? '');
  return unitSeconds && Number(count) * unitSeconds;
}
