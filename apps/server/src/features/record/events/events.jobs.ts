import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteEventsBefore, listFirstsAcrossTenants } from './events.repo.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './events.ts';

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
