import { expect, test } from 'vitest';
import { hook, listenersIn, on } from './hooks.ts';
import { createParts, definePart } from './parts.ts';

test('a hook has its own listeners, in the order of the features', () => {
  const opened = hook<() => string>('opened');
  const closed = hook<() => string>('closed');
  const listenersOf = listenersIn([
    on(opened, () => 'first'),
    on(closed, () => 'other'),
    on(opened, () => 'second'),
  ]);

  expect(listenersOf(opened).map((listener) => listener())).toEqual(['first', 'second']);
  expect(listenersOf(closed).map((listener) => listener())).toEqual(['other']);
  expect(listenersOf(hook('moved'))).toEqual([]);
});

const clock = definePart<() => number>('the clock');

test('a part is opened once, and taken from below', () => {
  const parts = createParts();
  const now = parts.provide(clock, () => 7);

  expect(parts.take(clock)).toBe(now);
  expect(() => parts.provide(clock, () => 8)).toThrow('There are two: the clock.');
  expect(() => createParts().take(clock)).toThrow('No feature above has opened the clock.');
});
