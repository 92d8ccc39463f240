import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Executor } from './db/db.ts';
import { AppError } from './errors.ts';
import { refuseLost, type SealedRows } from './seal.ts';

/** A key that seals data keys, under the id that follows from it. */
export interface MasterKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The master keys of the process. */
export interface MasterKeys {
  /** The key for new values. Undefined when the operator has set none. */
  readonly current: MasterKey | undefined;
  /** The current key or a former one. */
  find(id: string): KeyObject | undefined;
  /** The ids of all of them. */
  readonly ids: readonly string[];
}

/** @throws NOT_CONFIGURED when the operator has set no vault key */
export function currentKey({ current }: MasterKeys): MasterKey {
  if (current) return current;
  const setting = 'VAULT_ENCRYPTION_KEY';
  throw new AppError('NOT_CONFIGURED', `The vault has no key: the operator has not set ${setting}.`, {
    setting,
  });
}

/** The names of the row that sealed values belong to: developer, principal, service. */
export type SealedFor = readonly [string, string, string];

/** A data key at work. */
export interface Envelope {
  /** The id of the master key that seals the data key. */
  readonly keyId: string;
  /** The data key as it is stored: `v1.<keyId>.<nonce>.<sealed data key>`. */
  readonly dataKey: string;
  /** @param field the name of the column, which is bound in. @returns `v1.<nonce>.<ciphertext and tag>` */
  seal(field: string, text: string): string;
  /** @returns undefined for a text that was sealed for another place, under another key, or altered */
  open(field: string, sealed: string): string | undefined;
  /** Seals the same data key under another master key. Sealed fields stay as they are. */
  under(master: MasterKey): Envelope;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12; // NIST SP 800-38D, section 5.2.1.1
const TAG_BYTES = 16;

/** Makes a data key for a row. */
export const newEnvelope = (master: MasterKey, owner: SealedFor): Envelope =>
  envelopeOf(master, owner, randomBytes(KEY_BYTES));

/** @returns undefined when no configured key opens the data key, or when it was sealed for another row */
export function openEnvelope(keys: MasterKeys, dataKey: string, owner: SealedFor): Envelope | undefined {
  const [version, keyId = '', nonce = '', sealed = ''] = dataKey.split('.');
  const key = keys.find(keyId);
  if (version !== 'v1' || !key) return undefined;
  const bytes = decrypt(key, nonce, sealed, boundTo('data_key', keyId, owner));
  return bytes?.length === KEY_BYTES ? around(keyId, dataKey, owner, bytes) : undefined;
}

function envelopeOf({ id, key }: MasterKey, owner: SealedFor, bytes: Buffer): Envelope {
  const sealed = encrypt(key, bytes, boundTo('data_key', id, owner));
  return around(id, `v1.${id}.${sealed}`, owner, bytes);
}

function around(keyId: string, dataKey: string, owner: SealedFor, bytes: Buffer): Envelope {
  return {
    keyId,
    dataKey,
    seal: (field, text) => `v1.${encrypt(bytes, Buffer.from(text), boundTo(field, '', owner))}`,
    open(field, stored) {
      const [version, nonce = '', sealed = ''] = stored.split('.');
      if (version !== 'v1') return undefined;
      return decrypt(bytes, nonce, sealed, boundTo(field, '', owner))?.toString('utf8');
    },
    under: (master) => envelopeOf(master, owner, bytes),
  };
}

/** Bound into the tag, so that a value moved to another place does not open there. */
const boundTo = (field: string, keyId: string, owner: SealedFor): Buffer =>
  Buffer.from(JSON.stringify(['behest-vault-v1', field, keyId, ...owner]));

function encrypt(key: KeyObject | Buffer, plain: Buffer, aad: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(aad);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return `${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
}

function decrypt(key: KeyObject | Buffer, nonce: string, sealed: string, aad: Buffer): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const iv = Buffer.from(nonce, 'base64url');
  if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(aad);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined; // sealed by another key or for another place, or altered
  }
}

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
