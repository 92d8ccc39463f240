/** The days as a policy names them, in the order of `Date.getUTCDay`. */
export const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** The clock on the wall of a place. */
export interface LocalTime {
  /** A minute of the day. */
  readonly minute: number;
  /** An index of `days`. */
  readonly day: number;
}

export interface Window {
  /** Minutes of the day; both or none. */
  readonly dayStart: number | null;
  readonly dayEnd: number | null;
  readonly daysOfWeek: readonly string[] | null;
}

/**
 * The start is inside, and the end is not. A window whose start is after its end goes past midnight, and belongs to the
 * day on which it starts.
 */
export function isDuring({ dayStart, dayEnd, daysOfWeek }: Window, { minute, day }: LocalTime): boolean {
  if (dayStart === null || dayEnd === null) return isOn(daysOfWeek, day);
  if (dayStart < dayEnd) return minute >= dayStart && minute < dayEnd && isOn(daysOfWeek, day);
  if (minute >= dayStart) return isOn(daysOfWeek, day);
  return minute < dayEnd && isOn(daysOfWeek, (day + 6) % 7);
}

const isOn = (daysOfWeek: Window['daysOfWeek'], day: number): boolean =>
  daysOfWeek === null || daysOfWeek.includes(days[day] ?? '');

const DAY = 86_400_000; // milliseconds

/**
 * The local time in a zone. When clocks go back, an hour comes twice and its minutes are inside both times; when they go
 * forward, the minutes that are left out never come.
 * @param zone a name that `isZone` knows; null is UTC
 */
export function localTime(at: Date, zone: string | null): LocalTime {
  const local = at.getTime() + (zone === null ? 0 : offsetAt(at, zone));
  const minute = Math.floor((((local % DAY) + DAY) % DAY) / 60_000);
  return { minute, day: (((Math.floor(local / DAY) + 4) % 7) + 7) % 7 }; // 1970 began on a Thursday
}

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });

/** The milliseconds that the zone is before UTC. */
function offsetAt(at: Date, zone: string): number {
  const format = formats.get(zone) ?? formatOf(zone);
  formats.set(zone, format); // there are some six hundred names
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const whole = Math.floor(at.getTime() / 1000) * 1000;
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
}

/** Whether a name is one of the IANA database. An offset such as `+01:00` is not. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return formatOf(name).resolvedOptions().timeZone !== '';
  } catch {
    return false; // `Intl` knows no zone of this name
  }
}

/**
 * Instants at which a window may begin in its zone, within a week from the beginning of a day in UTC.
 * @returns some that lie inside, for examples
 */
export function* beginningsOf(
  window: Window & { readonly timeZone: string | null },
  from: Date,
): Generator<Date> {
  const first = Math.floor(from.getTime() / DAY) * DAY;
  for (let place = 0; place < 8; place += 1) {
    const wanted = first + place * DAY + (window.dayStart ?? 0) * 60_000;
    const offset = window.timeZone === null ? 0 : offsetAt(new Date(wanted), window.timeZone);
    const at = new Date(wanted - offset);
    if (isDuring(window, localTime(at, window.timeZone))) yield at;
  }
}
