import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEPT, PLACES, passedOver, QUARTER, shareOut } from './webhooks.rules.ts';

const names = Array.from({ length: 60 }, (_, at) => `dev_${String(at).padStart(2, '0')}`);
const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);

/** Developers with something due, in the order of turns, and a lane with so many places that are taken. */
const lane = fc
  .record({
    due: fc.shuffledSubarray(names, { minLength: 1 }),
    held: fc.dictionary(fc.constantFrom(...names), fc.integer({ min: 1, max: 20 })),
    free: fc.integer({ min: 0, max: PLACES }),
  })
  .map(({ due, held, free }) => ({ due, places: { free, held: new Map(Object.entries(held)) } }));

test('no developer goes beyond a quarter of a lane while something of another is due', () => {
  fc.assert(
    fc.property(lane, ({ due, places }) => {
      for (const [developerId, share] of shareOut(due, places, { isAlone: false }))
        expect((places.held.get(developerId) ?? 0) + share).toBeLessThanOrEqual(QUARTER);
    }),
  );
  expect(QUARTER).toBe(12);
});

test('a free place idles only while each developer with something due holds its share', () => {
  fc.assert(
    fc.property(lane, ({ due, places }) => {
      const shares = shareOut(due, places, { isAlone: false });
      const left = places.free - sum(shares.values());

      expect(left).toBeGreaterThanOrEqual(0);
      for (const developerId of left > 0 ? due : []) {
        const holds = (places.held.get(developerId) ?? 0) + (shares.get(developerId) ?? 0);
        expect(holds).toBeGreaterThanOrEqual(left > KEPT ? QUARTER : 1);
      }
    }),
  );
});

test('the last ten places go to developers that hold none, one each', () => {
  fc.assert(
    fc.property(lane, fc.integer({ min: 1, max: KEPT }), ({ due, places: { held } }, free) => {
      const shares = shareOut(due, { free, held }, { isAlone: due.length === 1 });
      const idle = due.filter((developerId) => !held.has(developerId));

      expect([...shares]).toEqual(idle.slice(0, free).map((developerId) => [developerId, 1]));
    }),
  );
  expect(KEPT).toBe(10);
});

test('the developer that holds the fewest is first, and among equals the first in turn', () => {
  const held = new Map([
    ['dev_00', 3],
    ['dev_01', 1],
  ]);

  const shares = shareOut(['dev_00', 'dev_02', 'dev_01'], { free: KEPT + 4, held }, { isAlone: false });

  expect([...shares]).toEqual([
    ['dev_02', 3],
    ['dev_01', 1],
  ]);
});

test('a developer has all places but the last ten while nothing of another is due', () => {
  const alone = (free: number, holds: number) =>
    shareOut(['dev_00'], { free, held: new Map([['dev_00', holds]]) }, { isAlone: true }).get('dev_00');

  expect(alone(PLACES, 0)).toBe(PLACES - KEPT);
  expect(alone(KEPT + 1, 39)).toBe(1);
  expect(alone(KEPT, 40)).toBeUndefined();
});

test('the developers that are passed over are those that get no place', () => {
  fc.assert(
    fc.property(lane, ({ places }) => {
      const given = (developerId: string) => shareOut([developerId], places, { isAlone: false }).size > 0;

      expect(passedOver(places)).toEqual(
        [...places.held.keys()].filter((developerId) => !given(developerId)),
      );
    }),
  );
});

test('every developer gets its turn, however much is due of others', () => {
  const alwaysDue = fc.shuffledSubarray(names, { minLength: 2 });
  const lasting = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(alwaysDue, lasting, (due, rounds) => {
      const served = new Set<string>();
      let running: { developerId: string; until: number }[] = [];
      let turn = 0;
      for (let now = 0; now < 40; now += 1) {
        running = running.filter(({ until }) => until > now);
        const held = new Map<string, number>();
        for (const { developerId } of running) held.set(developerId, (held.get(developerId) ?? 0) + 1);
        const order = [...due.slice(turn), ...due.slice(0, turn)];
        const shares = shareOut(order, { free: PLACES - running.length, held }, { isAlone: false });
        for (const [developerId, share] of shares) {
          served.add(developerId);
          turn = (due.indexOf(developerId) + 1) % due.length;
          const until = now + (rounds[now % rounds.length] ?? 1);
          for (let at = 0; at < share; at += 1) running.push({ developerId, until });
        }
      }
      expect(served.size).toBe(due.length);
    }),
  );
});
