import { deleteEventsBefore, listFirstsAcrossTenants } from './events.repo.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './events.service.ts';

/** Developers in one read. */
const AT_ONCE = 500;
/** Events in one delete, so that no delete locks many rows or runs long. */
const BATCH = 1000;

/**
 * Deletes the events whose retention has ended, developer by developer. Numbers are never given twice, so a
 * reader with a cursor does not notice.
 */
export async function deleteAgedEvents(
  { db, clock }: Pick<EventsDeps, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const since = retainedSince(clock());
  let after = '';
  while (!signal.aborted) {
    const firsts = await listFirstsAcrossTenants(db, after, AT_ONCE);
    for (const { developerId, createdAt } of firsts) {
      if (createdAt >= since) continue;
      while (!signal.aborted && (await deleteEventsBefore(db, { developerId }, since, BATCH)) === BATCH);
    }
    if (firsts.length < AT_ONCE) return;
    after = firsts.at(-1)?.developerId ?? after;
  }
}
