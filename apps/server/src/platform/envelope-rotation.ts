import type { Clock } from './clock.ts';
import type { Executor } from './db/db.ts';
import type { MasterKey, MasterKeys } from './envelope.ts';
import { refuseLost, type SealedRows } from './sealed-rows.ts';

/** The parts of a process that seal stored secrets again when the operator has a new vault key. */
export interface Rotation {
  readonly db: Executor;
  readonly clock: Clock;
  readonly vault: MasterKeys;
  readonly warn: (message: string) => void;
  /** Rows in one read. */
  readonly batch?: number;
}

/** The place of a row in the order of the ids, over all developers. */
export interface Position {
  readonly developerId: string;
  readonly id: string;
}

/** One developer's rows of a read. */
export interface Portion<Row> {
  readonly developerId: string;
  readonly rows: readonly Row[];
  readonly fromKeyId: string;
  readonly current: MasterKey;
}

/** A table whose rows have data keys that a vault key seals. */
interface EnvelopeTable<Row extends Position> {
  /** The rows, and the repair of those that no configured key opens, in a warning for the operator. */
  readonly warning: string;
  /** The first key id after another that seals a row, by one probe of the index. */
  readonly nextKeyId: (db: Executor, after: string) => Promise<string | undefined>;
  /** The rows that a key seals, after a position. */
  readonly listUnder: (
    db: Executor,
    keyId: string,
    after: Position,
    limit: number,
  ) => Promise<readonly Row[]>;
  /** Seals the data keys of a portion under the current key, and records it. */
  readonly seal: (rotation: Rotation, portion: Portion<Row>) => Promise<void>;
}

const BATCH = 500;

/** The keys that seal rows now. */
async function keyIdsInUse({ nextKeyId }: Pick<EnvelopeTable<never>, 'nextKeyId'>, db: Executor) {
  const ids: string[] = [];
  for (let id = await nextKeyId(db, ''); id !== undefined; id = await nextKeyId(db, id)) ids.push(id);
  return ids;
}

/** Makes the two steps of a table: the look for rows without a key, and the run that seals again. */
export const rotationOf = <Row extends Position>(sealed: EnvelopeTable<Row>) => ({
  /** The operator would learn of too few keys from failed uses otherwise. */
  rows: (vault: MasterKeys): SealedRows => {
    const findLost = (db: Executor) => findLostIn(sealed, db, vault);
    return { findLost, prepare: async ({ db, ...start }) => refuseLost(await findLost(db), start) };
  },
  rotate: (rotation: Rotation, signal: AbortSignal): Promise<void> => rotate(sealed, rotation, signal),
});

async function findLostIn<Row extends Position>(
  sealed: EnvelopeTable<Row>,
  db: Executor,
  vault: MasterKeys,
): Promise<string | undefined> {
  const lost = (await keyIdsInUse(sealed, db)).filter((id) => !vault.ids.includes(id));
  return lost.length === 0 ? undefined : `${sealed.warning}: ${lost.join(', ')}`;
}

/**
 * Seals the data keys of former vault keys under the current one. The next run finds the rest when a run was cut off.
 * Sealed values, `updatedAt` and ids stay as they are.
 */
async function rotate<Row extends Position>(
  sealed: EnvelopeTable<Row>,
  rotation: Rotation,
  signal: AbortSignal,
): Promise<void> {
  const { db, vault } = rotation;
  const { current } = vault;
  if (!current) return;
  for (const fromKeyId of await keyIdsInUse(sealed, db)) {
    const isFormer = fromKeyId !== current.id && vault.find(fromKeyId) !== undefined;
    if (isFormer) await rotateFrom(sealed, rotation, { fromKeyId, current }, signal);
  }
}

async function rotateFrom<Row extends Position>(
  { listUnder, seal }: EnvelopeTable<Row>,
  rotation: Rotation,
  keys: Pick<Portion<Row>, 'fromKeyId' | 'current'>,
  signal: AbortSignal,
): Promise<void> {
  const { db, batch = BATCH } = rotation;
  let after: Position = { developerId: '', id: '' };
  while (!signal.aborted) {
    const read = await listUnder(db, keys.fromKeyId, after, batch);
    for (const [developerId, rows] of Map.groupBy(read, (row) => row.developerId)) {
      await seal(rotation, { developerId, rows, ...keys });
    }
    after = read.at(-1) ?? after;
    if (read.length < batch) return;
  }
}
