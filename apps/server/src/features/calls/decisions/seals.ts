import { sealedRows, sealsUnder } from '../../../platform/sealed-rows.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { type ChannelRow, listSealedOtherwiseAcrossTenants, replaceSealed } from './notices.repo.ts';

export const SEAL_KEY_USE = 'behest/decision-channel-seal/v1';

type Owner = Pick<ChannelRow, 'developerId' | 'id'>;

/** Seals and opens the URLs of channels. A sealed URL is bound to its channel. */
export function channelSeals(keyRing: KeyRing) {
  const labels = { keyId: 'behest-decision-seal-kid', place: 'behest-decision-channel-v1' };
  const seals = sealsUnder(keyRing.derive(SEAL_KEY_USE), labels);
  return {
    keyId: seals.keyId,
    seal: (url: string, { developerId, id }: Owner) => ({
      sealed: seals.seal(url, [developerId, id]),
      sealKeyId: seals.keyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open: ({ sealed, developerId, id }: Owner & Pick<ChannelRow, 'sealed'>) =>
      seals.open(sealed, [developerId, id]),
  };
}
export type ChannelSeals = ReturnType<typeof channelSeals>;

export function sealedChannels(keyRing: KeyRing) {
  const { keyId, seal, open } = channelSeals(keyRing);
  return sealedRows({
    ...{ keyId, open },
    list: listSealedOtherwiseAcrossTenants,
    write: (db, row, url) => replaceSealed(db, row, seal(url, row)),
    warning: (count) => `the URLs of ${count} decision channels open under no configured key: set them again`,
  });
}
