import type { Io } from '../io.ts';
import type { Globals } from '../program/globals.ts';
import { idOf, tableOf } from './table.ts';

export interface View {
  /** The members that a table shows, in their order. Default: those that look important. */
  readonly columns?: readonly string[] | undefined;
}

/** Results go to standard output, and all else to standard error. */
export interface Printer {
  /** Prints the rows of a list. */
  rows(rows: readonly unknown[], view?: View): Promise<void>;
  /** Prints one object. */
  one(value: unknown, view?: View): Promise<void>;
  /** Prints a line that is the result itself. */
  line(text: string): void;
  /** Tells the person something that is no result. */
  note(text: string): void;
}

export function printerOf(io: Io, globals: Globals): Printer {
  const { output } = globals;
  const line = (text: string) => io.out(`${text}\n`);
  const lines = (texts: readonly string[]) => {
    for (const text of texts) line(text);
  };
  const note = (text: string) => {
    if (!globals.isQuiet) io.err(`${text}\n`);
  };
  const look = { isUtc: globals.isUtc };
  return {
    line,
    note,
    async rows(rows, { columns } = {}) {
      if (output === 'json') return line(JSON.stringify(rows, undefined, 2));
      if (output === 'ndjson') return lines(rows.map((row) => JSON.stringify(row)));
      if (output === 'yaml') return io.out(await yamlOf(rows));
      if (output === 'id') return lines(rows.map(idOf));
      if (rows.length === 0) return note('(no results)');
      line(tableOf(rows, { ...look, columns }));
    },
    async one(value, { columns } = {}) {
      if (output === 'json') return line(JSON.stringify(value, undefined, 2));
      if (output === 'ndjson') return line(JSON.stringify(value));
      if (output === 'yaml') return io.out(await yamlOf(value));
      if (output === 'id') return line(idOf(value));
      if (typeof value !== 'object' || value === null) return line(String(value));
      const entries = Object.entries(value)
        .filter(([name]) => !columns || columns.includes(name))
        .map(([field, member]) => ({ field, value: member }));
      line(tableOf(entries, { ...look, columns: ['field', 'value'] }));
    },
  };
}

async function yamlOf(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value);
}
