import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/**
 * Reads the documents of a YAML file. @throws on a text that a strict reader refuses, such as a repeated key
 */
export function documentsOf(path: string): unknown[] {
  return parseAllDocuments(textOf(path), { strict: true }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    return document.toJS();
  });
}

/** Reads a file of `NAME=value` lines. */
export const settingsOf = (path: string) => parseEnv(textOf(path));
