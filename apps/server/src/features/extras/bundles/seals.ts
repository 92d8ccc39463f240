import { sealedRows, sealsUnder } from '../../../platform/sealed-rows.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { listSealedOtherwiseAcrossTenants, replaceSealed } from './bundles.repo.ts';

export const SEAL_KEY_USE = 'behest/policy-sync-seal/v1';

/** Seals and opens the secrets of Git notifications. A sealed secret is bound to its developer. */
export function syncSeals(keyRing: KeyRing) {
  const labels = { keyId: 'behest-policy-sync-seal-kid', place: 'behest-policy-sync-v1' };
  const seals = sealsUnder(keyRing.derive(SEAL_KEY_USE), labels);
  return {
    keyId: seals.keyId,
    seal: (secret: string, developerId: string) => ({
      secret: seals.seal(secret, [developerId]),
      sealKeyId: seals.keyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open: (sealed: Buffer, developerId: string) => seals.open(sealed, [developerId]),
  };
}

export function sealedSyncSecrets(keyRing: KeyRing) {
  const { keyId, seal, open } = syncSeals(keyRing);
  return sealedRows({
    keyId,
    list: listSealedOtherwiseAcrossTenants,
    open: ({ secret, developerId }) => open(secret, developerId),
    write: (db, row, secret) => replaceSealed(db, row, row.secret, seal(secret, row.developerId)),
    warning: (count) =>
      `the secrets of Git notifications of ${count} developers open under no configured key: make them again`,
  });
}
