import { expect, test } from 'vitest';
import { importProblems } from './imports.ts';

test('a feature imports public files of features above it, and nothing else of others', () => {
  const agents = 'apps/server/src/features/accounts/agents';
  const caps = 'apps/server/src/features/calls/caps';
  const imports = [
    [`${caps}/caps.service.ts`, `${agents}/index.ts`],
    [`${caps}/caps.service.ts`, `${agents}/agents.repo.ts`],
    [`${agents}/agents.service.ts`, `${caps}/index.ts`],
  ].map(([from = '', to = '']) => ({ from, to, isType: false }));

  expect(importProblems(imports, ['agents', 'caps'])).toEqual([
    `${caps}/caps.service.ts imports ${agents}/agents.repo.ts, which is not a public file of agents`,
    `${agents}/agents.service.ts imports caps, which is below agents in features.ts`,
  ]);
});
