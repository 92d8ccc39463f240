import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { openEnvelope, type Portion, type Rotation, rotationOf } from '../../../platform/envelope.ts';
import { recordEntry } from '../../record/audit/index.ts';
import {
  countSealedOtherwiseAcrossTenants,
  listSealedUnderAcrossTenants,
  nextKeyIdAcrossTenants,
  replaceDataKey,
} from './rotate.repo.ts';

type SealedRow = Awaited<ReturnType<typeof listSealedUnderAcrossTenants>>[number];

export const { rows: sealedCredentials, rotate: rotateKeys } = rotationOf<SealedRow>({
  warning: 'credentials of the vault open under no configured key, and have to be stored again',
  nextKeyId: nextKeyIdAcrossTenants,
  listUnder: listSealedUnderAcrossTenants,
  seal: sealCredentials,
});

/** The credentials of a portion have one entry in the developer's log. */
async function sealCredentials(
  { db, clock, vault, warn }: Rotation,
  { developerId, rows, fromKeyId, current }: Portion<SealedRow>,
): Promise<void> {
  const tenant = { developerId };
  const sealed = rows.flatMap((row) => {
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
export const countUnderFormerKeys = ({ db, vault }: Pick<Rotation, 'db' | 'vault'>): Promise<number> =>
  countSealedOtherwiseAcrossTenants(db, vault.current?.id ?? '');
