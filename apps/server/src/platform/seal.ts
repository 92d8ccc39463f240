import { createCipheriv, createDecipheriv, createHash, type KeyObject, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Executor } from './db/db.ts';

export interface SealingKeys {
  readonly current: KeyObject;
  /** Former keys, which still open the values that they sealed. */
  readonly previous: readonly KeyObject[];
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12; // NIST SP 800-38D, section 5.2.1.1
const TAG_BYTES = 16;

/** @param boundTo is bound in, so that a value moved to another place does not open there */
export function seal({ current }: SealingKeys, text: string, boundTo: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, current, nonce).setAAD(boundTo);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @returns undefined when no key opens it */
export function unseal(
  { current, previous }: SealingKeys,
  sealed: Buffer,
  boundTo: Buffer,
): string | undefined {
  for (const key of [current, ...previous]) {
    const text = openWith(key, sealed, boundTo);
    if (text !== undefined) return text;
  }
  return undefined;
}

function openWith(key: KeyObject, sealed: Buffer, boundTo: Buffer): string | undefined {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo).setAuthTag(tag);
    const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined; // sealed by another key, or altered
  }
}

/** Seals and opens the texts of one table under keys that were derived for it. */
export interface Seals {
  /** The id by which a row names the key that sealed it. It is equal on every instance. */
  readonly keyId: string;
  /** @param place the names of the row, so that a text moved to another row does not open there */
  seal(text: string, place: readonly string[]): Buffer;
  /** @returns undefined when the key that sealed it is no longer configured */
  open(sealed: Buffer, place: readonly string[]): string | undefined;
}

/** Makes the seals of a table. Its rows depend on the labels of key ids and places, so these never change. */
export function sealsUnder(
  keys: SealingKeys,
  labels: { readonly keyId: string; readonly place: string },
): Seals {
  const binding = (place: readonly string[]) => Buffer.from(JSON.stringify([labels.place, ...place]));
  const digest = createHash('sha256').update(`${labels.keyId}:`).update(keys.current.export());
  return {
    keyId: digest.digest('hex').slice(0, 16),
    seal: (text, place) => seal(keys, text, binding(place)),
    open: (sealed, place) => unseal(keys, sealed, binding(place)),
  };
}

/** A table whose rows name the derived key that sealed them. */
interface SealedTable<Row, Opened> {
  /** The current key. */
  readonly keyId: string;
  /** Rows of all developers that another key sealed, after one of them in the order of their ids. */
  readonly list: (
    db: Executor,
    keyId: string,
    after: Row | undefined,
    limit: number,
  ) => Promise<readonly Row[]>;
  /** @returns undefined for a row that no configured key opens */
  readonly open: (row: Row) => Opened | undefined;
  /** Seals a row under the current key, and leaves one that was written meanwhile. */
  readonly write: (db: Executor, row: Row, opened: Opened) => Promise<unknown>;
  /** The rows that were lost, and the repair, in a warning for the operator. */
  readonly warning: (count: number) => string;
}

interface Preparation {
  readonly db: Executor;
  readonly isProduction: boolean;
  readonly warn: (message: string) => void;
  /** Rows in one read. */
  readonly batch?: number;
}

/** The rows of a table that keys of the process seal. The operator may have changed those keys. */
export interface SealedRows {
  /** Brings the rows in line with the keys. @throws in production when no configured key opens a row */
  prepare(preparation: Preparation): Promise<void>;
  /** Changes nothing. @returns a warning when there are rows that no configured key opens */
  findLost(db: Executor): Promise<string | undefined>;
}

const BATCH = 500;

