import { sealedRows, sealsUnder } from '../../../platform/sealed-rows.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { type ChannelRow, listSealedOtherwiseAcrossTenants, replaceSealed } from './channels.repo.ts';
import type { KeptConfig } from './channels.rules.ts';

export const SEAL_KEY_USE = 'behest/anomaly-channel-seal/v1';

type Owner = Pick<ChannelRow, 'developerId' | 'id'>;

/** Seals and opens the configurations of channels. A sealed configuration is bound to its channel. */
export function channelSeals(keyRing: KeyRing) {
  const labels = { keyId: 'behest-anomaly-seal-kid', place: 'behest-anomaly-channel-v1' };
  const seals = sealsUnder(keyRing.derive(SEAL_KEY_USE), labels);
  return {
    keyId: seals.keyId,
    seal: (config: KeptConfig, { developerId, id }: Owner) => ({
      sealed: seals.seal(JSON.stringify(config), [developerId, id]),
      sealKeyId: seals.keyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open: ({ sealed, developerId, id }: Owner & Pick<ChannelRow, 'sealed'>): KeptConfig | undefined => {
      const text = seals.open(sealed, [developerId, id]);
      return text === undefined ? undefined : JSON.parse(text);
    },
  };
}
export type ChannelSeals = ReturnType<typeof channelSeals>;

export function sealedChannels(keyRing: KeyRing) {
  const { keyId, seal, open } = channelSeals(keyRing);
  return sealedRows({
    ...{ keyId, open },
    list: listSealedOtherwiseAcrossTenants,
    write: (db, row, config) => replaceSealed(db, row, seal(config, row)),
    warning: (count) =>
      `the configurations of ${count} anomaly channels open under no configured key: set them again`,
  });
}
