import type { Executor } from '../../../platform/db/db.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import {
  listSealedOtherwiseAcrossTenants,
  replaceSealed,
  setMaxAttemptsAcrossTenants,
} from './webhooks.repo.ts';
import { sealKeyId, secretBinding } from './webhooks.signing.rules.ts';

export const SEAL_KEY_USE = 'behest/webhook-seal/v1';

interface Owner {
  readonly developerId: string;
  readonly webhookId: string;
}

/** Seals and opens the secrets of endpoints. A sealed secret is bound to its endpoint. */
export function webhookSeals(keyRing: KeyRing) {
  const keys = keyRing.derive(SEAL_KEY_USE);
  return {
    keyId: sealKeyId(keys.current),
    seal: (secret: string, { developerId, webhookId }: Owner) =>
      seal(keys, secret, secretBinding(developerId, webhookId)),
    /** @returns undefined when the key that sealed the secret is no longer configured */
    open: (sealed: Buffer, { developerId, webhookId }: Owner) =>
      unseal(keys, sealed, secretBinding(developerId, webhookId)),
  };
}
export type WebhookSeals = ReturnType<typeof webhookSeals>;

export interface PreparationDeps {
  readonly db: Executor;
  readonly keyRing: KeyRing;
  readonly isProduction: boolean;
  readonly maxAttempts: number;
  readonly warn: (message: string) => void;
  /** Endpoints in one read. */
  readonly batch?: number;
}

/**
 * Brings stored endpoints in line with the settings at the start: it seals secrets of a former key under the
 * current key.
 * @throws in production when no configured key opens a secret
 */
export async function prepareWebhooks(deps: PreparationDeps): Promise<void> {
  const { db, keyRing, isProduction, maxAttempts, warn, batch = 500 } = deps;
  await setMaxAttemptsAcrossTenants(db, maxAttempts);
  const seals = webhookSeals(keyRing);
  let after = { developerId: '', id: '' };
  let lost = 0;
  for (;;) {
    const rows = await listSealedOtherwiseAcrossTenants(db, seals.keyId, after, batch);
    for (const row of rows) {
      const owner = { developerId: row.developerId, webhookId: row.id };
      const secret = seals.open(row.secret, owner);
      if (secret === undefined) {
        lost += 1;
        continue;
      }
      const previous = row.previousSecret && seals.open(row.previousSecret, owner);
      await replaceSealed(db, row, row.id, row, {
        secret: seals.seal(secret, owner),
        previousSecret: previous ? seals.seal(previous, owner) : null,
        sealKeyId: seals.keyId,
      });
    }
    after = rows.at(-1) ?? after;
    if (rows.length < batch) break;
  }
  if (lost === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(`the secrets of ${lost} webhooks open under no configured key: rotate them`);
}
