import { expect, test } from 'vitest';
import { isOfItsTime } from './run-rotation.ts';

const at = (time: string) => new Date(`2026-01-01T00:${time}Z`).getTime();
const keys = [
  { kid: 'one', publishedAt: new Date(at('00:00')) },
  { kid: 'two', publishedAt: new Date(at('10:00')) },
];

test.each([
  ['service-2026-01', '00:39', true],
  ['service-2026-01', '00:40', false],
  ['one', '00:39', false],
  ['one', '00:40', true],
  ['one', '10:39', true],
  ['one', '10:40', false],
  ['two', '10:39', false],
  ['two', '10:40', true],
  ['other', '10:40', false],
])('a token of %s at %s is of its time: %s', (kid, time, expected) => {
  expect(isOfItsTime({ kid, from: at(time), to: at(time) }, keys, 40)).toBe(expected);
});
