import { expect, test } from 'vitest';
import { malformedScopes } from './errors.ts';

const FORM = 'A scope has the form `<resource>:<permission>`.';

test.each<[string, string[], string]>([
  ['the scope', ['read all'], '`read all`'],
  ['a few of many', ['a b', 'c d', 'e f', 'g h', 'i j'], '`a b`, `c d`, `e f` and 2 more'],
  ['the beginning of a long scope', [`${'x'.repeat(41)} `], `\`${'x'.repeat(40)}...\``],
  ['nothing that could pass for the sentence or for another text', ['a`\n\u202eé'], '`a????`'],
])('a refusal of malformed scopes shows %s', (_what, scopes, shown) => {
  const { message, details } = malformedScopes(scopes);

  expect(message).toBe(`These scopes are malformed: ${shown}. ${FORM}`);
  expect(details).toEqual({ scopes });
});
