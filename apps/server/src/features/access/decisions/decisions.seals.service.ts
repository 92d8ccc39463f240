import { createHash, type KeyObject } from 'node:crypto';
import type { Executor } from '../../../platform/db/db.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { type ChannelRow, listSealedOtherwiseAcrossTenants, sealChannel } from './decisions.notices.repo.ts';

export const SEAL_KEY_USE = 'behest/decision-channel-seal/v1';

type Owner = Pick<ChannelRow, 'developerId' | 'id'>;

/** Binds a sealed URL to its channel, so that it opens in no other channel's row. */
const bindingOf = ({ developerId, id }: Owner) =>
  Buffer.from(JSON.stringify(['behest-decision-channel-v1', developerId, id]));

/** The id by which a row names the key that sealed it. */
const keyIdOf = (key: KeyObject): string =>
  createHash('sha256').update('behest-decision-seal-kid:').update(key.export()).digest('hex').slice(0, 16);

/** Seals and opens the URLs of channels. */
export function channelSeals(keyRing: KeyRing) {
  const keys = keyRing.derive(SEAL_KEY_USE);
  const sealKeyId = keyIdOf(keys.current);
  return {
    sealKeyId,
    seal: (url: string, owner: Owner) => ({ sealed: seal(keys, url, bindingOf(owner)), sealKeyId }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open: (row: Owner & Pick<ChannelRow, 'sealed'>): string | undefined =>
      unseal(keys, row.sealed, bindingOf(row)),
  };
}
export type ChannelSeals = ReturnType<typeof channelSeals>;

const BATCH = 500;

interface Preparation {
  readonly db: Executor;
  readonly keyRing: KeyRing;
  readonly isProduction: boolean;
  readonly warn: (message: string) => void;
}

/** Seals under the current key what a former key sealed. @throws in production when no key opens a channel */
export async function prepareChannels({ db, keyRing, isProduction, warn }: Preparation): Promise<void> {
  const seals = channelSeals(keyRing);
  let [after, lost] = ['', 0];
  for (;;) {
    const rows = await listSealedOtherwiseAcrossTenants(db, { keyId: seals.sealKeyId, after }, BATCH);
    for (const row of rows) {
      const url = seals.open(row);
      if (url === undefined) lost += 1;
      else await sealChannel(db, row, seals.seal(url, row));
    }
    after = rows.at(-1)?.id ?? after;
    if (rows.length < BATCH) break;
  }
  if (lost === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(`the URLs of ${lost} decision channels open under no configured key: set them again`);
}
