import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { AppError } from './errors.ts';

/** A key that seals data keys, under the id that follows from it. */
export interface MasterKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The master keys of the process. */
export interface MasterKeys {
  /** The key for new values. Undefined when the operator has set none. */
  readonly current: MasterKey | undefined;
  /** The current key or a former one. */
  find(id: string): KeyObject | undefined;
  /** The ids of all of them. */
  readonly ids: readonly string[];
}

/** @throws NOT_CONFIGURED when the operator has set no vault key */
export function currentKey({ current }: MasterKeys): MasterKey {
  if (current) return current;
  const setting = 'VAULT_ENCRYPTION_KEY';
  throw new AppError('NOT_CONFIGURED', `The vault has no key: the operator has not set ${setting}.`, {
    setting,
  });
}

/** The names of the row that sealed values belong to: developer, principal, service. */
export type SealedFor = readonly [string, string, string];

/** A data key at work. */
export interface Envelope {
  /** The id of the master key that seals the data key. */
  readonly keyId: string;
  /** The data key as it is stored: `v1.<keyId>.<nonce>.<sealed data key>`. */
  readonly dataKey: string;
  /** @param field the name of the column, which is bound in. @returns `v1.<nonce>.<ciphertext and tag>` */
  seal(field: string, text: string): string;
  /** @returns undefined for a text that was sealed for another place, under another key, or altered */
  open(field: string, sealed: string): string | undefined;
  /** Seals the same data key under another master key. Sealed fields stay as they are. */
  under(master: MasterKey): Envelope;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12; // NIST SP 800-38D, section 5.2.1.1
const TAG_BYTES = 16;

/** Makes a data key for a row. */
export const newEnvelope = (master: MasterKey, owner: SealedFor): Envelope =>
  envelopeOf(master, owner, randomBytes(KEY_BYTES));

/** @returns undefined when no configured key opens the data key, or when it was sealed for another row */
export function openEnvelope(keys: MasterKeys, dataKey: string, owner: SealedFor): Envelope | undefined {
  const [version, keyId = '', nonce = '', sealed = ''] = dataKey.split('.');
  const key = keys.find(keyId);
  if (version !== 'v1' || !key) return undefined;
  const bytes = decrypt(key, nonce, sealed, boundTo('data_key', keyId, owner));
  return bytes?.length === KEY_BYTES ? around(keyId, dataKey, owner, bytes) : undefined;
}

function envelopeOf({ id, key }: MasterKey, owner: SealedFor, bytes: Buffer): Envelope {
  const sealed = encrypt(key, bytes, boundTo('data_key', id, owner));
  return around(id, `v1.${id}.${sealed}`, owner, bytes);
}

function around(keyId: string, dataKey: string, owner: SealedFor, bytes: Buffer): Envelope {
  return {
    keyId,
    dataKey,
    seal: (field, text) => `v1.${encrypt(bytes, Buffer.from(text), boundTo(field, '', owner))}`,
    open(field, stored) {
      const [version, nonce = '', sealed = ''] = stored.split('.');
      if (version !== 'v1') return undefined;
      return decrypt(bytes, nonce, sealed, boundTo(field, '', owner))?.toString('utf8');
    },
    under: (master) => envelopeOf(master, owner, bytes),
  };
}

/** Bound into the tag, so that a value moved to another place does not open there. */
const boundTo = (field: string, keyId: string, owner: SealedFor): Buffer =>
  Buffer.from(JSON.stringify(['behest-vault-v1', field, keyId, ...owner]));

function encrypt(key: KeyObject | Buffer, plain: Buffer, aad: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(aad);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return `${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
}

function decrypt(key: KeyObject | Buffer, nonce: string, sealed: string, aad: Buffer): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const iv = Buffer.from(nonce, 'base64url');
  if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(aad);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined; // sealed by another key or for another place, or altered
  }
}
