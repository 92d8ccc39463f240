import { JsonError, parseJsonText } from '../json.ts';
import { type ManifestOptions, manifestFromObject } from './load.ts';
import type { Manifest } from './manifest.ts';
import { ManifestValidationError } from './manifest-error.ts';

const MAX_BYTES = 1_048_576;
const MAX_DEPTH = 16;
/** More than a text of `MAX_BYTES` can hold. */
const MAX_MEMBERS = 1_000_000;

/**
 * Loads a manifest from JSON text: UTF-8 of at most 1 MiB and 16 levels, in which no object repeats a key.
 *
 * @throws ManifestValidationError with the first fault
 * @throws TypeError for malformed `pins`
 */
export function manifestFromJsonText(source: string | Uint8Array, options?: ManifestOptions): Manifest {
  const text = manifestText(source);
  return manifestFromObject(parse(text), options);
}

/**
 * Decodes the source of a manifest, without its byte-order mark.
 *
 * @throws ManifestValidationError when it is not UTF-8, or longer than 1 MiB
 */
export function manifestText(source: string | Uint8Array): string {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source;
  if (bytes.length > MAX_BYTES) throw new ManifestValidationError('unparseable', '');
  if (typeof source === 'string' && !source.isWellFormed())
    throw new ManifestValidationError('unparseable', '');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // drops a byte-order mark
  } catch {
    throw new ManifestValidationError('unparseable', '');
  }
}

/** @throws ManifestValidationError when a value has more than 16 levels */
export function mustBeShallow(value: unknown, left = MAX_DEPTH): void {
  if (typeof value !== 'object' || value === null) return;
  if (left === 0) throw new ManifestValidationError('unparseable', '');
  for (const member of Object.values(value)) mustBeShallow(member, left - 1);
}

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = parseJsonText(text, MAX_MEMBERS);
  } catch (error) {
    if (!(error instanceof JsonError) || error.problem !== 'repeated_member') {
      throw new ManifestValidationError('unparseable', '');
    }
    throw new ManifestValidationError('duplicate_key', repeatedKey(text));
  }
  mustBeShallow(value);
  return value;
}

/** A whole string, or a character that begins, ends or divides objects and arrays. */
const TOKEN = /"[^"\\]*(?:\\[\s\S]?[^"\\]*)*"?|[{}[\],:]/g;

interface Level {
  /** Absent for an array. */
  readonly keys?: Set<string>;
  /** The key or index that the reader is at. */
  at: string | number;
  /** True before a colon, where a string is a key. */
  isKey: boolean;
}

/**
 * Finds the path of the first repeated key.
 *
 * @param text JSON that repeats a key
 */
function repeatedKey(text: string): string {
  const levels: Level[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === '{') levels.push({ keys: new Set(), at: '', isKey: true });
    else if (token === '[') levels.push({ at: 0, isKey: false });
    else if (token === '}' || token === ']') levels.pop();
    else if (level && token === ',') {
      if (typeof level.at === 'number') level.at += 1;
      level.isKey = level.keys !== undefined;
    } else if (level && token === ':') level.isKey = false;
    else if (level?.keys && level.isKey) {
      level.at = String(JSON.parse(token));
      if (level.keys.has(level.at)) return pathOf(levels.map(({ at }) => at));
      level.keys.add(level.at);
    }
  }
  return '';
}

/** Writes names with dots, and indices in brackets. */
export function pathOf(parts: readonly (string | number)[]): string {
  return parts.reduce<string>((path, part) => {
    if (typeof part === 'number') return `${path}[${part}]`;
    return path === '' ? part : `${path}.${part}`;
  }, '');
}
