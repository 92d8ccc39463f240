import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

export function entriesOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('auditEntries as entry').where('entry.developerId', '=', developerId);
}

/** The number of the developer's last event, which the head of the chain counts. */
export function lastEventOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('auditHeads').select('eventSeq').where('developerId', '=', developerId);
}
