import { badField } from '../../../platform/errors.ts';
import type { Span } from './compliance.schema.ts';

/** @throws BAD_REQUEST for a day that no month has, and for a span that ends before it begins */
export function mustBeDays({ since, until }: Span): void {
  for (const [name, bound] of Object.entries({ since, until })) {
    // `Date` takes the 30th of February for the 2nd of March.
    const day = bound?.slice(0, 10);
    if (day && new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) !== day)
      throw badField(name, 'format');
  }
  if (since && until && new Date(since) >= new Date(until)) throw badField('until', 'too_small');
}
