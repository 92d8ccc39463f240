import { expect, test } from 'vitest';
import { importProblems } from './imports.ts';

test('a feature imports public files of features above it, and nothing else of others', () => {
  const agents = 'apps/server/src/features/accounts/agents';
  const caps = 'apps/server/src/features/calls/caps';
  const imports = [
    [`${caps}/enforce.ts`, `${agents}/index.ts`],
    [`${caps}/enforce.ts`, `${agents}/agents.repo.ts`],
    [`${agents}/register.ts`, `${caps}/index.ts`],
  ].map(([from = '', to = '']) => ({ from, to, isType: false }));

  expect(importProblems(imports, ['agents', 'caps'])).toEqual([
    `${caps}/enforce.ts imports ${agents}/agents.repo.ts, which is not a public file of agents`,
    `${agents}/register.ts imports caps, which is below agents in features.ts`,
  ]);
});
