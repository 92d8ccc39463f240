import { expect, test } from 'vitest';
import { byId, mustBeSpan, mustBeWhole, pageOf, positionOf } from './paging.ts';

const rows = ['a', 'b', 'c'].map((id) => ({ id }));
const whole = (row: object) => row;

test('a page after which the list goes on has a cursor, which is the last row that it shows', () => {
  expect(pageOf({ rows, hasMore: true }, byId, whole)).toEqual({ page: rows, nextCursor: 'c' });
});

test('a page after which the list ends is the last', () => {
  expect(pageOf({ rows, hasMore: false }, byId, whole)).toEqual({ page: rows, nextCursor: null });
  expect(pageOf({ rows: [], hasMore: false }, byId, whole)).toEqual({ page: [], nextCursor: null });
});

test('a page ends before the item that would make it too large, and an item larger than that is a page', () => {
  const sized = (bytes: number) => (row: object) => ({ ...row, text: 'é'.repeat(bytes / 2) });
  const shown = (bytes: number) => pageOf({ rows, hasMore: false }, byId, sized(bytes));

  expect(shown(340_000)).toMatchObject({ page: rows, nextCursor: null });
  expect(shown(350_000)).toMatchObject({ page: rows.slice(0, 2), nextCursor: 'b' });
  expect(shown(1_100_000)).toMatchObject({ page: rows.slice(0, 1), nextCursor: 'a' });
});

test('a numbered page that would be too large is refused, and one of a cursor ends early', () => {
  const early = { page: rows, nextCursor: 'c' };

  for (const query of [{}, { page: 1 }, { pageSize: 20 }]) {
    const position = positionOf(query, 20);
    expect(() => mustBeWhole(position, early)).toThrow('larger than 1 MiB');
    expect(() => mustBeWhole(position, { ...early, nextCursor: null })).not.toThrow();
  }
  expect(() => mustBeWhole(positionOf({ limit: 20 }, 20), early)).not.toThrow();
  expect(() => mustBeWhole(positionOf({ pageSize: 3 }, 20), early)).not.toThrow();
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
