import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { readProject, readText } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';

/**
 * Finds the files of manifests: those that were named, else those of `behest.json`, else `./manifests`.
 *
 * @throws CliError where there are none
 */
export function manifestFiles(context: Context, paths: readonly string[]): string[] {
  const { folder } = context.io;
  const named = paths.length > 0 ? paths : (readProject(folder)?.manifests ?? ['manifests']);
  const files = named.flatMap((path) => (path === '-' ? ['-'] : filesIn(folder, path)));
  if (files.length > 0) return [...new Set(files)];
  throw wrongUsage(`There is no manifest in ${named.join(', ')}.`, context.help);
}

function filesIn(folder: string, path: string): string[] {
  const place = resolve(folder, path);
  if (!existsSync(place)) throw wrongUsage(`${path} is not there.`, 'behest manifest --help');
  if (!statSync(place).isDirectory()) return [path];
  const isManifest = (file: string) =>
    /\.(json|ya?ml)$/.test(file) &&
    !/(\.cases\.ya?ml|\.tools\.json|(^|[/\\])behest\.json)$/.test(file) &&
    !/(^|[/\\])(node_modules|\.)/.test(file);
  const found = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(isManifest);
  return found.toSorted().map((file) => relative(folder, join(place, file)));
}

export const isJsonFile = (file: string) => file.endsWith('.json');

/** Reads the text of a file, or standard input. */
export async function textIn(context: Context, file: string): Promise<string> {
  return file === '-' ? context.io.input() : readText(resolve(context.io.folder, file));
}

/** Loads a manifest strictly as the service does. @throws ManifestValidationError with the first fault */
export async function readManifest(context: Context, file: string): Promise<Manifest> {
  return loadText(await textIn(context, file), file);
}

export async function loadText(text: string, file: string): Promise<Manifest> {
  const isJson = isJsonFile(file) || (file === '-' && text.trimStart().startsWith('{'));
  if (isJson) return (await import('@behest/protocol/manifest/texts')).manifestFromJsonText(text);
  return (await import('@behest/protocol/manifest/yaml-text')).manifestFromYamlText(text);
}
