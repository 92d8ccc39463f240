import { expect, test } from 'vitest';
import { shortest } from '../test/timing.ts';
import { canHavePurpose, isPurpose, purposes } from './purposes.ts';

test.each([...purposes, 'x-acme.claims', 'x-acme-2.claims_review.step2', `x-a.${'b'.repeat(124)}`])(
  '%s is a purpose',
  (text) => {
    expect(isPurpose(text)).toBe(true);
  },
);

test.each([
  '',
  'aml',
  'aml.cdd',
  'aml.cdd.other',
  'AML.screening',
  'aml.screening ',
  'x-acme',
  'x-acme.',
  'x-.claims',
  'x-acme-.claims',
  'x--acme.claims',
  'x-Acme.claims',
  'x-acme.Claims',
  'x-acme.1claims',
  'x-acme..claims',
  'x-acme.*',
  `x-a.${'b'.repeat(125)}`,
  'constructor',
])('%j is not a purpose', (text) => {
  expect(isPurpose(text)).toBe(false);
});

test.each([
  [['tool:gmail:read'], true],
  [['email', 'tool:*:read', 'tool:gmail:read:inbox'], true],
  [['email:read'], false],
  [['tool:*:read'], false],
  [['tool:gmail:reed'], false],
  [[], false],
])('scopes %j: may have a purpose is %s', (scopes, answer) => {
  expect(canHavePurpose(scopes)).toBe(answer);
});

test.each([
  ['dashes', `x-${'a-'.repeat(50_000)}`],
  ['dots', `x-a${'.a'.repeat(50_000)}`],
  ['one word', `x-${'a'.repeat(100_000)}`],
])('I7: %s of 100,000 characters are refused at once', (_, text) => {
  expect(isPurpose(text)).toBe(false);
  expect(shortest(() => isPurpose(text))).toBeLessThan(20);
});
