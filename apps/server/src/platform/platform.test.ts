import { expect, test } from 'vitest';
import { malformedScopes } from './errors.ts';
import { fairPlaces } from './fair-places.ts';
import { longWork } from './long-work.ts';
import { byId, mustBeSpan, mustBeWhole, pageOf, positionOf } from './paging.ts';

/** Long work by a clock that only work and rests move. @param late by how much each rest is longer than asked for */
function byOwnClock({ late = 0 } = {}) {
  let at = 0;
  const rests: number[] = [];
  const work = longWork({
    now: () => at,
    async sleep(milliseconds) {
      rests.push(milliseconds);
      at += Math.max(1, Math.trunc(milliseconds)) + late; // as timers do
    },
  });
  const worked: string[] = [];
  /** Works on portions of the same length, each in a turn. */
  async function portions(name: string, count: number, milliseconds: number) {
    for (let left = count; left > 0; left -= 1) {
      await work.nextTurn();
      worked.push(name);
      at += milliseconds;
    }
  }
  return { portions, worked, rests, now: () => at };
}

test('long work that is alone takes half of the time', async () => {
  const { portions, now } = byOwnClock();

  await portions('one', 100, 3);

  expect(now()).toBe(100 * 3 + 99 * 3); // after the last turn it rests too, and nobody waits for that
});

test('short turns rest too, and late timers make no difference', async () => {
  const { portions, now } = byOwnClock({ late: 0.5 });

  await portions('one', 1000, 0.4);

  const rested = now() - 400;
  expect(rested).toBeGreaterThanOrEqual(398);
  expect(rested).toBeLessThan(402);
});

test('a process that was busy with others has saved up no time for long work', async () => {
  const { portions, rests } = byOwnClock({ late: 60 });

  await portions('one', 4, 3);

  expect(rests).toEqual([3, 2, 2]);
});

test('three that work at once take turns, and half of the time together', async () => {
  const { portions, worked, now } = byOwnClock();

  await Promise.all(['one', 'two', 'three'].map((name) => portions(name, 10, 2)));

  expect(worked).toEqual(Array.from({ length: 10 }, () => ['one', 'two', 'three']).flat());
  expect(now()).toBe(30 * 2 + 29 * 2);
});

test('work that fails in its turn holds up nobody', async () => {
  const { portions, worked } = byOwnClock();
  const failing = portions('one', 1, 2).then(() => Promise.reject(new Error('broken')));

  await Promise.allSettled([failing, portions('two', 2, 2)]);

  expect(worked).toEqual(['one', 'two', 'two']);
});

test('as many as there are places go at once, and the others in turns of their owners', async () => {
  const places = fairPlaces(2, 10_000);
  const went: string[] = [];
  const want = (owner: string, name: string) => places.take(owner).then(() => void went.push(name));

  const wanted = [
    want('a', 'a1'),
    want('a', 'a2'),
    want('a', 'a3'),
    want('a', 'a4'),
    want('b', 'b1'),
    want('b', 'b2'),
    want('c', 'c1'),
  ];
  await Promise.all(wanted.slice(0, 2));

  expect(went).toEqual(['a1', 'a2']);
  for (const _ of wanted) places.give();
  await Promise.all(wanted);
  expect(went.slice(2)).toEqual(['a3', 'b1', 'c1', 'a4', 'b2']);
});

test('a place that nobody waits for is free for the next', async () => {
  const places = fairPlaces(1, 10_000);

  await places.take('a');
  places.give();

  expect(await places.take('b')).toBe(true);
});

test('an owner who waits too long gets no place, and takes none later', async () => {
  const places = fairPlaces(1, 20);

  await places.take('a');
  expect(await places.take('b')).toBe(false);
  places.give();

  expect(await places.take('c')).toBe(true);
});

const FORM = 'A scope has the form `<resource>:<permission>`.';

test.each<[string, string[], string]>([
  ['the scope', ['read all'], '`read all`'],
  ['a few of many', ['a b', 'c d', 'e f', 'g h', 'i j'], '`a b`, `c d`, `e f` and 2 more'],
  ['the beginning of a long scope', [`${'x'.repeat(41)} `], `\`${'x'.repeat(40)}...\``],
  ['nothing that could pass for the sentence or for another text', ['a`\n\u202eé'], '`a????`'],
])('a refusal of malformed scopes shows %s', (_what, scopes, shown) => {
  const { message, details } = malformedScopes(scopes);

  expect(message).toBe(`These scopes are malformed: ${shown}. ${FORM}`);
  expect(details).toEqual({ scopes });
});

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
