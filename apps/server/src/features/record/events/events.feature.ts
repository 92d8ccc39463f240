import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteEventsBefore, eraseEvents, listFirstsAcrossTenants } from './events.repo.ts';
import { eventRoutes } from './events.routes.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './list.ts';
import { eventStreams, openStreams } from './streams.ts';

const EVERY_SECONDS = 600;

/** Deletes events after their retention. Queries hide them without waiting for this job. */
export function retentionOfEvents(deps: RetainDeps): Job {
  return {
    name: 'retention of events',
    everySeconds: EVERY_SECONDS,
    run: (signal) => deleteAgedEvents(deps, signal),
  };
}

interface RetainDeps extends Pick<EventsDeps, 'db' | 'clock'> {
  /** Developers in one read. */
  readonly atOnce?: number;
  /** Events in one delete, so that no delete locks many rows or runs long. */
  readonly batch?: number;
}

/**
 * Deletes the events whose retention has ended, developer by developer. Numbers are never given twice, so a
 * reader with a cursor does not notice.
 */
async function deleteAgedEvents(
  { db, clock, atOnce = 500, batch = 1000 }: RetainDeps,
  signal: AbortSignal,
): Promise<void> {
  const since = retainedSince(clock());
  let after = '';
  while (!signal.aborted) {
    const firsts = await listFirstsAcrossTenants(db, after, atOnce);
    for (const { developerId, createdAt } of firsts) {
      if (createdAt >= since) continue;
      while (!signal.aborted && (await deleteEventsBefore(db, { developerId }, since, batch)) === batch);
    }
    if (firsts.length < atOnce) return;
    after = firsts.at(-1)?.developerId ?? after;
  }
}

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
  open(context) {
    const deps = {
      ...context,
      streams: context.provide(eventStreams, openStreams(context)),
      isSessionGood: context.isSessionGood,
      isKeyGood: async (hash: Buffer) => (await context.findKeyCaller(hash)) !== undefined,
    };
    return {
      routes: (app) => app.register(eventRoutes, deps),
      jobs: [retentionOfEvents(context)],
    };
  },
});
