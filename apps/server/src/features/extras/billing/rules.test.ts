import { expect, test } from 'vitest';
import { effectivePlan, isTimely } from './billing.rules.ts';

const now = new Date('2026-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;

test.each([
  { off: -301, timely: false },
  { off: -300, timely: true },
  { off: 300, timely: true },
  { off: 301, timely: false },
])('a signature of $off seconds from now is timely: $timely', ({ off, timely }) => {
  expect(isTimely(`t=${seconds + off},v1=00`, now)).toBe(timely);
});

test('a grace ends at its instant', () => {
  const plan = (graceEndsAt: Date) => effectivePlan({ plan: 'pro', status: 'past_due', graceEndsAt }, now);

  expect(plan(new Date(now.getTime() + 1))).toBe('pro');
  expect(plan(now)).toBe('free');
});
