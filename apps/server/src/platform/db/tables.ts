/**
 * The tables of a noun, by their names in SQL: its own, and foreign ones that its SQL functions name. Reads through
 * another noun's `*.queries.ts` are not declared. `tools/sql-owners.ts` checks each file.
 */
export interface TableUse {
  readonly owns: readonly string[];
  readonly reads: readonly string[];
  /** Statements may read these too. */
  readonly writes: readonly string[];
}
