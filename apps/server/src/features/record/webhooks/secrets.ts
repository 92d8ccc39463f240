import { sealedRows, sealsUnder } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { listSealedOtherwiseAcrossTenants, replaceSealed } from './webhooks.repo.ts';

export const SEAL_KEY_USE = 'behest/webhook-seal/v1';

interface Owner {
  readonly developerId: string;
  readonly webhookId: string;
}

/** Seals and opens the secrets of endpoints. A sealed secret is bound to its endpoint. */
export function webhookSeals(keyRing: KeyRing) {
  const labels = { keyId: 'behest-webhook-seal-kid', place: 'behest-webhook-v1' };
  const seals = sealsUnder(keyRing.derive(SEAL_KEY_USE), labels);
  return {
    keyId: seals.keyId,
    seal: (secret: string, { developerId, webhookId }: Owner) => seals.seal(secret, [developerId, webhookId]),
    /** @returns undefined when the key that sealed the secret is no longer configured */
    open: (sealed: Buffer, { developerId, webhookId }: Owner) => seals.open(sealed, [developerId, webhookId]),
  };
}
export type WebhookSeals = ReturnType<typeof webhookSeals>;

/** A former secret that no configured key opens is given up: it would have signed for some hours more. */
export function sealedSecrets(keyRing: KeyRing) {
  const { keyId, seal, open } = webhookSeals(keyRing);
  return sealedRows({
    keyId,
    list: listSealedOtherwiseAcrossTenants,
    open({ developerId, id, secret, previousSecret }) {
      const owner = { developerId, webhookId: id };
      const opened = open(secret, owner);
      return opened === undefined
        ? undefined
        : { secret: opened, previous: previousSecret && open(previousSecret, owner) };
    },
    write(db, row, { secret, previous }) {
      const owner = { developerId: row.developerId, webhookId: row.id };
      return replaceSealed(db, row, row.id, row, {
        secret: seal(secret, owner),
        previousSecret: previous ? seal(previous, owner) : null,
        sealKeyId: keyId,
      });
    },
    warning: (count) => `the secrets of ${count} webhooks open under no configured key: rotate them`,
  });
}
