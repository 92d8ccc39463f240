import { expect, test } from 'vitest';
import { hook, listenersIn, on } from './hooks.ts';

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
