import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Tells whether every account of this machine may read this file, or enter this folder. */
export function isOpenToAll(path: string): boolean {
  const enough = lstatSync(path).isDirectory() ? 0o001 : 0o004;
  if (!(statSync(path).mode & enough)) return false;
  const parent = dirname(resolve(path));
  return parent === resolve(path) || isOpenToAll(parent);
}

/**
 * Makes the folder and its missing parents, whatever the umask is. Other accounts may pass through to their own
 * files, and list nothing.
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
