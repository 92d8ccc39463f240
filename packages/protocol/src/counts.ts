/** The largest count; the smallest is 0. */
export const MAX_COUNT = 2_147_483_647;

/** Tells whether a value is a count: an integer from 0 to `MAX_COUNT`. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;
}
