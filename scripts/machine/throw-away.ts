import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOpenToAll } from './folders.ts';
import { isRunning } from './processes.ts';

/** The temporary folder of root may be closed to the account of Postgres. */
function temporaryFolder(): string {
  return process.platform === 'win32' || isOpenToAll(tmpdir()) ? tmpdir() : '/tmp';
}

/** Makes a folder that names its maker, so that a later run may remove the folder of a killed run. */
export function makeThrowAway(kind: string, place = temporaryFolder()): string {
  const folder = mkdtempSync(join(place, `behest-${kind}-${process.pid}-`));
  chmodSync(folder, 0o711); // the account of Postgres has to pass
  return folder;
}

/** Removes the folders whose makers are gone, after `end` has ended the processes in them. */
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

/** Any account may have made a folder with such a name in a shared place. */
function isOurs(folder: string): boolean {
  const uid = process.getuid?.();
  return uid === undefined || statSync(folder, { throwIfNoEntry: false })?.uid === uid;
}
