import { expect, test } from 'vitest';
import { isDuring, isZone, localTime } from './match.rules.ts';

const at = (hours: string, days: string[] | null = null) => {
  const [dayStart = 0, dayEnd = 0] = hours.split('-').map((text) => {
    const [hour = 0, minute = 0] = text.split(':').map(Number);
    return hour * 60 + minute;
  });
  return { dayStart, dayEnd, daysOfWeek: days };
};

/** Each with the instant before it and at it, and whether it lies in the window. */
const edges: [zone: string | null, hours: string, days: string[] | null, instant: string, isIn: boolean][] = [
  // Berlin leaves out 02:00 to 03:00 on 29 March 2026, and has it twice on 25 October.
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T00:29:59Z', false],
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T00:30:00Z', true],
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T00:59:59Z', true],
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T01:00:00Z', false],
  ['Europe/Berlin', '02:00-03:00', null, '2026-03-29T00:59:59Z', false],
  ['Europe/Berlin', '02:00-03:00', null, '2026-03-29T01:00:00Z', false],
  ['Europe/Berlin', '03:00-04:00', null, '2026-03-29T01:00:00Z', true],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T00:14:59Z', false],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T00:15:00Z', true],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T00:45:00Z', false],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T01:15:00Z', true],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T01:45:00Z', false],
  ['Europe/Berlin', '22:00-06:00', null, '2026-10-25T04:59:59Z', true],
  ['Europe/Berlin', '22:00-06:00', null, '2026-10-25T05:00:00Z', false],
  ['Europe/Berlin', '22:00-06:00', null, '2026-03-29T03:59:59Z', true],
  ['Europe/Berlin', '22:00-06:00', null, '2026-03-29T04:00:00Z', false],
  // New York leaves out 02:00 to 03:00 on 8 March 2026, and has 01:00 to 02:00 twice on 1 November.
  ['America/New_York', '09:00-17:00', null, '2026-03-07T14:00:00Z', true],
  ['America/New_York', '09:00-17:00', null, '2026-03-08T12:59:59Z', false],
  ['America/New_York', '09:00-17:00', null, '2026-03-08T13:00:00Z', true],
  ['America/New_York', '02:00-03:00', null, '2026-03-08T06:59:59Z', false],
  ['America/New_York', '02:00-03:00', null, '2026-03-08T07:00:00Z', false],
  ['America/New_York', '01:00-02:00', null, '2026-11-01T05:00:00Z', true],
  ['America/New_York', '01:00-02:00', null, '2026-11-01T06:59:59Z', true],
  ['America/New_York', '01:00-02:00', null, '2026-11-01T07:00:00Z', false],
  ['America/New_York', '09:00-17:00', null, '2026-11-01T13:59:59Z', false],
  ['America/New_York', '09:00-17:00', null, '2026-11-01T14:00:00Z', true],
  // Half an hour, and three quarters.
  ['Asia/Kolkata', '09:00-17:00', null, '2026-06-01T03:29:59Z', false],
  ['Asia/Kolkata', '09:00-17:00', null, '2026-06-01T03:30:00Z', true],
  ['Asia/Kathmandu', '09:00-17:00', null, '2026-06-01T03:14:59Z', false],
  ['Asia/Kathmandu', '09:00-17:00', null, '2026-06-01T03:15:00Z', true],
  ['Australia/Lord_Howe', '02:00-02:30', null, '2026-10-03T15:30:00Z', false],
  // Hours past midnight belong to the day on which they begin; 24 July 2026 is a Friday.
  [null, '22:00-06:00', ['fri'], '2026-07-24T05:59:59Z', false],
  [null, '22:00-06:00', ['fri'], '2026-07-24T22:00:00Z', true],
  [null, '22:00-06:00', ['fri'], '2026-07-25T05:59:59Z', true],
  [null, '22:00-06:00', ['fri'], '2026-07-25T22:00:00Z', false],
  [null, '09:00-17:00', ['sat', 'sun'], '2026-07-24T12:00:00Z', false],
  [null, '09:00-17:00', ['sat', 'sun'], '2026-07-26T12:00:00Z', true],
  ['Pacific/Auckland', '09:00-17:00', ['sat'], '2026-07-24T21:00:00Z', true],
  ['America/New_York', '20:00-21:00', ['fri'], '2026-07-25T00:30:00Z', true],
  // Before 1970.
  [null, '22:00-06:00', ['wed'], '1969-12-31T23:00:00Z', true],
];

test.each(edges)('in %s, %s on %s: %s is inside: %s', (zone, hours, days, instant, isIn) => {
  expect(isDuring(at(hours, days), localTime(new Date(instant), zone))).toBe(isIn);
});

test('days without hours begin and end at midnight of their zone', () => {
  const sunday = { dayStart: null, dayEnd: null, daysOfWeek: ['sun'] };
  const isSunday = (instant: string) => isDuring(sunday, localTime(new Date(instant), 'Europe/Berlin'));

  expect(isSunday('2026-03-28T22:59:59.999Z')).toBe(false);
  expect(isSunday('2026-03-28T23:00:00.000Z')).toBe(true);
  expect(isSunday('2026-03-29T21:59:59.999Z')).toBe(true);
  expect(isSunday('2026-03-29T22:00:00.000Z')).toBe(false);
});

test('a zone has a name of the IANA database, and no offset counts as a name', () => {
  for (const zone of ['Europe/Berlin', 'UTC', 'Asia/Kolkata']) expect(isZone(zone)).toBe(true);
  for (const text of ['+01:00', 'Berlin', 'Europe/Atlantis', '']) expect(isZone(text)).toBe(false);
});
