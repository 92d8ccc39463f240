import type { Clock } from './clock.ts';
import type { Executor } from './db/db.ts';
import type { MasterKey, MasterKeys } from './envelope.ts';

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
interface SealedRows<Row extends Position> {
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
async function keyIdsInUse({ nextKeyId }: Pick<SealedRows<never>, 'nextKeyId'>, db: Executor) {
  const ids: string[] = [];
  for (let id = await nextKeyId(db, ''); id !== undefined; id = await nextKeyId(db, id)) ids.push(id);
  return ids;
}

/** Makes the two steps of a table: the look at the start, and the run that seals again. */
export const rotationOf = <Row extends Position>(sealed: SealedRows<Row>) => ({
  /** Refuses a start with too few keys. @throws in production */
  mustOpen: (rotation: Pick<Rotation, 'db' | 'vault' | 'warn'>, isProduction: boolean): Promise<void> =>
    mustOpen(sealed, rotation, isProduction),
  rotate: (rotation: Rotation, signal: AbortSignal): Promise<void> => rotate(sealed, rotation, signal),
});

/**
 * Refuses a start with too few keys. The operator would learn of it from failed uses otherwise.
 * @throws in production
 */
async function mustOpen<Row extends Position>(
  sealed: SealedRows<Row>,
  { db, vault, warn }: Pick<Rotation, 'db' | 'vault' | 'warn'>,
  isProduction: boolean,
): Promise<void> {
  const lost = (await keyIdsInUse(sealed, db)).filter((id) => !vault.ids.includes(id));
  if (lost.length === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(`${sealed.warning}: ${lost.join(', ')}`);
}

/**
 * Seals the data keys of former vault keys under the current one. The next run finds the rest when a run was cut off.
 * Sealed values, `updatedAt` and ids stay as they are.
 */
async function rotate<Row extends Position>(
  sealed: SealedRows<Row>,
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
  { listUnder, seal }: SealedRows<Row>,
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
