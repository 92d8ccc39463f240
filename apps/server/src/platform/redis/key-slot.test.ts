import { expect, test } from 'vitest';
import { slotOf } from './redis-connection.ts';

test('a key has the slot that the Redis Cluster specification gives it', () => {
  expect([slotOf('123456789'), slotOf('foo'), slotOf('bar')]).toEqual([12739, 12182, 5061]);
});

test.each([
  ['a{bar}', 'bar'],
  ['{bar}{foo}', 'bar'],
  ['foo{{bar}}zap', '{bar'],
  ['bh:{developer:dev_1}:rate:plan:1', 'developer:dev_1'],
])('%s has the slot of its tag, %s', (key, tag) => {
  expect(slotOf(key)).toBe(slotOf(tag));
});

test.each(['foo{}{bar}', 'foo{bar', 'foo}bar'])('%s has no tag', (key) => {
  expect(slotOf(key)).not.toBe(slotOf('bar'));
});
