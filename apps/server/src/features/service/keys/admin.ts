import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import type { Operator } from '../operator/index.ts';
import { listKeyRows, listRemovedRows, type SigningKeyRow, turnKey } from './keys.repo.ts';
import type { ManagedKey, ManagedKeys, NewKeyRotation } from './keys.schema.ts';
import type { KeyRing } from './keys.ts';
import { newSigningKey } from './seal.ts';
import { insertPending, type KeyStoreDeps, lifeOf, readKeys, recordTurns, takeDueTurns } from './store.ts';
import { type KeyTurn, signsFrom } from './stored.rules.ts';

export interface KeyAdminDeps {
  readonly keyRing: KeyRing;
  /** Undefined when the settings alone hold the keys. */
  readonly keyStore: KeyStoreDeps | undefined;
}

/** Removed keys that a list shows. */
const MAX_REMOVED = 100;
/** Keys of one algorithm that wait for their delay. More would make every verifier fetch a long list. */
const MAX_PENDING = 10;

/** Every key that verifies, and the last removed ones. */
export async function listKeys({ keyRing, keyStore }: KeyAdminDeps): Promise<ManagedKeys> {
  const { keys, signingKid } = keyRing.identity();
  if (keyStore) {
    const { db, stored } = keyStore;
    const rows = [...(await listKeyRows(db)), ...(await listRemovedRows(db, MAX_REMOVED))];
    const shown = rows.map((row) => toKey(row, row.kid === signingKid, stored.spans));
    return { store: 'postgres', keys: shown.sort((a, b) => newestFirst(a, b)) };
  }
  const never = { publishedAt: null, signsFrom: null, activatedAt: null, retiredAt: null, removedAt: null };
  const shown = keys.map(({ kid, alg }) => ({
    kid,
    alg,
    state: 'active' as const,
    isSigning: kid === signingKid,
    ...never,
  }));
  return { store: 'env', keys: shown };
}

const newestFirst = (a: ManagedKey, b: ManagedKey) =>
  (b.publishedAt ?? '').localeCompare(a.publishedAt ?? '') || a.kid.localeCompare(b.kid);

/**
 * Publishes a new key, which signs when the activation delay is over.
 * @throws KEY_STORE_READ_ONLY, CONFLICT when too many keys wait already
 */
export async function rotateKey(
  deps: KeyAdminDeps,
  operator: Operator,
  input: NewKeyRotation,
): Promise<ManagedKey> {
  const store = storeOf(deps);
  const alg = input.alg ?? store.stored.signsAs;
  const key = await newSigningKey(alg);
  await inTransaction(store.db, async (tx) => {
    const due = await takeDueTurns(store, tx);
    const pending = (await listKeyRows(tx)).filter((row) => row.alg === alg && row.state === 'pending');
    if (pending.length >= MAX_PENDING) {
      throw new AppError(
        'CONFLICT',
        `${MAX_PENDING} keys of ${alg} wait already. Let one become active first.`,
      );
    }
    await recordTurns(store, tx, operator, [...due, await insertPending(store, tx, key)]);
  });
  return readBack(store, deps, key.jwk.kid);
}

/**
 * Takes a key from use for ever: one that waits never signs, and tokens of a retired one are refused from now on.
 * @throws KEY_STORE_READ_ONLY, NOT_FOUND, CONFLICT for the active key, which another one has to replace first
 */
export async function retireKey(deps: KeyAdminDeps, operator: Operator, kid: string): Promise<ManagedKey> {
  const store = storeOf(deps);
  await inTransaction(store.db, async (tx) => {
    const due = await takeDueTurns(store, tx);
    const row = (await listKeyRows(tx)).find((one) => one.kid === kid);
    if (!row) throw notFound();
    if (row.state === 'active') {
      const message = 'This key signs. Rotate first: it retires when the next key becomes active.';
      throw new AppError('CONFLICT', message);
    }
    const { alg, state } = lifeOf(row);
    const turn: KeyTurn = { kid, alg, from: state, to: 'removed' };
    await turnKey(tx, turn, store.clock());
    await recordTurns(store, tx, operator, [...due, turn]);
  });
  return readBack(store, deps, kid);
}

/** @throws KEY_STORE_READ_ONLY */
function storeOf({ keyStore }: KeyAdminDeps): KeyStoreDeps {
  if (keyStore) return keyStore;
  const message = 'The signing keys come from the environment; change them in the settings.';
  throw new AppError('KEY_STORE_READ_ONLY', message);
}

/** Reads the keys into this process at once, and shows one of them. @throws NOT_FOUND */
async function readBack(store: KeyStoreDeps, deps: KeyAdminDeps, kid: string): Promise<ManagedKey> {
  await readKeys(store);
  const key = (await listKeys(deps)).keys.find((one) => one.kid === kid);
  if (!key) throw notFound();
  return key;
}

function toKey(row: SigningKeyRow, isSigning: boolean, spans: KeyStoreDeps['stored']['spans']): ManagedKey {
  const { kid, alg, state } = lifeOf(row);
  const textOf = (time: Date | null) => time?.toISOString() ?? null;
  return {
    kid,
    alg,
    state,
    isSigning,
    publishedAt: textOf(row.publishedAt),
    signsFrom: new Date(signsFrom(row, spans)).toISOString(),
    activatedAt: textOf(row.activatedAt),
    retiredAt: textOf(row.retiredAt),
    removedAt: textOf(row.removedAt),
  };
}
