import { systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { type MasterKey, type MasterKeys, openEnvelope } from '../../../platform/envelope.ts';
import { recordEntry } from '../../record/audit/index.ts';
import {
  countSealedOtherwiseAcrossTenants,
  listSealedUnderAcrossTenants,
  nextKeyIdAcrossTenants,
  replaceDataKey,
} from './credentials.rotate.repo.ts';

export interface RotationDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly vault: MasterKeys;
  readonly warn: (message: string) => void;
  /** Credentials in one read. */
  readonly batch?: number;
}

const BATCH = 500;

/** The keys that seal credentials now. */
async function keyIdsInUse(db: Executor): Promise<string[]> {
  const ids: string[] = [];
  for (let id = await nextKeyIdAcrossTenants(db, ''); id; id = await nextKeyIdAcrossTenants(db, id)) {
    ids.push(id);
  }
  return ids;
}

/**
 * Refuses a start with too few keys. The operator would learn of it from failed exchanges otherwise.
 * @throws in production
 */
export async function mustOpenStored(
  { db, vault, warn }: Pick<RotationDeps, 'db' | 'vault' | 'warn'>,
  isProduction: boolean,
): Promise<void> {
  const lost = (await keyIdsInUse(db)).filter((id) => !vault.ids.includes(id));
  if (lost.length === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(
    `credentials of the vault open under no configured key, and have to be stored again: ${lost.join(', ')}`,
  );
}

/**
 * Seals the data keys of former vault keys under the current one. The next run finds the rest when a run was
 * cut off. Fields, `updatedAt` and ids stay as they are.
 */
export async function rotateKeys(deps: RotationDeps, signal: AbortSignal): Promise<void> {
  const { db, vault } = deps;
  const { current } = vault;
  if (!current) return;
  for (const keyId of await keyIdsInUse(db)) {
    const isFormer = keyId !== current.id && vault.find(keyId) !== undefined;
    if (isFormer) await rotateFrom(deps, keyId, current, signal);
  }
}

async function rotateFrom(deps: RotationDeps, keyId: string, current: MasterKey, signal: AbortSignal) {
  const { db, batch = BATCH } = deps;
  let after = { developerId: '', id: '' };
  while (!signal.aborted) {
    const rows = await listSealedUnderAcrossTenants(db, keyId, after, batch);
    for (const [developerId, own] of Map.groupBy(rows, (row) => row.developerId)) {
      await rotateOwn(deps, { developerId, own, fromKeyId: keyId, current });
    }
    after = rows.at(-1) ?? after;
    if (rows.length < batch) return;
  }
}

interface Portion {
  readonly developerId: string;
  readonly own: Awaited<ReturnType<typeof listSealedUnderAcrossTenants>>;
  readonly fromKeyId: string;
  readonly current: MasterKey;
}

/** One developer's credentials of a batch, with one entry in the developer's log. */
async function rotateOwn(
  { db, clock, vault, warn }: RotationDeps,
  { developerId, own, fromKeyId, current }: Portion,
): Promise<void> {
  const tenant = { developerId };
  const sealed = own.flatMap((row) => {
    const envelope = openEnvelope(vault, row.dataKey, [developerId, row.principalId, row.service]);
    if (!envelope) warn(`the credential ${row.id} does not open under the vault key ${fromKeyId}`);
    return envelope ? [{ row, envelope: envelope.under(current) }] : [];
  });
  const at = clock();
  await inTransaction(db, async (tx) => {
    let count = 0;
    for (const { row, envelope } of sealed) {
      const { dataKey, keyId } = envelope;
      if (await replaceDataKey(tx, tenant, row.id, row.dataKey, { dataKey, keyId })) count += 1;
    }
    if (count === 0) return;
    const data = { fromKeyId, toKeyId: current.id, count };
    const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'vault rotation');
    await recordEntry(tx, caller, { action: 'vault.key.rotated', data }, at);
  });
}

/** For the operator, who may drop former keys when it is 0. */
export const countUnderFormerKeys = ({ db, vault }: Pick<RotationDeps, 'db' | 'vault'>): Promise<number> =>
  countSealedOtherwiseAcrossTenants(db, vault.current?.id ?? '');
