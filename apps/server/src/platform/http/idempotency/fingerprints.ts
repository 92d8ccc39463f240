import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Executor } from '../../db/db.ts';
import type { Job } from '../../jobs/jobs.ts';
import type { SealingKeys } from '../../seal.ts';
import { keyFingerprintsAcrossTenants } from './answers.ts';

/** The label of the key that makes fingerprints. */
export const FINGERPRINT_KEY_USE = 'behest/idempotency-fingerprint/v1';

const KEYED = Buffer.from([1]); // the first of 33 bytes; the release before stored the 32 of the hash

/** The hash of a request's query and body. It stays in the process: a body may be a password, which a dump lets guess. */
export const requestHash = (query: string, body: Buffer): Buffer =>
  createHash('sha256').update(`${query}\n`).update(body).digest();

/** The form in which a hash is stored. */
export const fingerprintOf = ({ current }: SealingKeys, hash: Buffer): Buffer => keyed(current, hash);

const keyed = (key: KeyObject, hash: Buffer): Buffer =>
  Buffer.concat([KEYED, createHmac('sha256', key).update(hash).digest()]);

/** Whether a stored fingerprint is that of a request, under the current key, a former key or none. */
export function isFingerprintOf({ current, previous }: SealingKeys, stored: Buffer, hash: Buffer): boolean {
  if (stored.length === hash.length) return timingSafeEqual(stored, hash);
  return [current, ...previous].some((key) => {
    const expected = keyed(key, hash);
    return stored.length === expected.length && timingSafeEqual(stored, expected);
  });
}

const EVERY_SECONDS = 60;
const BATCH = 500;

interface KeyingDeps {
  readonly db: Executor;
  readonly keyRing: { derive(use: typeof FINGERPRINT_KEY_USE): SealingKeys };
}

/** Puts fingerprints under the key that the release before stored without one, and goes on to while it still runs. */
export function keyingOfFingerprints({ db, keyRing }: KeyingDeps): Job {
  const keys = keyRing.derive(FINGERPRINT_KEY_USE);
  return {
    name: 'keying of fingerprints',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const keySome = () => keyFingerprintsAcrossTenants(db, (hash) => fingerprintOf(keys, hash), BATCH);
      while (!signal.aborted && (await keySome()) === BATCH);
    },
  };
}
