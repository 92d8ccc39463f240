import { spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import fs, { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endEarlier, ownProcesses, takeOver } from './earlier.ts';
import { CHECKOUT, type Home } from './postgres.ts';
import { readableLine } from './server.ts';
import { keepKeys } from './start.ts';

function newHome(): Home {
  const root = fs.mkdtempSync(join(tmpdir(), 'behest-earlier-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  fs.mkdirSync(join(root, '.behest'));
  return { root, folder: join(root, '.behest'), programs: CHECKOUT };
}

/** Starts a program at this path that runs until it is stopped. */
async function run(path: string) {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, "setInterval(() => {}, 1000); console.log('up');");
  const child = spawn(process.execPath, [path]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return child;
}

test('the server of a start that was killed is ended', async () => {
  const home = newHome();
  const { server } = ownProcesses(home);
  const orphan = await run(server.mark);
  const ended = once(orphan, 'exit');
  fs.writeFileSync(server.file, String(orphan.pid));

  const words = await endEarlier(home);

  expect(words).toEqual([`the earlier server (pid ${orphan.pid})`]);
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(fs.existsSync(server.file)).toBe(false);
});

test('a foreign process with the same number keeps running', async () => {
  const home = newHome();
  const { server } = ownProcesses(home);
  const stranger = await run(join(home.root, 'another-program.mjs'));
  fs.writeFileSync(server.file, String(stranger.pid));

  const words = await endEarlier(home);

  expect(words).toEqual([]);
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
});

test.each(['', 'nonsense', '4194305'])('a file that says "%s" does not stop a start', async (text) => {
  const home = newHome();
  const { start } = ownProcesses(home);
  fs.writeFileSync(start.file, text);

  const words = await takeOver(home);

  expect(words).toEqual([]);
  expect(fs.readFileSync(start.file, 'utf8')).toBe(String(process.pid));
});

test.each([
  ['{"level":"info","time":"2026-01-01","msg":"ready","port":3001}', undefined],
  ['{"level":"warn","time":"2026-01-01","msg":"no vault key"}', 'warn: no vault key'],
  ['{"level":"error","msg":"lost","attempt":2,"to":"a"}', 'error: lost attempt=2 to=a'],
  ['{"level":"fatal","err":{"message":"refused","stack":"…"}}', 'fatal: refused'],
  ['(node:1) DeprecationWarning: old', '(node:1) DeprecationWarning: old'],
  ['"text"', '"text"'],
  ['', undefined],
])('the line %s is shown as %s', (line, shown) => {
  expect(readableLine(line)).toBe(shown);
});

test.each([
  [
    '{"level":"info","method":"GET","route":"/v1/agents/:id","status":200,"responseTime":3.21,"msg":"request"}',
    'GET /v1/agents/:id 200 3 ms',
  ],
  [
    '{"level":"info","method":"GET","route":"/health","status":200,"responseTime":3.21,"msg":"request"}',
    undefined,
  ],
  ['{"level":"info","msg":"ready","port":3001}', undefined],
  ['{"level":"warn","msg":"no vault key"}', 'warn: no vault key'],
])('with requests, the line %s is shown as %s', (line, shown) => {
  expect(readableLine(line, true)).toBe(shown);
});

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
