import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exampleIn, nameFeature } from './worked-example.ts';

test('the worked example of CONTRIBUTING.md shows the files of a whole feature', () => {
  const page = readFileSync(join(import.meta.dirname, '../../CONTRIBUTING.md'), 'utf8');

  const roles = exampleIn(page).map(({ path }) => path.replace(/^.*\/contacts\.?/, ''));

  expect(roles).toEqual(
    expect.arrayContaining(['feature.ts', 'routes.ts', 'service.ts', 'repo.ts', 'samples.ts', 'test.ts']),
  );
});

test('a page without a worked example is refused', () => {
  expect(() => exampleIn('# Contributing\n')).toThrow('no worked example');
});

test('a feature is named by its import, in order, and by one line', () => {
  const list = `import { agents } from './features/accounts/agents/agents.feature.ts';
import { keys } from './features/service/keys/keys.feature.ts';

export const features: readonly Feature[] = [
  keys,
  agents,
];
`;

  expect(
    nameFeature(list, 'accounts', 'vases'),
  ).toBe(`import { agents } from './features/accounts/agents/agents.feature.ts';
import { vases } from './features/accounts/vases/vases.feature.ts';
import { keys } from './features/service/keys/keys.feature.ts';

export const features: readonly Feature[] = [
  keys,
  agents,
  vases,
];
`);
});
