import { expect, test } from 'vitest';
import { createParts, definePart } from './parts.ts';

const clock = definePart<() => number>('the clock');

test('a part is opened once, and taken from below', () => {
  const parts = createParts();
  const now = parts.provide(clock, () => 7);

  expect(parts.take(clock)).toBe(now);
  expect(() => parts.provide(clock, () => 8)).toThrow('There are two: the clock.');
  expect(() => createParts().take(clock)).toThrow('No feature above has opened the clock.');
});
