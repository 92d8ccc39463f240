import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The keys, by the names of the server's variables. */
const makers: Readonly<Record<KeyName, () => string>> = {
  SEED_API_KEY: () => `bh_live_${randomBytes(32).toString('base64url')}`,
  SEED_SANDBOX_KEY: () => `bh_test_${randomBytes(32).toString('base64url')}`,
  SEED_CONSENT_KEY: () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return JSON.stringify(privateKey.export({ format: 'jwk' }));
  },
  RSA_PRIVATE_KEY: () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  },
  ED25519_PRIVATE_KEY: () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  },
  VAULT_ENCRYPTION_KEY: () => randomBytes(32).toString('base64url'),
};

type KeyName =
  | 'SEED_API_KEY'
  | 'SEED_SANDBOX_KEY'
  | 'SEED_CONSENT_KEY'
  | 'RSA_PRIVATE_KEY'
  | 'ED25519_PRIVATE_KEY'
  | 'VAULT_ENCRYPTION_KEY';

export type Keys = Readonly<Record<KeyName, string>>;

/** Makes the keys once, so that tokens from before a restart still verify. */
export function keepKeys(home: string): Keys {
  const file = join(home, 'keys.json');
  const kept: Partial<Keys> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const key = (name: KeyName) => kept[name] ?? makers[name]();
  const keys = {
    SEED_API_KEY: key('SEED_API_KEY'),
    SEED_SANDBOX_KEY: key('SEED_SANDBOX_KEY'),
    SEED_CONSENT_KEY: key('SEED_CONSENT_KEY'),
    RSA_PRIVATE_KEY: key('RSA_PRIVATE_KEY'),
    ED25519_PRIVATE_KEY: key('ED25519_PRIVATE_KEY'),
    VAULT_ENCRYPTION_KEY: key('VAULT_ENCRYPTION_KEY'),
  };
  const text = `${JSON.stringify(keys, undefined, 2)}\n`;
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file); // the rename makes the file appear whole
  }
  return keys;
}
