/**
 * The tables of a noun, by their names in SQL: its own, and foreign ones that its SQL functions name. Reads through
 * another noun's `*.queries.ts` are not declared. `test/sql/tenants.test.ts` checks each file.
 */
export interface TableUse {
  /** Each with what bounds it. */
  readonly owns: Readonly<Record<string, Bound>>;
  readonly reads: readonly string[];
  /** Statements may read these too. */
  readonly writes: readonly string[];
}

/** What keeps a table from growing without end for one account. Only the operator fills the others. */
export type Bound =
  | 'operator'
  /** As many rows as a quota of the plan, or as many more `every` month. */
  | (Size & { readonly quota: string; readonly every?: 'month' })
  /** A fixed number of rows. */
  | (Size & { readonly most: number })
  /** For `each` row of another table so many (1), or as many as a quota. */
  | (Size & { readonly of: string; readonly each?: number | string })
  /** Rows that a request limit lets in (`plan`: that of the plan). They stay with the account, or are `kept` for a time. */
  | (Size & { readonly rate: string; readonly kept?: string });

/** A large row, in KiB (1). */
interface Size {
  readonly kib?: number;
}
