import { deleteEventsBefore, listFirstsAcrossTenants } from './events.repo.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './events.service.ts';

export interface RetainDeps extends Pick<EventsDeps, 'db' | 'clock'> {
  /** Developers in one read. */
  readonly atOnce?: number;
  /** Events in one delete, so that no delete locks many rows or runs long. */
  readonly batch?: number;
}

/**
 * Deletes the events whose retention has ended, developer by developer. Numbers are never given twice, so a
 * reader with a cursor does not notice.
 */
export async function deleteAgedEvents(
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
