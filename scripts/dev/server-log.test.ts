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

test.each([
  [
    '{"level":"info","method":"GET","route":"/v1/agents/:id","status":200,"responseTime":3.21,"msg":"request"}',
    'GET /v1/agents/:id 200 3 ms',
  ],
  [
    '{"level":"info","method":"GET","route":"/health","status":200,"responseTime":3.21,"msg":"request"}',
    undefined,
  ],
  ['{"level":"info","msg":"ready","port":3001}', undefined],
  ['{"level":"warn","msg":"no vault key"}', 'warn: no vault key'],
])('with requests, the line %s is shown as %s', (line, shown) => {
  expect(readableLine(line, true)).toBe(shown);
});
