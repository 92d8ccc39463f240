import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePassage } from '../machine/folders.ts';

/** Where a start finds its programs, and keeps its files. */
export interface Home {
  /** The checkout, or the installed package of the server. */
  readonly root: string;
  /** `.behest/` */
  readonly folder: string;
  /** The programs of the start and of the server, below the root. */
  readonly programs: { readonly start: string; readonly server: string };
}

export const CHECKOUT = { start: 'scripts/start.ts', server: 'apps/server/start.mjs' } as const;

/** @throws when the commands of another user made the folder: the two users cannot read each other's files */
export function openHome(
  root: string,
  folder = join(root, '.behest'),
  programs: Home['programs'] = CHECKOUT,
): Home {
  const owner = existsSync(folder) ? statSync(folder).uid : undefined;
  if (owner !== undefined && process.getuid && owner !== process.getuid())
    throw new Error(`${folder} belongs to another user (uid ${owner}); start as that user, or remove it.`);
  makePassage(folder);
  return { root, folder, programs };
}

/** Reads a variable as the server does: from the environment, or from the file that `<name>_FILE` names. */
export function givenSetting(name: string): string | undefined {
  const value = process.env[name]?.trim();
  const file = process.env[`${name}_FILE`]?.trim();
  if (value || !file) return value || undefined; // empty is unset
  return readFileSync(file, 'utf8').trim();
}

/** Drops each default whose variable the person has set. */
export function unlessGiven(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => givenSetting(name) === undefined));
}