export function sealedRows<Row, Opened>(table: SealedTable<Row, Opened>): SealedRows {
  /** Calls `found` with each row that opens. @returns the number of the others */
  async function walk(db: Executor, batch: number, found: (row: Row, opened: Opened) => Promise<unknown>) {
    let lost = 0;
    let after: Row | undefined;
    for (;;) {
      const rows = await table.list(db, table.keyId, after, batch);
      for (const row of rows) {
        const opened = table.open(row);
        if (opened === undefined) lost += 1;
        else await found(row, opened);
      }
      after = rows.at(-1) ?? after;
      if (rows.length < batch) return lost;
    }
  }
  const told = (lost: number) => (lost === 0 ? undefined : table.warning(lost));
  return {
    async prepare({ db, isProduction, warn, batch = BATCH }) {
      const lost = await walk(db, batch, (row, opened) => table.write(db, row, opened));
      refuseLost(told(lost), { isProduction, warn });
    },
    findLost: async (db) => told(await walk(db, BATCH, async () => {})),
  };
}

/** Refuses a start with too few keys in production, and warns elsewhere. */
export function refuseLost(
  warning: string | undefined,
  { isProduction, warn }: Pick<Preparation, 'isProduction' | 'warn'>,
): void {
  if (warning === undefined) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(warning);
}

/** A row with one sealed value. */
interface SealedRow {
  readonly developerId: string;
  readonly id: string;
  readonly sealed: Buffer;
}

type Sealed = Pick<SealedRow, 'sealed'> & { readonly sealKeyId: string };

interface SealedColumn<Value> {
  /** Has the columns `developer_id`, `id`, `sealed` and `seal_key_id`. */
  readonly table: string;
  readonly labels: Parameters<typeof sealsUnder>[1];
  readonly toText: (value: Value) => string;
  readonly fromText: (text: string) => Value;
  readonly warning: (count: number) => string;
}

/** Seals and opens the values of a column. A sealed value is bound to its row. */
export function sealedColumn<Value>(
  { table, labels, toText, fromText, warning }: SealedColumn<Value>,
  keys: SealingKeys,
) {
  const seals = sealsUnder(keys, labels);
  const sealValue = (value: Value, { developerId, id }: Omit<SealedRow, 'sealed'>): Sealed => ({
    sealed: seals.seal(toText(value), [developerId, id]),
    sealKeyId: seals.keyId,
  });
  /** @returns undefined when the key that sealed it is no longer configured */
  const open = ({ sealed, developerId, id }: SealedRow): Value | undefined => {
    const text = seals.open(sealed, [developerId, id]);
    return text === undefined ? undefined : fromText(text);
  };
  const rows = sealedRows<SealedRow, Value>({
    ...{ keyId: seals.keyId, open, warning },
    list: (db, keyId, after, limit) => listSealedOtherwiseAcrossTenants(db, table, { keyId, after, limit }),
    write: (db, row, value) => replaceSealed(db, table, row, sealValue(value, row)),
  });
  return { seal: sealValue, open, rows };
}

/** Rows that another key than the current one has sealed, after one of them in the order of ids. */
async function listSealedOtherwiseAcrossTenants(
  db: Executor,
  table: string,
  {
    keyId,
    after = { developerId: '', id: '' },
    limit,
  }: {
    readonly keyId: string;
    readonly after?: Omit<SealedRow, 'sealed'> | undefined;
    readonly limit: number;
  },
): Promise<SealedRow[]> {
  const rows = sql<SealedRow>`
    select developer_id, id, sealed from ${sql.table(table)}
    where seal_key_id <> ${keyId} and (developer_id, id) > (${after.developerId}, ${after.id})
    order by developer_id, id limit ${limit}`;
  return (await rows.execute(db)).rows;
}

/** Leaves a value that was written meanwhile. */
export async function replaceSealed(
  db: Executor,
  table: string,
  before: SealedRow,
  { sealed, sealKeyId }: Sealed,
): Promise<void> {
  await sql`
    update ${sql.table(table)} set sealed = ${sealed}, seal_key_id = ${sealKeyId}
    where developer_id = ${before.developerId} and id = ${before.id} and sealed = ${before.sealed}`.execute(
    db,
  );
}
