import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { openEnvelope } from '../../../platform/envelope.ts';
import { type Portion, type Rotation, rotationOf } from '../../../platform/envelope-rotation.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { foundOf, sealedFor } from './providers.client.service.ts';
import type { ProviderRow } from './providers.repo.ts';
import {
  listProvidersUnderAcrossTenants,
  nextProviderKeyAcrossTenants,
  replaceProviderKey,
} from './providers.rotate.repo.ts';

export const { rows: sealedProviders, rotate: rotateProviderKeys } = rotationOf<ProviderRow>({
  warning: 'clients of providers open under no configured key, and have to be sent again',
  nextKeyId: nextProviderKeyAcrossTenants,
  listUnder: listProvidersUnderAcrossTenants,
  seal: sealProviders,
});

/** Each provider has its own entry. */
async function sealProviders(
  { db, clock, vault, warn }: Rotation,
  { developerId, rows, fromKeyId, current }: Portion<ProviderRow>,
): Promise<void> {
  const tenant = { developerId };
  for (const row of rows) {
    const owner = sealedFor(tenant, row.id, foundOf(row).tokenEndpoint);
    const envelope = row.dataKey === null ? undefined : openEnvelope(vault, row.dataKey, owner);
    if (!envelope) {
      warn(`the client of ${row.id} does not open under the vault key ${fromKeyId}`);
      continue;
    }
    const { dataKey, keyId } = envelope.under(current);
    await inTransaction(db, async (tx) => {
      if (!(await replaceProviderKey(tx, tenant, row, { dataKey, keyId }))) return;
      const data = { fromKeyId, toKeyId: current.id, count: 1 };
      const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'vault rotation');
      await recordEntry(tx, caller, { action: 'vault.provider_key.rotated', data }, clock());
    });
  }
}
