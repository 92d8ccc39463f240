import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildPackages } from './build.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Builds the packages in a folder of their own, and packs them. @returns the digest of each tarball */
async function packed(): Promise<Record<string, string>> {
  const home = mkdtempSync(join(tmpdir(), 'packed-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folders = await buildPackages(ROOT, home);
  return Object.fromEntries(
    folders.map((folder) => {
      const flags = ['pack', '--json', '--ignore-scripts', '--pack-destination', home];
      const said = execFileSync('npm', flags, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const [{ filename }] = JSON.parse(said);
      const digest = createHash('sha256')
        .update(readFileSync(join(home, filename)))
        .digest('hex');
      return [basename(folder), digest];
    }),
  );
}

test('two builds of a package are equal, byte for byte', async () => {
  const first = await packed();

  expect(Object.keys(first)).toEqual(['protocol', 'sdk', 'cli']);
  expect(await packed()).toEqual(first);
}, 480_000); // the compiler takes long on a busy machine
