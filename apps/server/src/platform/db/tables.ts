/**
 * The tables of a noun, by their names in SQL: its own, and foreign ones that its SQL functions name. Reads through
 * another noun's `*.queries.ts` are not declared. `tools/sql-owners.ts` holds each file against this.
 */
export interface TableUse {
  readonly owns: readonly string[];
  readonly reads: readonly string[];
  /** Read too, where a statement needs it. */
  readonly writes: readonly string[];
}
