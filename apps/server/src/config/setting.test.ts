import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import { development, problemsOf } from './test/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'behest-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(content: string | Uint8Array): string {
  const path = join(folder, String(content.length));
  writeFileSync(path, content);
  return path;
}

describe('a secret in a file', () => {
  test('is read from it, without the line break at its end', () => {
    const path = fileWith('redis://from-a-file\n');

    expect(loadConfig({ ...development, REDIS_URL: '', REDIS_URL_FILE: path }).redisUrl).toBe(
      'redis://from-a-file',
    );
  });

  test('may be a key in PEM form', () => {
    const path = fileWith(development.RSA_PRIVATE_KEY ?? '');
    const { RSA_PRIVATE_KEY, ...others } = development;

    const { rsa } = loadConfig({ ...others, RSA_PRIVATE_KEY_FILE: ` ${path} ` }).keys;
    expect(rsa?.thumbprint).toBe(loadConfig(development).keys.rsa?.thumbprint);
  });

  test('is refused beside the secret itself', () => {
    const env = { ...development, REDIS_URL_FILE: fileWith('redis://x') };

    expect(problemsOf(env)).toEqual([
      { setting: 'REDIS_URL', message: 'set either REDIS_URL or REDIS_URL_FILE, not both' },
    ]);
  });

  test.each([
    ['is missing', join(folder, 'missing')],
    ['is a folder', folder],
    ['is not UTF-8', fileWith(Uint8Array.of(0xc3, 0x28))],
  ])('is refused without its path when it %s', (_, path) => {
    const env = { ...development, VAULT_ENCRYPTION_KEY_FILE: path };

    expect(problemsOf(env)).toEqual([
      { setting: 'VAULT_ENCRYPTION_KEY', message: 'VAULT_ENCRYPTION_KEY_FILE cannot be read' },
    ]);
  });

  test('counts as unset when it is empty', () => {
    expect(loadConfig({ ...development, VAULT_ENCRYPTION_KEY_FILE: fileWith(' \n') }).keys.vaultKey).toBe(
      undefined,
    );
  });

  test('is for secrets only', () => {
    expect(loadConfig({ ...development, PORT_FILE: fileWith('80') }).http.port).toBe(3001);
    expect(loadConfig({ ...development, JWT_LEGACY_KID_KEY_FILE: folder }).keys.legacyKey).toBe(undefined);
  });
});
