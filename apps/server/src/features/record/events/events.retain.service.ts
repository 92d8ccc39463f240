import { deleteEventsBefore, listFirstsAcrossTenants } from './events.repo.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './events.service.ts';

/** Developers that are looked at in one trip. */
const AT_ONCE = 500;
/** So that no delete holds many rows, or runs long. */
const BATCH = 1000;

/**
 * Deletes the events that are shown to nobody any more, developer by developer. Numbers are not given again, so who
 * reads by them goes on as if nothing had happened.
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
