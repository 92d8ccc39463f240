import { createHash, type KeyObject } from 'node:crypto';

/** The id follows from the key, so that every instance names it alike and no operator has to. */
const vaultKeyId = (key: KeyObject): string =>
  createHash('sha256').update('behest-vault-kid:').update(key.export()).digest('hex').slice(0, 16);

/** The vault keys by their ids. */
export function vaultKeys(current: KeyObject | undefined, previous: readonly KeyObject[]) {
  const all = [...(current ? [current] : []), ...previous].map((key) => ({ id: vaultKeyId(key), key }));
  const byId = new Map(all.map(({ id, key }) => [id, key]));
  return {
    current: current && all[0],
    find: (id: string) => byId.get(id),
    ids: all.map(({ id }) => id),
  };
}
