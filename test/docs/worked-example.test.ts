import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exampleIn, nameFeature } from './worked-example.ts';

const textOf = (page: string) => readFileSync(join(import.meta.dirname, '../..', page), 'utf8');

test('the worked example shows the files of a whole feature', () => {
  const roles = exampleIn(textOf('docs/worked-example.md')).map(({ path }) =>
    path.replace(/^.*\/contacts\.?/, ''),
  );

  expect(roles).toEqual(
    expect.arrayContaining(['feature.ts', 'routes.ts', 'ts', 'repo.ts', 'samples.ts', 'test.ts']),
  );
});

test('the code in CONTRIBUTING.md is part of the worked example', () => {
  const files = exampleIn(textOf('docs/worked-example.md'));
  const parts = textOf('CONTRIBUTING.md').match(/(?<=^```ts\n)[^`]*(?=^```$)/gm) ?? [];

  expect(parts.length).toBeGreaterThan(0);
  expect(parts.filter((part) => !files.some(({ text }) => text.includes(part)))).toEqual([]);
});

test('a page without files is refused', () => {
  expect(() => exampleIn('# Contributing\n')).toThrow('shows no file');
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
