import type { UsageCounts } from './usage.schema.ts';

type Kind = 'tokenExchanges' | 'authorizations' | 'verifications' | 'proxyCalls';

export type Counts = Readonly<Record<Kind, number>>;

export const NONE: Counts = { tokenExchanges: 0, authorizations: 0, verifications: 0, proxyCalls: 0 };

export const sumOf = (one: Counts, other: Counts): Counts => ({
  tokenExchanges: one.tokenExchanges + other.tokenExchanges,
  authorizations: one.authorizations + other.authorizations,
  verifications: one.verifications + other.verifications,
  proxyCalls: one.proxyCalls + other.proxyCalls,
});

/** The members of an answer, with the sum of the three. */
export const toCounts = ({ tokenExchanges, authorizations, verifications }: Counts): UsageCounts => ({
  tokenExchanges,
  authorizations,
  verifications,
  totalRequests: tokenExchanges + authorizations + verifications,
});

const DEFAULT_DAYS = 30;
const MAX_DAYS = 90;

/** Any text is a number of days: the route refuses none. */
export function daysIn(text: string | undefined): number {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return DEFAULT_DAYS;
  return Math.min(Math.max(Number(text), 1), MAX_DAYS);
}

const DAY = 86_400_000;

/** UTC, `2026-02-01`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The first of so many days that end with this one. */
export const firstOf = (at: Date, days: number): string => dayOf(new Date(at.getTime() - (days - 1) * DAY));
