import type { Executor } from '../../../../../../src/platform/db/db.ts';

/** A statement outside a repo. */
export const findOther = (db: Executor) => db.selectFrom('developers').selectAll().executeTakeFirst();
