import type { Clock } from '../../../platform/clock.ts';
import { afterCommit, type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { type Operator, recordForOperator } from '../operator/index.ts';
import {
  findKnownKids,
  insertKey,
  listKeyRows,
  lockKeys,
  replaceDataKey,
  type SigningKeyRow,
  turnKey,
} from './keys.repo.ts';
import type { SigningAlg, SigningKey } from './keys.rules.ts';
import { newSigningKey, openPrivateKey, publicKeyOf, resealedDataKey, sealedRow } from './seal.ts';
import { dueTurns, isRotationDue, type KeyLife, type KeyTurn } from './stored.rules.ts';
import type { StoredKeys } from './stored.ts';

export interface KeyStoreDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly store: EphemeralStore;
  readonly vault: MasterKeys;
  readonly stored: StoredKeys;
  readonly warn: (message: string) => void;
}

/** The channel on which an instance says that the keys have changed. */
export const KEYS_CHANGED = 'bh:signing-keys';

/** Programs with jose fetch unknown keys at most every thirty seconds, and an instance may learn of a key after ten. */
const SAFE_DELAY_SECONDS = 40;
const SHORT_DELAY = `SIGNING_KEY_ACTIVATION_DELAY_SECONDS is shorter than ${SAFE_DELAY_SECONDS}: after a rotation, programs that keep the published keys refuse good tokens for up to half a minute`;

const SYSTEM: Operator = { actor: 'system', requestId: 'signing-keys' };

/**
 * Brings the keys of the settings into the database, and reads it, before the service listens.
 * @throws Error when the process could not sign
 */
export async function prepareKeys(deps: KeyStoreDeps): Promise<void> {
  if (deps.stored.spans.delaySeconds < SAFE_DELAY_SECONDS) deps.warn(SHORT_DELAY);
  await inTransaction(deps.db, (tx) => insertConfigured(deps, tx));
  await resealKeys(deps);
  await turnKeys(deps);
  const rows = await readKeys(deps);
  const { signsAs } = deps.stored;
  if (!rows.some(({ alg, state }) => alg === signsAs && state !== 'retired')) {
    throw new Error(`JWT_SIGNING_ALG=${signsAs} requires EC_PRIVATE_KEY`);
  }
  const sealed = rows.filter(({ state }) => state !== 'retired');
  if (sealed.some((row) => !deps.stored.privateKeyOf(row.kid))) {
    throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  }
}

/** Inserts each key once in its life. The first of an algorithm is active. */
async function insertConfigured({ stored, vault, clock }: KeyStoreDeps, tx: Tx): Promise<void> {
  await lockKeys(tx);
  const at = clock();
  const configured = stored.configured.map((key) => key.jwk.kid);
  const known = new Set(await findKnownKids(tx, configured));
  const served = new Set((await listKeyRows(tx)).filter(isInService).map(({ alg }) => alg));
  const turns: KeyTurn[] = [];
  const insert = async (key: SigningKey) => {
    const { kid, alg } = key.jwk;
    const state = served.has(alg) ? 'pending' : 'active';
    const activatedAt = state === 'active' ? at : null;
    await insertKey(tx, sealedRow(vault, key, { state, publishedAt: at, activatedAt }));
    served.add(alg);
    turns.push({ kid, alg, from: null, to: state });
  };
  for (const key of stored.configured) if (!known.has(key.jwk.kid)) await insert(key);
  for (const key of stored.generated) if (!served.has(key.jwk.alg)) await insert(key);
  await recordForOperator(tx, SYSTEM, turns.map(toAct), at);
}

const isInService = ({ state }: Pick<SigningKeyRow, 'state'>) => state === 'active' || state === 'pending';

/** Seals the data keys of a former vault key under the current one. */
async function resealKeys({ db, vault }: KeyStoreDeps): Promise<void> {
  for (const row of await listKeyRows(db)) {
    const resealed = resealedDataKey(vault, row);
    if (resealed && row.dataKey) await replaceDataKey(db, row.kid, row.dataKey, resealed);
  }
}

