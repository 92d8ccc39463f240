import type { DatabaseConnection } from 'kysely';
import type { Tally } from '../telemetry/meter.ts';

/** What a committed statement did. */
export interface Committed {
  readonly tallies: readonly Tally[];
  /** Whose events it wrote, if it wrote any. */
  readonly eventsOf?: string;
}

interface CountedHow {
  /** There is a tally for each row that is returned, and may be returned fewer. */
  readonly isByRow?: true;
  readonly eventsOf?: string;
}

/** A parameter of a statement that says what is to be told once that statement is committed. */
export class Counted {
  readonly text: string;
  readonly tallies: readonly Tally[];
  readonly #how: CountedHow;

  constructor(text: string, tallies: readonly Tally[], how: CountedHow = {}) {
    this.text = text;
    this.tallies = tallies;
    this.#how = how;
  }

  committedBy(rows: readonly unknown[]): Committed {
    const { isByRow, eventsOf } = this.#how;
    const tallies = isByRow ? this.tallies.slice(0, rows.length) : this.tallies;
    return { tallies, ...(eventsOf !== undefined && { eventsOf }) };
  }

  /** Asked by `pg` for what to send. */
  toPostgres(): string {
    return this.text;
  }

  /** It is sent as it is: made JSON of once more, it would be another text, and be counted by nobody. */
  toJSON(): never {
    throw new Error('Pass it as the parameter itself.');
  }
}

/**
 * Tells of a connection's committed statements. Here and nowhere else, so that nobody who writes has to think of it,
 * and nothing is counted that was rolled back. A hot function that refuses says so in the column `refusal`, and
 * one that appends returns a row for what it wrote: without either, nothing was done.
 */
export function countCommits(
  connection: DatabaseConnection,
  onCommitted: (committed: readonly Committed[]) => void,
): void {
  const execute = connection.executeQuery.bind(connection);
  let uncommitted: Committed[] | undefined; // undefined outside of a transaction
  const savepoints = new Map<string, number>(); // by name, how many there were

  connection.executeQuery = async (query, ...rest) => {
    const result = await execute<never>(query, ...rest);
    const { sql, parameters } = query;
    if (parameters.length === 0) {
      if (/^(begin|start transaction)/.test(sql)) uncommitted = [];
      if (sql === 'rollback') uncommitted = undefined;
      const [, undone, name = ''] = /^(rollback to )?savepoint (\S+)/.exec(sql) ?? [];
      if (uncommitted && undone) uncommitted.length = savepoints.get(name) ?? 0;
      else if (uncommitted && name) savepoints.set(name, uncommitted.length);
      if (sql !== 'commit') return result;
      const { command } = Object(result.rows[0]);
      if (command === 'COMMIT' && uncommitted && uncommitted.length > 0) onCommitted(uncommitted);
      uncommitted = undefined;
      return result;
    }
    const counted = parameters.find((parameter) => parameter instanceof Counted);
    if (!counted || !hasWritten(result.rows)) return result;
    const committed = counted.committedBy(result.rows);
    if (uncommitted) uncommitted.push(committed);
    else onCommitted([committed]);
    return result;
  };
}

const hasWritten = ([first]: readonly unknown[]) =>
  first !== undefined && (Object(first).refusal ?? null) === null;
