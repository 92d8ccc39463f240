import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, parseDocument } from 'yaml';
import { type ManifestOptions, manifestFromObject } from './load.ts';
import type { Manifest } from './manifest.ts';
import { ManifestValidationError } from './manifest-error.ts';
import { manifestText, mustBeShallow, pathOf } from './texts.ts';

/**
 * Loads a manifest from YAML text: one document of YAML 1.2 with the core schema. Refused are repeated keys, anchors,
 * aliases, merge keys, explicit tags, directives, and keys that are not texts.
 *
 * @throws ManifestValidationError with the first fault
 * @throws TypeError for malformed `pins`
 * @see YAML 1.2.2, section 10.3
 */
export function manifestFromYamlText(source: string | Uint8Array, options?: ManifestOptions): Manifest {
  const value = parse(manifestText(source));
  return manifestFromObject(value, options);
}

function parse(text: string): unknown {
  try {
    const document = parseDocument(text, { version: '1.2', schema: 'core', merge: false, uniqueKeys: false });
    mustBePlain(document);
    mustBeOnce(document.contents, []);
    const value: unknown = document.toJS();
    mustBeShallow(value);
    return value;
  } catch (error) {
    // The parser recurses, so a deep text ends in a RangeError.
    throw error instanceof ManifestValidationError ? error : new ManifestValidationError('unparseable', '');
  }
}

function mustBePlain({ errors, warnings, directives }: Document.Parsed): void {
  const hasDirectives = directives.yaml.explicit === true || Object.keys(directives.tags).length > 1;
  if (errors.length > 0 || warnings.length > 0 || hasDirectives) throw refusal();
}

function mustBeOnce(node: ParsedNode | null, path: readonly (string | number)[]): void {
  if (node === null) return;
  if (isAlias(node) || node.anchor !== undefined || node.tag !== undefined) throw refusal();
  if (isSeq(node)) for (const [index, item] of node.items.entries()) mustBeOnce(item, [...path, index]);
  if (!isMap(node)) return;
  const keys = new Set<string>();
  for (const { key, value } of node.items) {
    if (!isScalar(key) || typeof key.value !== 'string') throw refusal();
    if (key.anchor !== undefined || key.tag !== undefined || key.source === '<<') throw refusal();
    if (keys.has(key.value)) throw new ManifestValidationError('duplicate_key', pathOf([...path, key.value]));
    keys.add(key.value);
    mustBeOnce(value, [...path, key.value]);
  }
}

function refusal(): ManifestValidationError {
  return new ManifestValidationError('unparseable', '');
}
