import type { RawBuilder } from 'kysely';
import type { Tally } from '../telemetry/meter.ts';
import { type CommitEffect, tellAfterCommit } from './commit-effects.ts';
import type { Executor } from './db.ts';
import { type HotWrite, type Made, writeHot } from './hot-writes.ts';

/**
 * Audit entries and events on their way into the database. Only a statement that writes them gets their JSON,
 * so no statement can write them without reporting the effect.
 */
export interface Records {
  /** Runs a statement that writes them. */
  write<Row>(db: Executor, statement: (json: string) => RawBuilder<Row>): Promise<Row[]>;
  /**
   * Runs a hot write, and runs it again when it lost a race.
   * @returns the reason why it wrote nothing, or null
   */
  writeUnlessRefused<Refusal extends string>(
    db: Executor,
    write: Omit<HotWrite, 'acts'>,
  ): Promise<Refusal | null>;
  /** As `writeUnlessRefused`, for a function that chooses among the acts. @returns its choice, or why it wrote nothing */
  writeChosen(
    db: Executor,
    write: Omit<HotWrite, 'acts'>,
  ): Promise<{ readonly made: Made } | { readonly refusal: string }>;
}

/** @param tallies those of each act, or, where no function chooses among the acts, those of all */
export function newRecords(
  json: string,
  { eventsOf, tallies }: Pick<CommitEffect, 'eventsOf'> & { readonly tallies: readonly (readonly Tally[])[] },
): Records {
  const effectOf = (counted: readonly (readonly Tally[])[]): CommitEffect => ({
    tallies: counted.flat(),
    ...(eventsOf !== undefined && { eventsOf }),
  });
  const effect = effectOf(tallies);
  return {
    async write(db, statement) {
      const { rows } = await statement(json).execute(db);
      await tellAfterCommit(db, effect);
      return rows;
    },
    async writeUnlessRefused<Refusal extends string>(db: Executor, write: Omit<HotWrite, 'acts'>) {
      const { refusal } = await writeHot(db, { ...write, acts: json });
      if (refusal === null) await tellAfterCommit(db, effect);
      return refusal as Refusal | null; // the caller knows what its function returns
    },
    async writeChosen(db, write) {
      const { refusal, made } = await writeHot(db, { ...write, acts: json });
      if (!made) return { refusal: String(refusal) };
      await tellAfterCommit(db, effectOf(made.acts.map((place) => tallies[place] ?? [])));
      return { made };
    },
  };
}
