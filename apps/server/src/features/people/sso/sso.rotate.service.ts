import { systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { type MasterKey, type MasterKeys, openEnvelope } from '../../../platform/envelope.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { membersOf } from './sso.connections.service.ts';
import type { ConnectionRow } from './sso.repo.ts';
import {
  listConnectionsUnderAcrossTenants,
  nextConnectionKeyAcrossTenants,
  replaceConnectionKey,
} from './sso.rotate.repo.ts';
import { secretGoesTo } from './sso.rules.ts';

interface Rotation {
  readonly db: Executor;
  readonly clock: Clock;
  readonly vault: MasterKeys;
  readonly warn: (message: string) => void;
}

const BATCH = 500;
/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

export const connectionRotation = (deps: Rotation): Job => ({
  name: 'connection rotation',
  everySeconds: EVERY_SECONDS,
  run: (signal) => rotateConnectionKeys(deps, signal),
});

async function keyIdsInUse(db: Executor): Promise<string[]> {
  const ids: string[] = [];
  let id = await nextConnectionKeyAcrossTenants(db, '');
  while (id !== undefined) {
    ids.push(id);
    id = await nextConnectionKeyAcrossTenants(db, id);
  }
  return ids;
}

/** Refuses a start with too few keys. @throws in production */
export async function mustOpenConnections(
  { db, vault, warn }: Pick<Rotation, 'db' | 'vault' | 'warn'>,
  isProduction: boolean,
): Promise<void> {
  const lost = (await keyIdsInUse(db)).filter((id) => !vault.ids.includes(id));
  if (lost.length === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(`secrets of connections open under no configured key, and have to be sent again: ${lost.join(', ')}`);
}

/** Seals the data keys of former vault keys under the current one. The next run finds the rest of a run that was cut off. */
export async function rotateConnectionKeys(deps: Rotation, signal: AbortSignal): Promise<void> {
  const { db, vault } = deps;
  const { current } = vault;
  if (!current) return;
  for (const keyId of await keyIdsInUse(db)) {
    if (keyId === current.id || vault.find(keyId) === undefined) continue;
    let after = { developerId: '', id: '' };
    while (!signal.aborted) {
      const rows = await listConnectionsUnderAcrossTenants(db, keyId, after, BATCH);
      for (const row of rows) await rotateRow(deps, row, keyId, current);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) break;
      after = { developerId: last.developerId, id: last.id };
    }
  }
}

async function rotateRow(
  { db, clock, vault, warn }: Rotation,
  row: ConnectionRow,
  fromKeyId: string,
  current: MasterKey,
): Promise<void> {
  const tenant = { developerId: row.developerId };
  const owner = [row.developerId, row.id, secretGoesTo(membersOf(row))] as const;
  const envelope = row.dataKey === null ? undefined : openEnvelope(vault, row.dataKey, owner);
  if (!envelope) return warn(`the secret of ${row.id} does not open under the vault key ${fromKeyId}`);
  const { dataKey, keyId } = envelope.under(current);
  await inTransaction(db, async (tx) => {
    if (!(await replaceConnectionKey(tx, tenant, row, { dataKey, keyId }))) return;
    const data = { connectionId: row.id, fromKeyId, toKeyId: current.id };
    const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'connection rotation');
    await recordEntry(tx, caller, { action: 'sso.connection_key.rotated', data }, clock());
  });
}
