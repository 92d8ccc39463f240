import type { Group } from '../spec.ts';

export const OBSERVE: readonly Group[] = [
  {
    name: 'audit',
    isMain: true,
    hasOperations: true,
    summary: 'the chain of audit entries',
    load: async () => (await import('../../commands/audit.ts')).AUDIT,
  },
  {
    name: 'events',
    isMain: true,
    hasOperations: true,
    summary: 'what happens, as it happens',
    load: async () => (await import('../../commands/events.ts')).EVENTS,
  },
  {
    name: 'webhooks',
    isMain: true,
    hasOperations: true,
    summary: 'deliveries of events',
    load: async () => (await import('../../commands/webhooks.ts')).WEBHOOKS,
  },
  { name: 'search', hasOperations: true, summary: 'any record by its id or name' },
  { name: 'ssf', hasOperations: true, summary: 'systems that hear signals' },
  { name: 'anomalies', hasOperations: true, summary: 'what nobody foresaw' },
  { name: 'compliance', hasOperations: true, summary: 'summaries, exports and evidence' },
  { name: 'requests', hasOperations: true, summary: 'which requests failed, and why' },
  { name: 'insights', hasOperations: true, summary: 'what happened, by hour and day' },
  { name: 'usage', hasOperations: true, summary: 'what the account uses' },
];
