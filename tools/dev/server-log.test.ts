import { expect, test } from 'vitest';
import { readableLine } from './server-log.ts';

test.each([
  ['{"level":"info","time":"2026-01-01","msg":"ready","port":3001}', undefined],
  ['{"level":"warn","time":"2026-01-01","msg":"no vault key"}', 'warn: no vault key'],
  ['{"level":"error","msg":"lost","attempt":2,"to":"a"}', 'error: lost attempt=2 to=a'],
  ['{"level":"fatal","err":{"message":"refused","stack":"…"}}', 'fatal: refused'],
  ['(node:1) DeprecationWarning: old', '(node:1) DeprecationWarning: old'],
  ['"text"', '"text"'],
  ['', undefined],
])('the line %s is shown as %s', (line, shown) => {
  expect(readableLine(line)).toBe(shown);
});
