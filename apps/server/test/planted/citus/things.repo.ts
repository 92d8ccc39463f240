import { sql } from 'kysely';
import type { Executor } from '../../../src/platform/db/db.ts';

export const lockAll = (db: Executor) =>
  db.selectFrom('agents').select('id').where('status', '=', 'active').forUpdate().skipLocked().execute();

export const lockOwn = (db: Executor, developerId: string) =>
  db.selectFrom('agents as a').select('id').where('a.developerId', '=', developerId).forUpdate().execute();

export const lockSome = (db: Executor) =>
  sql`select id from parts order by id limit 1 for update`.execute(db);
