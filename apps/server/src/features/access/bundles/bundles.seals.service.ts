import type { Executor } from '../../../platform/db/db.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { listSealedOtherwiseAcrossTenants, replaceSealed } from './bundles.repo.ts';
import { secretBinding, syncKeyId } from './bundles.rules.ts';

export const SEAL_KEY_USE = 'behest/policy-sync-seal/v1';

/** Seals and opens the secrets of Git notifications. A sealed secret is bound to its developer. */
export function syncSeals(keyRing: KeyRing) {
  const keys = keyRing.derive(SEAL_KEY_USE);
  const sealKeyId = syncKeyId(keys.current);
  return {
    sealKeyId,
    seal: (secret: string, developerId: string) => ({
      secret: seal(keys, secret, secretBinding(developerId)),
      sealKeyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open: (sealed: Buffer, developerId: string): string | undefined =>
      unseal(keys, sealed, secretBinding(developerId)),
  };
}

interface PreparationDeps {
  readonly db: Executor;
  readonly keyRing: KeyRing;
  readonly isProduction: boolean;
  readonly warn: (message: string) => void;
}

const BATCH = 500;

/** Seals under the current key what a former key sealed. @throws in production when no key opens a secret */
export async function prepareSyncSecrets(deps: PreparationDeps): Promise<void> {
  const { db, keyRing, isProduction, warn } = deps;
  const seals = syncSeals(keyRing);
  let after = '';
  let lost = 0;
  for (;;) {
    const rows = await listSealedOtherwiseAcrossTenants(db, seals.sealKeyId, after, BATCH);
    for (const row of rows) {
      const secret = seals.open(row.secret, row.developerId);
      if (secret === undefined) lost += 1;
      else await replaceSealed(db, row, row.secret, seals.seal(secret, row.developerId));
    }
    after = rows.at(-1)?.developerId ?? after;
    if (rows.length < BATCH) break;
  }
  if (lost === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(
    `the secrets of Git notifications of ${lost} developers open under no configured key: make them again`,
  );
}
