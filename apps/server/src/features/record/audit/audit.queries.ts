import { type RawBuilder, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

export function entriesOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('auditEntries as entry').where('entry.developerId', '=', developerId);
}

/** The number of the developer's last event, which the head of the chain counts. */
export function lastEventOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('auditHeads').select('eventSeq').where('developerId', '=', developerId);
}

/** The number of the chain's first entry that is not older than a time, or that after the last. */
export const firstSeqSince = ({ developerId }: Tenant, since: Date) =>
  sql<string>`(select audit_first_seq(${developerId}, ${since}))`;

/** The time of an agent's first entry. The caller names the agent by a column: `count.agentId`. */
export const firstEntryOf = (db: Executor, { developerId }: Tenant, agentId: RawBuilder<string>) =>
  db
    .selectFrom('auditEntries')
    .select('at')
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .orderBy('seq')
    .limit(1);

/** The chains of all developers, with the number of the last entry, to be joined by `head.developerId`. */
export const headsAcrossTenants = (db: Executor) =>
  db.selectFrom('auditHeads').select(['developerId', 'seq']).as('head');

interface Span {
  readonly since: string;
  readonly until: string;
  /** The number of an entry. */
  readonly after: string;
  readonly limit: number;
}

/** Entries about authorization requests, asked and refused ones, in the order of the chain. */
export function listAskedRequests(
  db: Executor,
  { developerId }: Tenant,
  { since, until, after, limit }: Span,
) {
  const firstSeq = (at: string) => sql<string>`(select audit_first_seq(${developerId}, ${new Date(at)}))`;
  return db
    .selectFrom('auditEntries')
    .select(['seq', 'id', 'agentId', 'principalId', 'at', 'metadata'])
    .where('developerId', '=', developerId)
    .where('action', 'in', ['authorization.requested', 'authorization.blocked'])
    .where('seq', '>=', firstSeq(since))
    .where('seq', '<', firstSeq(until))
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}
