import type { DatabaseConnection } from 'kysely';
import type { Tally } from '../telemetry/meter.ts';

/** A parameter of a statement that says what is to be counted once that statement is committed. */
export class Counted {
  readonly text: string;
  readonly tallies: readonly Tally[];
  readonly #isByRow: boolean;

  /** @param how `by row` where there is a tally for each row that is returned, and may be returned fewer. */
  constructor(text: string, tallies: readonly Tally[], how: 'whole' | 'by row' = 'whole') {
    this.text = text;
    this.tallies = tallies;
    this.#isByRow = how === 'by row';
  }

  talliesOf(rows: readonly unknown[]): readonly Tally[] {
    return this.#isByRow ? this.tallies.slice(0, rows.length) : this.tallies;
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
  onCommitted: (tallies: readonly Tally[]) => void,
): void {
  const execute = connection.executeQuery.bind(connection);
  let uncommitted: Tally[] | undefined; // undefined outside of a transaction
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
    const tallies = counted.talliesOf(result.rows);
    if (uncommitted) uncommitted.push(...tallies);
    else onCommitted(tallies);
    return result;
  };
}

const hasWritten = ([first]: readonly unknown[]) =>
  first !== undefined && (Object(first).refusal ?? null) === null;
