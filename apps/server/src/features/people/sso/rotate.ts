import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { openEnvelope, type Portion, type Rotation, rotationOf } from '../../../platform/envelope.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { membersOf } from './secrets.ts';
import {
  type ConnectionRow,
  listConnectionsUnderAcrossTenants,
  nextConnectionKeyAcrossTenants,
  replaceConnectionKey,
} from './sso.repo.ts';
import { secretGoesTo } from './sso.rules.ts';

/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

export const connectionRotation = (rotation: Rotation): Job => ({
  name: 'connection rotation',
  everySeconds: EVERY_SECONDS,
  run: (signal) => rotateConnectionKeys(rotation, signal),
});

export const { rows: sealedConnections, rotate: rotateConnectionKeys } = rotationOf<ConnectionRow>({
  warning: 'secrets of connections open under no configured key, and have to be sent again',
  nextKeyId: nextConnectionKeyAcrossTenants,
  listUnder: listConnectionsUnderAcrossTenants,
  seal: sealConnections,
});

/** Each connection has its own entry, which names it. */
async function sealConnections(
  { db, clock, vault, warn }: Rotation,
  { developerId, rows, fromKeyId, current }: Portion<ConnectionRow>,
): Promise<void> {
  const tenant = { developerId };
  for (const row of rows) {
    const owner = [developerId, row.id, secretGoesTo(membersOf(row))] as const;
    const envelope = row.dataKey === null ? undefined : openEnvelope(vault, row.dataKey, owner);
    if (!envelope) {
      warn(`the secret of ${row.id} does not open under the vault key ${fromKeyId}`);
      continue;
    }
    const { dataKey, keyId } = envelope.under(current);
    await inTransaction(db, async (tx) => {
      if (!(await replaceConnectionKey(tx, tenant, row, { dataKey, keyId }))) return;
      const data = { connectionId: row.id, fromKeyId, toKeyId: current.id };
      const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'connection rotation');
      await recordEntry(tx, caller, { action: 'sso.connection_key.rotated', data }, clock());
    });
  }
}
