import { expect, test } from 'vitest';
import { problemsIn } from './owners.ts';

test('every noun uses the tables that it declares, and every SQL function stays with its developer', async () => {
  const problems = await problemsIn({ sources: 'apps/server/src', migrations: 'apps/server/migrations' });

  expect(problems).toEqual([
    // The job of deliveries goes from developer to developer, and this finds the next one.
    'due_webhook_developers does not compare the developer of webhook_deliveries with dev',
  ]);
});
