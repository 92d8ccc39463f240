import { sealedRows, sealsUnder } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { listSealedOtherwiseAcrossTenants, replaceSealed, type SourceRow } from './signals.repo.ts';
import type { StreamAuth } from './signals.schema.ts';

export const SEAL_KEY_USE = 'behest/signal-seal/v1';

type Owner = Pick<SourceRow, 'developerId' | 'connectionId' | 'transmitter'>;

/** Seals and opens the service's credentials at transmitters. Each is bound to its connection and transmitter. */
export function signalSeals(keyRing: KeyRing) {
  const labels = { keyId: 'behest-signal-seal-kid', place: 'behest-signal-v1' };
  const seals = sealsUnder(keyRing.derive(SEAL_KEY_USE), labels);
  const placeOf = ({ developerId, connectionId, transmitter }: Owner) => [
    developerId,
    connectionId,
    transmitter,
  ];
  return {
    keyId: seals.keyId,
    seal: (auth: StreamAuth, owner: Owner) => ({
      auth: seals.seal(JSON.stringify(auth), placeOf(owner)),
      sealKeyId: seals.keyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open(row: Owner & Pick<SourceRow, 'auth'>): StreamAuth | undefined {
      const text = row.auth === null ? undefined : seals.open(row.auth, placeOf(row));
      return text === undefined ? undefined : JSON.parse(text); // sealed by this service
    },
  };
}

export function sealedStreams(keyRing: KeyRing) {
  const { keyId, seal, open } = signalSeals(keyRing);
  return sealedRows({
    ...{ keyId, open },
    list: listSealedOtherwiseAcrossTenants,
    write: (db, row, auth) => replaceSealed(db, row, seal(auth, row)),
    warning: (count) =>
      `the credentials at ${count} transmitters of signals open under no configured key: set them again`,
  });
}
