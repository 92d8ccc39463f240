import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

export const filesOf = (pattern: string) => globSync(pattern, { cwd: ROOT }).sort();

/** The documents of a YAML file. @throws on what a strict reader refuses, a key that is there twice included. */
export function documentsOf(path: string): unknown[] {
  return parseAllDocuments(textOf(path), { strict: true }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    return document.toJS();
  });
}

/** A file of `NAME=value` lines. */
export const settingsOf = (path: string) => parseEnv(textOf(path));
