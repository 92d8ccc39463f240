import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOpenToAll } from './folders.ts';
import { isRunning } from './processes.ts';

/** Root's own temporary folder may be closed to the account that Postgres runs as. */
function temporaryFolder(): string {
  return process.platform === 'win32' || isOpenToAll(tmpdir()) ? tmpdir() : '/tmp';
}

/** A new folder that names its maker, so that a later run may remove what a killed one left. */
export function makeThrowAway(kind: string, place = temporaryFolder()): string {
  const folder = mkdtempSync(join(place, `behest-${kind}-${process.pid}-`));
  chmodSync(folder, 0o711); // the account that Postgres runs as has to pass
  return folder;
}

/** Removes the folders of makers that are gone, after `end` has ended what still runs there. */
export async function sweepThrowAways(
  kind: string,
  { place = temporaryFolder(), end }: { place?: string; end?: (folder: string) => Promise<void> } = {},
): Promise<void> {
  const pattern = new RegExp(`^behest-${kind}-(\\d+)-`);
  for (const name of readdirSync(place)) {
    const maker = Number(pattern.exec(name)?.[1]);
    const folder = join(place, name);
    if (!maker || isRunning(maker, 'node') || !isOurs(folder)) continue;
    await end?.(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Anybody may have made a folder of such a name in a shared place. */
function isOurs(folder: string): boolean {
  const uid = process.getuid?.();
  return uid === undefined || statSync(folder, { throwIfNoEntry: false })?.uid === uid;
}
