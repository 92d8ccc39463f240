import { expect, test } from 'vitest';
import { byId, mustBeSpan, pageOf } from './paging.ts';

const rows = ['a', 'b', 'c'].map((id) => ({ id }));

test('a page with a row too many has a cursor, which is the last row that it shows', () => {
  expect(pageOf(rows, 2, byId)).toEqual({ page: rows.slice(0, 2), nextCursor: 'b' });
});

test('a page without a row too many is the last', () => {
  for (const limit of [3, 4]) expect(pageOf(rows, limit, byId)).toEqual({ page: rows, nextCursor: null });
  expect(pageOf([], 2, byId)).toEqual({ page: [], nextCursor: null });
});

test('a span ends after it begins, whatever the offsets of its times', () => {
  const since = '2026-01-01T12:00:00Z';

  for (const span of [{}, { since }, { until: since }, { since, until: '2026-01-01T11:00:01-01:00' }]) {
    expect(() => mustBeSpan(span)).not.toThrow();
  }
  for (const until of [since, '2026-01-01T12:30:00+01:00']) {
    expect(() => mustBeSpan({ since, until })).toThrow('The request is not valid.');
  }
});
