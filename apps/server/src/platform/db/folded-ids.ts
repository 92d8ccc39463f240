import { type SqlBool, sql } from 'kysely';

/** Rows whose `principal_id` is one of these, in any case. An index on `lower(principal_id)` serves it. */
export const hasFoldedPrincipal = (ids: readonly string[]) =>
  sql<SqlBool>`lower(principal_id) = any(array(select lower(i) from unnest(${[...ids]}::text[]) i))`;
