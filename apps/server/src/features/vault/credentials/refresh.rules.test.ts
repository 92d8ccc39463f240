import { describe, expect, test } from 'vitest';
import { limitsCallsOf } from './credentials.rules.ts';
import { isDue, restSeconds } from './refresh.rules.ts';

const now = new Date('2026-01-01T00:00:00Z');
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

describe('an access token', () => {
  test.each([
    { after: 59_999, due: true },
    { after: 60_000, due: false },
  ])('is due $after ms before its end, where the skew is a minute: $due', ({ after, due }) => {
    expect(isDue(later(after), now, 60)).toBe(due);
  });
});

test('agents K3: an upstream that fails is asked again after twice the time, up to five minutes, or when it says', () => {
  expect([1, 2, 3, 8, 9, 40].map((failures) => restSeconds(failures, undefined))).toEqual([
    ...[2, 4, 8, 256, 300, 300],
  ]);
  expect(restSeconds(1, 600)).toBe(600);
});

test('an entry that only counts for the whole lineage limits the calls of its connector', () => {
  const lineage = [{ type: 'urn:service:caps-lineage:v1', connector: 'github' }];

  expect(limitsCallsOf('GitHub', lineage)).toBe(true);
  expect(limitsCallsOf('slack', lineage)).toBe(false);
});
