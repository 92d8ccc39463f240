import { expect, test } from 'vitest';
import { fairPlaces } from './fair-places.ts';

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
