/** The rows of a developer: a burst at once, and then about 10,000 a day. */
const BURST = 300;
const PER_MINUTE = 7;

export interface Allowance {
  readonly left: number;
  /** Milliseconds. */
  readonly at: number;
}

/** Takes one of the rows that a developer still has. @returns undefined when there is none */
export function takeRow(allowance: Allowance | undefined, at: number): Allowance | undefined {
  const since = allowance ?? { left: BURST, at };
  const gained = (Math.max(at - since.at, 0) / 60_000) * PER_MINUTE;
  const left = Math.min(BURST, since.left + gained) - 1;
  return left < 0 ? undefined : { left, at };
}

const HOUR = 3_600_000;
const KEPT_HOURS = 72;

/** The beginning of the hour (UTC). */
export const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR) * HOUR);

export const keptSince = (at: Date): Date => new Date(at.getTime() - KEPT_HOURS * HOUR);
