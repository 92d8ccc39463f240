import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { findKeyCaller } from '../../accounts/developers/index.ts';
import { retentionOfEvents } from './events.jobs.ts';
import { eraseEvents } from './events.repo.ts';
import { eventRoutes } from './events.routes.ts';
import { eventStreams, openStreams } from './open.ts';

const tables: TableUse = {
  owns: { outbox_events: { rate: 'plan', kept: '72 hours', kib: 16 } },
  reads: ['audit_heads'], // the head counts the events
  writes: [],
};

export const events = defineFeature({
  name: 'events',
  tags: { events: 'The events of a developer, as a list and as live streams.' },
  tables,
  metrics: {
    event_streams_open: { kind: 'gauge', help: 'Live streams of events that this process holds.' },
    events_sent_total: {
      kind: 'counter',
      help: 'Events sent over live streams, counted once for each stream.',
    },
  },
  listens: [on(tenantErased, eraseEvents)],
  open(house) {
    const deps = {
      ...house,
      streams: house.provide(eventStreams, openStreams(house)),
      isKeyGood: async (hash: Buffer) => (await findKeyCaller(house, hash)) !== undefined,
    };
    return {
      routes: (app) => app.register(eventRoutes, deps),
      jobs: [retentionOfEvents(house)],
    };
  },
});
