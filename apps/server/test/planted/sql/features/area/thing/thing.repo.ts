import type { Executor } from '../../../../../../src/platform/db/db.ts';

/** Reads undeclared tables. */
export const listOthers = (db: Executor) =>
  db.selectFrom('agents').innerJoin('developers as owner', 'owner.id', 'agents.id').selectAll().execute();
