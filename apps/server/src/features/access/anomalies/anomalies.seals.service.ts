import type { Executor } from '../../../platform/db/db.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import {
  type ChannelRow,
  listSealedOtherwiseAcrossTenants,
  updateChannel,
} from './anomalies.channels.repo.ts';
import { channelBinding, channelKeyId } from './anomalies.channels.rules.ts';
import type { Config } from './anomalies.channels.schema.ts';

export const SEAL_KEY_USE = 'behest/anomaly-channel-seal/v1';

type Owner = Pick<ChannelRow, 'developerId' | 'id'>;

/** Seals and opens the configurations of channels. A sealed configuration is bound to its channel. */
export function channelSeals(keyRing: KeyRing) {
  const keys = keyRing.derive(SEAL_KEY_USE);
  const sealKeyId = channelKeyId(keys.current);
  return {
    sealKeyId,
    seal: (config: Config, { developerId, id }: Owner) => ({
      sealed: seal(keys, JSON.stringify(config), channelBinding(developerId, id)),
      sealKeyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open: ({ sealed, developerId, id }: Owner & Pick<ChannelRow, 'sealed'>): Config | undefined => {
      const text = unseal(keys, sealed, channelBinding(developerId, id));
      return text === undefined ? undefined : JSON.parse(text);
    },
  };
}
export type ChannelSeals = ReturnType<typeof channelSeals>;

interface PreparationDeps {
  readonly db: Executor;
  readonly keyRing: KeyRing;
  readonly isProduction: boolean;
  readonly warn: (message: string) => void;
}

const BATCH = 500;

/** Seals under the current key what a former key sealed. @throws in production when no key opens a channel */
export async function prepareChannels({ db, keyRing, isProduction, warn }: PreparationDeps): Promise<void> {
  const seals = channelSeals(keyRing);
  let after = { developerId: '', id: '' };
  let lost = 0;
  for (;;) {
    const rows = await listSealedOtherwiseAcrossTenants(db, seals.sealKeyId, after, BATCH);
    for (const row of rows) {
      const config = seals.open(row);
      if (config) await updateChannel(db, row, row.id, seals.seal(config, row));
      else lost += 1;
    }
    after = rows.at(-1) ?? after;
    if (rows.length < BATCH) break;
  }
  if (lost === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(`the configurations of ${lost} anomaly channels open under no configured key: set them again`);
}
