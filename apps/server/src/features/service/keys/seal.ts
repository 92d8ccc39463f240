import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Executor } from '../../../platform/db/db.ts';
import {
  currentKey,
  type MasterKeys,
  newEnvelope,
  openEnvelope,
  type SealedFor,
} from '../../../platform/envelope.ts';
import { listKeyRows, type NewSigningKey, type SigningKeyRow } from './keys.repo.ts';
import { type SigningAlg, type SigningKey, type VerificationKey, verificationKey } from './keys.rules.ts';

/** The place of a key's private half, bound into its seal. The keys belong to no developer. */
const placeOf = (kid: string): SealedFor => ['', 'signing_keys', kid];
const FIELD = 'private_sealed';

/** A row of a key, with its private half sealed. @throws NOT_CONFIGURED without a vault key */
export function sealedRow(
  vault: MasterKeys,
  key: SigningKey,
  life: Pick<NewSigningKey, 'state' | 'publishedAt' | 'activatedAt'>,
): NewSigningKey {
  const { kid, alg } = key.jwk;
  const envelope = newEnvelope(currentKey(vault), placeOf(kid));
  const pem = String(key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return {
    ...life,
    kid,
    alg,
    publicJwk: JSON.stringify(key.jwk),
    dataKey: envelope.dataKey,
    privateSealed: envelope.seal(FIELD, pem),
  };
}

/** @returns undefined when the key is retired, or no vault key of this process opens it */
export function openPrivateKey(
  vault: MasterKeys,
  { kid, dataKey, privateSealed }: Pick<SigningKeyRow, 'kid' | 'dataKey' | 'privateSealed'>,
): KeyObject | undefined {
  if (dataKey === null || privateSealed === null) return undefined;
  const pem = openEnvelope(vault, dataKey, placeOf(kid))?.open(FIELD, privateSealed);
  return pem === undefined ? undefined : createPrivateKey(pem);
}

/** The data key under the current vault key; undefined when that seals it already. */
export function resealedDataKey(vault: MasterKeys, { kid, dataKey }: SigningKeyRow): string | undefined {
  const { current } = vault;
  if (dataKey === null || !current) return undefined;
  const envelope = openEnvelope(vault, dataKey, placeOf(kid));
  return envelope && envelope.keyId !== current.id ? envelope.under(current).dataKey : undefined;
}

/** The public key of a row. Its id follows from the key, so a row with another key is found. @throws Error */
export function publicKeyOf({ kid, publicJwk }: Pick<SigningKeyRow, 'kid' | 'publicJwk'>): VerificationKey {
  const key = verificationKey(createPublicKey({ key: Object(publicJwk), format: 'jwk' }));
  if (key.jwk.kid !== kid) throw new Error(`The row of the signing key ${kid} holds another key.`);
  return key;
}

/** A signing key of the database, as an operator looks at it. */
interface SeenKey {
  readonly kid: string;
  readonly alg: string;
  readonly state: string;
  readonly activatedAt: Date | null;
  /** Whether a vault key of this process opens its private half. */
  readonly opens: boolean;
}

/** The keys that are not removed. Changes nothing. */
export async function lookAtKeys(db: Executor, vault: MasterKeys): Promise<SeenKey[]> {
  const rows = await listKeyRows(db);
  return rows.map((row) => {
    const { kid, alg, state, activatedAt } = row;
    return { kid, alg, state, activatedAt, opens: openPrivateKey(vault, row) !== undefined };
  });
}

const newKeyPair = promisify(generateKeyPair);

/** Makes a key pair on libuv's threads. An RSA key takes some tenths of a second. */
export async function newSigningKey(alg: SigningAlg): Promise<SigningKey> {
  const { publicKey, privateKey } = await (alg === 'RS256'
    ? newKeyPair('rsa', { modulusLength: 2048 })
    : newKeyPair('ec', { namedCurve: 'P-256' }));
  return { ...verificationKey(publicKey), privateKey };
}
