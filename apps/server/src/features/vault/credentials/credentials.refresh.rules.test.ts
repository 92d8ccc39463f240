import { describe, expect, test } from 'vitest';
import { limitsCallsOf } from './credentials.exchange.rules.ts';
import { isDue, readRefreshing } from './credentials.refresh.rules.ts';

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

describe('the answer of a token endpoint', () => {
  const read = (said: object) => readRefreshing(200, Buffer.from(JSON.stringify(said)));

  test.each([0, -1, 3_153_600_001, '60'])('tells no end by %j seconds', (expiresIn) => {
    expect(read({ access_token: 'a', expires_in: expiresIn })).toMatchObject({
      result: 'refreshed',
      tokens: { expiresInSeconds: undefined },
    });
  });
  test.each([1, 3_153_600_000])('tells the end by %j seconds', (expiresIn) => {
    expect(read({ access_token: 'a', expires_in: expiresIn })).toMatchObject({
      tokens: { expiresInSeconds: expiresIn },
    });
  });
  test('has tokens of 16 KiB at most', () => {
    expect(read({ access_token: 'a'.repeat(16_384) }).result).toBe('refreshed');
    expect(read({ access_token: 'a'.repeat(16_385) }).result).toBe('failed');
  });
});

test('an entry that only counts for the whole lineage limits the calls of its connector', () => {
  const lineage = [{ type: 'urn:service:caps-lineage:v1', connector: 'github' }];

  expect(limitsCallsOf('GitHub', lineage)).toBe(true);
  expect(limitsCallsOf('slack', lineage)).toBe(false);
});
