import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepKeys } from './keys.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'behest-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('the server accepts the form of every key', () => {
  const keys = keepKeys(newFolder());

  expect(keys.SEED_API_KEY).toMatch(/^bh_live_[\w-]{43}$/);
  expect(keys.SEED_SANDBOX_KEY).toMatch(/^bh_test_[\w-]{43}$/);
  expect(JSON.parse(keys.SEED_CONSENT_KEY)).toMatchObject({ kty: 'EC', crv: 'P-256', d: expect.any(String) });
  expect(createPrivateKey(keys.RSA_PRIVATE_KEY).asymmetricKeyDetails?.modulusLength).toBe(2048);
  expect(keys.RSA_PRIVATE_KEY).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  expect(createPrivateKey(keys.ED25519_PRIVATE_KEY).asymmetricKeyType).toBe('ed25519');
  expect(Buffer.from(keys.VAULT_ENCRYPTION_KEY, 'base64url')).toHaveLength(32);
});

test('keys stay the same, in a file that nobody else may read', () => {
  const folder = newFolder();

  const first = keepKeys(folder);
  const second = keepKeys(folder);

  expect(second).toEqual(first);
  expect(statSync(join(folder, 'keys.json')).mode & 0o777).toBe(0o600);
});

test('a key that the file lacks is added, and the others stay', () => {
  const folder = newFolder();
  const { VAULT_ENCRYPTION_KEY: _, ...older } = keepKeys(folder);
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(older));

  const keys = keepKeys(folder);

  expect(keys).toMatchObject(older);
  expect(JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8'))).toEqual(keys);
});
