import type { TableUse } from '../../apps/server/src/platform/db/tables.ts';
import type { Uses } from './uses.ts';

export interface Owner extends Omit<TableUse, 'owns'> {
  readonly owns: readonly string[];
  /** `access/grants`, or the folder below `src` where it is no feature's. */
  readonly name: string;
  readonly folder: string;
}

/** A file with SQL in it. */
export interface User {
  readonly path: string;
  readonly owner: Owner;
  readonly uses: Uses;
}

export interface Table {
  readonly file: string;
  /** The noun that the comment before it names. */
  readonly said: string | undefined;
}

export interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  readonly enums: ReadonlySet<string>;
  /** Functions that migrations make, by file. */
  readonly misplaced: readonly (readonly [name: string, file: string])[];
}

/** Everything that the checks are made on. */
export interface Seen extends Schema {
  readonly owners: readonly Owner[];
  readonly functions: readonly User[];
  readonly sources: readonly User[];
}