/** Reads the keys into this process. A private half that it holds is not opened again. */
export async function readKeys({ db, clock, vault, stored, warn }: KeyStoreDeps): Promise<SigningKeyRow[]> {
  const readAt = clock();
  const rows = await listKeyRows(db);
  const keys = rows.map((row) => {
    const privateKey = row.privateSealed && (stored.privateKeyOf(row.kid) ?? openPrivateKey(vault, row));
    if (row.privateSealed && !privateKey) warn(`no configured vault key opens the signing key ${row.kid}`);
    return { ...lifeOf(row), key: publicKeyOf(row), privateKey: privateKey || undefined };
  });
  stored.take(keys, readAt);
  return rows;
}

/** The work of every instance: due turns, the schedule, and a read of what the others did. */
export async function keepKeys(deps: KeyStoreDeps): Promise<void> {
  await turnKeys(deps);
  await rotateByClock(deps);
  await readKeys(deps);
}

/** Looks before it locks, because turns are rare. */
async function turnKeys(deps: KeyStoreDeps): Promise<void> {
  const { db, clock, stored } = deps;
  const isDue = (rows: readonly SigningKeyRow[]) =>
    dueTurns(rows.map(lifeOf), clock(), stored.spans).length > 0;
  if (!isDue(await listKeyRows(db))) return;
  await inTransaction(db, async (tx) => {
    await recordTurns(deps, tx, SYSTEM, await takeDueTurns(deps, tx));
  });
}

/** Locks the keys and changes those whose time has come. */
export async function takeDueTurns({ clock, stored }: KeyStoreDeps, tx: Tx): Promise<KeyTurn[]> {
  await lockKeys(tx);
  const at = clock();
  const turns = dueTurns((await listKeyRows(tx)).map(lifeOf), at, stored.spans);
  for (const turn of turns) await turnKey(tx, turn, at);
  return turns;
}

/** Records turns in the operator's chain, and tells the other instances after the commit. Call it last. */
export async function recordTurns(
  { clock, store }: KeyStoreDeps,
  tx: Tx,
  operator: Operator,
  turns: readonly KeyTurn[],
): Promise<void> {
  await recordForOperator(tx, operator, turns.map(toAct), clock());
  // Its loss is harmless: every instance reads the keys by the clock as well.
  if (turns.length > 0) await afterCommit(tx, () => store.publish(KEYS_CHANGED, '').catch(() => {}));
}

const toAct = ({ kid, alg, from, to }: KeyTurn) => ({
  action: 'signing_key.rotated',
  data: { kid, alg, from, to },
});

async function rotateByClock(deps: KeyStoreDeps): Promise<void> {
  const { db, clock, stored } = deps;
  const { signsAs, rotationSeconds } = stored;
  const isDue = (rows: readonly SigningKeyRow[]) =>
    isRotationDue(rows.map(lifeOf), signsAs, rotationSeconds, clock());
  if (!isDue(await listKeyRows(db))) return;
  const key = await newSigningKey(signsAs);
  await inTransaction(db, async (tx) => {
    await lockKeys(tx);
    if (!isDue(await listKeyRows(tx))) return; // another instance was first
    await recordTurns(deps, tx, SYSTEM, [await insertPending(deps, tx, key)]);
  });
}

/** Publishes a key. It signs when the activation delay is over. The caller holds the lock. */
export async function insertPending(
  { vault, clock }: KeyStoreDeps,
  tx: Tx,
  key: SigningKey,
): Promise<KeyTurn> {
  const { kid, alg } = key.jwk;
  await insertKey(tx, sealedRow(vault, key, { state: 'pending', publishedAt: clock(), activatedAt: null }));
  return { kid, alg, from: null, to: 'pending' };
}

export const lifeOf = ({ kid, alg, state, publishedAt, retiredAt }: SigningKeyRow): KeyLife => ({
  kid,
  alg: alg as SigningAlg, // the table has a check
  state,
  publishedAt,
  retiredAt,
});
