import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { installTarballs, packTarballs } from './build.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Entry {
  readonly types: string;
  readonly default: string;
}

/** The published packages, installed in a project of a test file. */
interface InstalledPackages {
  /** The folder of the project, whose files are modules. */
  readonly home: string;
  /** The file of each package, by its name. */
  readonly tarballs: ReadonlyMap<string, string>;
  /** The folder of a package. @param name such as `sdk` */
  folderOf(name: string): string;
  versionOf(name: string): string;
  exportsOf(name: string): Readonly<Record<string, Entry>>;
}

/** Packs and installs the packages once for the tests of a file. */
export function useInstalledPackages(): InstalledPackages {
  let home = '';
  let tarballs: ReadonlyMap<string, string> = new Map();
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'packages-'));
    tarballs = await packTarballs(ROOT, home);
    installTarballs(ROOT, tarballs, home);
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  }, 240_000); // the compiler takes long on a busy machine
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const folderOf = (name: string) => join(home, 'node_modules/@behest', name);
  const manifestOf = (name: string) => JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8'));
  return {
    get home() {
      return home;
    },
    get tarballs() {
      return tarballs;
    },
    folderOf,
    versionOf: (name) => manifestOf(name).version,
    exportsOf: (name) => manifestOf(name).exports,
  };
}

/** The text of a file without its comments, whose examples import what the file does not. */
export const codeOf = (file: string) =>
  readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
