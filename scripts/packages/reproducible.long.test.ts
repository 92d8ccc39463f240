import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packTarballs } from './build.ts';
import { writeReference } from './reference.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Builds the packages in a folder of their own, and packs them. @returns the digest of each tarball */
async function packed(): Promise<Record<string, string>> {
  const home = mkdtempSync(join(tmpdir(), 'packed-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const tarballs = await packTarballs(ROOT, home);
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  return Object.fromEntries([...tarballs].map(([name, file]) => [name, digest(file)]));
}

test('two builds of a package are equal, byte for byte', async () => {
  const first = await packed();

  expect(Object.keys(first)).toEqual(['@behest/protocol', '@behest/sdk', '@behest/cli', '@behest/server']);
  expect(await packed()).toEqual(first);
}, 480_000); // the compiler takes long on a busy machine

test('the reference has the methods with their comments, and no comment names a thing that is not there', async () => {
  const out = mkdtempSync(join(tmpdir(), 'reference-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));

  await writeReference(ROOT, out);

  const page = readFileSync(join(out, 'index/interfaces/AgentsApi.md'), 'utf8');
  expect(page).toContain('Register an agent.');
  expect(page).toContain('`POST /v1/agents`');
}, 240_000); // the compiler takes long on a busy machine
