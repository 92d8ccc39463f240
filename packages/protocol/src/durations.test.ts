import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortest } from '../test/timing.ts';
import { parseDuration } from './durations.ts';

test.each([
  ['1s', 1],
  ['90s', 90],
  ['30m', 1_800],
  ['24h', 86_400],
  ['30d', 2_592_000],
  ['9999999999d', 863_999_999_913_600],
])('%s is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  '',
  '0s',
  '007s',
  '1',
  's',
  '1w',
  '1H',
  ' 1s',
  '1s ',
  '1s\n',
  '1.5h',
  '-1s',
  '+1s',
  '1e3s',
  '10000000000s',
  '1h30m',
  '１s',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('I7: 100,000 characters are refused at once', () => {
  const text = `${'1'.repeat(100_000)}s`;

  expect(parseDuration(text)).toBeUndefined();
  expect(shortest(() => parseDuration(text))).toBeLessThan(20);
});

test('nothing but a number and a unit is ever read', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789smhd .-e') }), (text) => {
      const isDuration = /^[1-9]\d{0,9}[smhd]$/.test(text);
      return (parseDuration(text) !== undefined) === isDuration;
    }),
  );
});
