import { createHash, type KeyObject } from 'node:crypto';
import type { Executor } from '../../../platform/db/db.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { SourceRow } from './signals.repo.ts';
import type { StreamAuth } from './signals.schema.ts';
import { listSealedOtherwiseAcrossTenants, sealAuth } from './signals.streams.repo.ts';

export const SEAL_KEY_USE = 'behest/signal-seal/v1';

type Owner = Pick<SourceRow, 'developerId' | 'connectionId' | 'transmitter'>;

/** Binds a sealed credential to its connection and transmitter, so that it opens for no other. */
const bindingOf = ({ developerId, connectionId, transmitter }: Owner) =>
  Buffer.from(JSON.stringify(['behest-signal-v1', developerId, connectionId, transmitter]));

/** The id by which a row names the key that sealed it. */
const keyIdOf = (key: KeyObject): string =>
  createHash('sha256').update('behest-signal-seal-kid:').update(key.export()).digest('hex').slice(0, 16);

/** Seals and opens the service's credentials at transmitters. */
export function signalSeals(keyRing: KeyRing) {
  const keys = keyRing.derive(SEAL_KEY_USE);
  const sealKeyId = keyIdOf(keys.current);
  return {
    sealKeyId,
    seal: (auth: StreamAuth, owner: Owner) => ({
      auth: seal(keys, JSON.stringify(auth), bindingOf(owner)),
      sealKeyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open(row: Owner & Pick<SourceRow, 'auth'>): StreamAuth | undefined {
      const text = row.auth === null ? undefined : unseal(keys, row.auth, bindingOf(row));
      return text === undefined ? undefined : JSON.parse(text); // sealed by this service
    },
  };
}

const BATCH = 500;

interface Preparation {
  readonly db: Executor;
  readonly keyRing: KeyRing;
  readonly isProduction: boolean;
  readonly warn: (message: string) => void;
}

/** Seals under the current key what a former key sealed. @throws in production when no key opens a credential */
export async function prepareStreams({ db, keyRing, isProduction, warn }: Preparation): Promise<void> {
  const seals = signalSeals(keyRing);
  let [after, lost] = ['', 0];
  for (;;) {
    const rows = await listSealedOtherwiseAcrossTenants(db, { keyId: seals.sealKeyId, after }, BATCH);
    for (const row of rows) {
      const auth = seals.open(row);
      if (auth === undefined) lost += 1;
      else await sealAuth(db, row, seals.seal(auth, row));
    }
    after = rows.at(-1)?.connectionId ?? after;
    if (rows.length < BATCH) break;
  }
  if (lost === 0) return;
  if (isProduction) throw new Error('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  warn(`the credentials at ${lost} transmitters of signals open under no configured key: set them again`);
}
