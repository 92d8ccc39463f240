import { expect, test } from 'vitest';
import { citusBreaches } from './citus.ts';

test('a distributed database takes every statement but the four that docs/performance.md names', () => {
  expect(citusBreaches('apps/server/migrations', 'apps/server/src')).toEqual([
    "answers.ts: rows are locked on more than one shard of selectFrom('idempotentAnswers')",
    "deliveries.repo.ts: rows are locked on more than one shard of selectFrom('webhookDeliveries')",
    'events.repo.ts: a correlated subquery has a limit on more than one shard of o',
    'events.repo.ts: a recursive query reads on more than one shard of outbox_events',
  ]);
});
