import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** May every account of this machine read this file, or enter this folder, and walk down to it? */
export function isOpenToAll(path: string): boolean {
  const enough = lstatSync(path).isDirectory() ? 0o001 : 0o004;
  if (!(statSync(path).mode & enough)) return false;
  const parent = dirname(resolve(path));
  return parent === resolve(path) || isOpenToAll(parent);
}

/**
 * Makes the folder, and its parents where missing, so that others may pass through to what is theirs and list
 * nothing; whatever the umask says.
 */
export function makePassage(folder: string): void {
  if (existsSync(folder)) return;
  makePassage(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (existsSync(folder)) return; // another command was quicker
    throw error;
  }
  chmodSync(folder, 0o711);
}
