/**
 * The tables of a noun, by their names in SQL: its own, and foreign ones that its SQL functions name. Other noun's
 * queries (`*.queries.ts`) need no word here. `tools/sql-owners.ts` holds each file against it.
 */
export interface TableUse {
  readonly owns: readonly string[];
  readonly reads: readonly string[];
  /** Read too, where a statement needs it. */
  readonly writes: readonly string[];
}
