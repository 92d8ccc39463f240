import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePassage } from '../machine/folders.ts';

/** The checkout, and the folder in which the commands keep their files. */
export interface Home {
  readonly root: string;
  /** `.behest/` */
  readonly folder: string;
}

/** @throws when the commands of another user made the folder: the two users cannot read each other's files */
export function openHome(root: string): Home {
  const folder = join(root, '.behest');
  const owner = existsSync(folder) ? statSync(folder).uid : undefined;
  if (owner !== undefined && process.getuid && owner !== process.getuid())
    throw new Error(`${folder} belongs to another user (uid ${owner}); start as that user, or remove it.`);
  makePassage(folder);
  return { root, folder };
}
