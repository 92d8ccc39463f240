import { systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { type MasterKey, type MasterKeys, openEnvelope } from '../../../platform/envelope.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { foundOf, sealedFor } from './providers.client.service.ts';
import type { ProviderRow } from './providers.repo.ts';
import {
  listProvidersUnderAcrossTenants,
  nextProviderKeyAcrossTenants,
  replaceProviderKey,
} from './providers.rotate.repo.ts';

export interface ProviderRotation {
  readonly db: Executor;
  readonly clock: Clock;
  readonly vault: MasterKeys;
  readonly warn: (message: string) => void;
}

const BATCH = 500;

async function keyIdsInUse(db: Executor): Promise<string[]> {
  const ids: string[] = [];
  let id = await nextProviderKeyAcrossTenants(db, '');
  while (id !== undefined) {
    ids.push(id);
    id = await nextProviderKeyAcrossTenants(db, id);
  }
  return ids;
}

/** Refuses a start with too few keys. @throws in production */
export async function mustOpenProviders(
  { db, vault, warn }: Pick<ProviderRotation, 'db' | 'vault' | 'warn'>,
  isProduction: boolean,
): Promise<void> {
  const lost = (await keyIdsInUse(db)).filter((id) => !vault.ids.includes(id));
  if (lost.length === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(`clients of providers open under no configured key, and have to be sent again: ${lost.join(', ')}`);
}

/** Seals the data keys of former vault keys under the current one. The next run finds the rest of a run that was cut off. */
export async function rotateProviderKeys(deps: ProviderRotation, signal: AbortSignal): Promise<void> {
  const { db, vault } = deps;
  const { current } = vault;
  if (!current) return;
  for (const keyId of await keyIdsInUse(db)) {
    if (keyId === current.id || vault.find(keyId) === undefined) continue;
    let after = { developerId: '', id: '' };
    while (!signal.aborted) {
      const rows = await listProvidersUnderAcrossTenants(db, keyId, after, BATCH);
      for (const row of rows) await rotateRow(deps, row, keyId, current);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) break;
      after = { developerId: last.developerId, id: last.id };
    }
  }
}

async function rotateRow(
  { db, clock, vault, warn }: ProviderRotation,
  row: ProviderRow,
  fromKeyId: string,
  current: MasterKey,
): Promise<void> {
  const tenant = { developerId: row.developerId };
  const owner = sealedFor(tenant, row.id, foundOf(row).tokenEndpoint);
  const envelope = row.dataKey === null ? undefined : openEnvelope(vault, row.dataKey, owner);
  if (!envelope) return warn(`the client of ${row.id} does not open under the vault key ${fromKeyId}`);
  const { dataKey, keyId } = envelope.under(current);
  await inTransaction(db, async (tx) => {
    if (!(await replaceProviderKey(tx, tenant, row, { dataKey, keyId }))) return;
    const data = { fromKeyId, toKeyId: current.id, count: 1 };
    const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'vault rotation');
    await recordEntry(tx, caller, { action: 'vault.provider_key.rotated', data }, clock());
  });
}
