import type { Executor } from '../../../../../../src/platform/db/db.ts';

/** A statement where none belongs. */
export const findOther = (db: Executor) => db.selectFrom('developers').selectAll().executeTakeFirst();
