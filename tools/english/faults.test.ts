import { expect, test } from 'vitest';
import { faultOf } from './faults.ts';

test.each([
  ['Of two rows the first counts.', 'opens with "Of"'],
  ['What is revoked stays revoked.', 'opens with "What"'],
  ['That a row is missing is no error.', 'opens with "That"'],
  ['Who asks is known.', 'opens with "Who"'],
  ['whoever asks is known', 'opens with "whoever"'],
  ['One that was revoked stays.', 'opens with "One"'],
  ['Those that fall with it.', 'opens with "Those"'],
  ['None is left.', 'opens with "None"'],
  ['Not every scope is one.', 'says "one" for a thing that has a name'],
  ['An answer where the row is none.', 'says "none" for a thing that has a name'],
  ['The worker stops when one fails.', 'says "one" as a subject'],
  ['The row is kept; what it held is gone.', 'says "what" as a subject'],
  ['The row is kept because what it held is gone.', 'says "what" as a subject'],
  ['The handler answers whoever asks.', 'says "whoever"'],
  ['The list of before.', 'says "of before"'],
  ['The key is read anew.', 'says "anew"'],
  ['The checks run together, for they are slow.', 'says "for" for "because"'],
])('the check refuses: %s', (sentence, fault) => {
  expect(faultOf(sentence)).toBe(fault);
});

test.each([
  'The agent, who may be revoked, asks.',
  'The page says what the agent may do.',
  'What may the agent do?',
  'One row for each agent.',
  'If there is one, the service takes it.',
  'The service writes an entry, and what a reader needs is in it.',
  'A key is revoked at once, for it to be of no use.',
  'The key is of no use any longer.',
])('the check accepts: %s', (sentence) => {
  expect(faultOf(sentence)).toBeUndefined();
});
