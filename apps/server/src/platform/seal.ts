import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

export interface SealingKeys {
  readonly current: KeyObject;
  /** Former keys, which still open the values that they sealed. */
  readonly previous: readonly KeyObject[];
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12; // NIST SP 800-38D, section 5.2.1.1
const TAG_BYTES = 16;

/** @param boundTo is bound in, so that a value moved to another place does not open there */
export function seal({ current }: SealingKeys, text: string, boundTo: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, current, nonce).setAAD(boundTo);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @returns undefined when no key opens it */
export function unseal(
  { current, previous }: SealingKeys,
  sealed: Buffer,
  boundTo: Buffer,
): string | undefined {
  for (const key of [current, ...previous]) {
    const text = openWith(key, sealed, boundTo);
    if (text !== undefined) return text;
  }
  return undefined;
}

function openWith(key: KeyObject, sealed: Buffer, boundTo: Buffer): string | undefined {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo).setAuthTag(tag);
    const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined; // sealed by another key, or altered
  }
}
