import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

export function entriesOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('auditEntries as entry').where('entry.developerId', '=', developerId);
}

/** The number of the developer's last event, which the head of the chain counts. */
export function lastEventOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('auditHeads').select('eventSeq').where('developerId', '=', developerId);
}

/** The number of the first entry that is not older than a time, or the number after the last. */
export const firstSeq = (developerId: string, at: string) =>
  sql<string>`(select audit_first_seq(${developerId}, ${new Date(at)}))`;

/** A contiguous part of a chain, both ends included; an empty part ends before it begins. */
export interface SeqRange {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The part of the chain that was written in a span of time. Time never goes back along a chain. */
export async function findSeqRange(
  db: Executor,
  { developerId }: Tenant,
  { since, until }: { since?: string; until?: string },
): Promise<SeqRange> {
  const { seq, first, next } = await db
    .selectFrom('auditHeads')
    .select([
      'seq',
      (since ? firstSeq(developerId, since) : sql<string>`1`).as('first'),
      (until ? firstSeq(developerId, until) : sql<string>`seq + 1`).as('next'),
    ])
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  return { fromSeq: Number(first), toSeq: Math.min(Number(next) - 1, Number(seq)) };
}

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
  return db
    .selectFrom('auditEntries')
    .select(['seq', 'id', 'agentId', 'principalId', 'at', 'metadata'])
    .where('developerId', '=', developerId)
    .where('action', 'in', ['authorization.requested', 'authorization.blocked'])
    .where('seq', '>=', firstSeq(developerId, since))
    .where('seq', '<', firstSeq(developerId, until))
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}
