import { badField } from '../../../platform/errors.ts';
import type { Tally } from '../../../platform/telemetry/meter.ts';
import type { Metric, SeriesQuery, Step } from './insights.schema.ts';

const HOUR = 3_600_000;
const LENGTHS: Readonly<Record<Step, number>> = { hour: HOUR, day: 24 * HOUR };
const MOST_POINTS = 400;
const KEPT_DAYS = 90;

/** The acts that a metric counts, by the types of their events. */
const METRICS: Readonly<Record<string, Metric>> = {
  'grant.created': 'grants',
  'grant.revoked': 'revocations',
  'decision.granted': 'decisions',
  'decision.denied': 'decisions',
  'enforcement.denied': 'denials',
};

/** A metric, or the denials of one reason. */
export type Counted = Metric | ReturnType<typeof denialsOf>;

export const denialsOf = (reason: string) => `denials:${reason}` as const;

export const metricOf = ({ counter, label }: Tally): Counted | undefined => {
  if (counter === 'denials') return denialsOf(label);
  return counter === 'acts' ? METRICS[label] : undefined;
};

const flooredTo = (length: number, at: number) => Math.floor(at / length) * length;

export const hourOf = (at: Date): Date => new Date(flooredTo(HOUR, at.getTime()));

/** The first hour of which counts are kept: the beginning of a day. */
export const keptSince = (at: Date): Date =>
  new Date(flooredTo(LENGTHS.day, at.getTime()) - KEPT_DAYS * LENGTHS.day);

/**
 * The beginnings of the hours or days of a span.
 * @throws BAD_REQUEST for a span that is empty, or has too many
 */
export function bucketsOf({ from, to, step }: SeriesQuery): Date[] {
  const length = LENGTHS[step];
  const [first, end] = [flooredTo(length, Date.parse(from)), Date.parse(to)];
  if (first >= end) throw badField('to', 'too_small');
  const count = Math.ceil((end - first) / length);
  if (count > MOST_POINTS) {
    throw badField(
      'to',
      'too_large',
      `A series has at most ${MOST_POINTS} points. Ask for a shorter span, or for days.`,
    );
  }
  return Array.from({ length: count }, (_, at) => new Date(first + at * length));
}

export const endOf = (bucket: Date, step: Step): Date => new Date(bucket.getTime() + LENGTHS[step]);

/**
 * The whole hours that a span touches.
 * @throws BAD_REQUEST for a span that is empty
 */
export function hoursOf({ from, to }: Pick<SeriesQuery, 'from' | 'to'>): { from: Date; to: Date } {
  if (Date.parse(from) >= Date.parse(to)) throw badField('to', 'too_small');
  return { from: hourOf(new Date(from)), to: new Date(to) };
}

/** The beginning of the point to which an hour belongs, in milliseconds. */
export const bucketOf = (hour: Date, step: Step): number => flooredTo(LENGTHS[step], hour.getTime());
