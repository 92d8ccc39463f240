import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePassage } from '../machine/folders.ts';

/** The checkout, and what the commands of this folder keep in it. */
export interface Home {
  readonly root: string;
  /** `.behest/` */
  readonly folder: string;
}

/** @throws when another user's commands made it: their files are closed to us, and ours would be to them. */
export function openHome(root: string): Home {
  const folder = join(root, '.behest');
  const owner = existsSync(folder) ? statSync(folder).uid : undefined;
  if (owner !== undefined && process.getuid && owner !== process.getuid())
    throw new Error(`${folder} belongs to another user (uid ${owner}); start as that user, or remove it.`);
  makePassage(folder);
  return { root, folder };
}
