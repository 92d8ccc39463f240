import { sql } from 'kysely';
import type { Executor } from '../../src/platform/db/db.ts';
import { CONNECTIONS } from './lent-pool.ts';

/**
 * Opens all connections of a file's pool. Otherwise the first of several requests is done on the one open connection
 * before the others have theirs, and nothing that is sent at once meets.
 */
export async function openConnections(db: Executor): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sql`select pg_backend_pid()`.execute(db)));
}
