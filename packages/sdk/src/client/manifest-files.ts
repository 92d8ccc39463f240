import { copyArguments } from '@behest/protocol/arguments/read-arguments';
import { FrozenMap } from '@behest/protocol/manifest/frozen-map';
import type { ManifestOptions } from '@behest/protocol/manifest/load';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
import { manifestFromJsonText } from '@behest/protocol/manifest/texts';
import { BehestError } from '../errors.ts';
import type { Pins } from './options.ts';

/** The definitions that pins were made of stand beside their manifest. */
const [DEFINITIONS, FORMAT] = ['.tools.json', 'behest.tool-definitions/1'];

/**
 * Reads every manifest of a folder: its files `.json`, `.yaml` and `.yml`, in the order of their names.
 *
 * @throws ManifestValidationError with the first fault, and the name of the file in its message
 * @throws BehestError for a folder that cannot be read, or two files about one connector
 */
export async function manifestsIn(folder: string, pins: Pins): Promise<Manifest[]> {
  // Asked for here, because a browser has no such module to import.
  const files = globalThis.process?.getBuiltinModule?.('node:fs');
  if (!files) throw new BehestError('CONFIGURATION', 'loadManifestsFromDir needs a runtime with files.');
  const byConnector = new Map<string, { readonly name: string; readonly manifest: Manifest }>();
  try {
    const names = files.readdirSync(folder).filter((name) => /\.(?:json|ya?ml)$/.test(name));
    for (const name of names.sort()) {
      const bytes = files.readFileSync(`${folder}/${name}`);
      if (name.endsWith(DEFINITIONS) && areDefinitions(bytes)) continue;
      const manifest = await manifestOf(name, bytes, pins);
      const { connector } = manifest;
      const other = byConnector.get(connector);
      if (other)
        throw new BehestError('CONFIGURATION', `${other.name} and ${name} are both about ${connector}.`);
      byConnector.set(connector, { name, manifest });
    }
  } catch (cause) {
    if (cause instanceof ManifestValidationError || cause instanceof BehestError) throw cause;
    throw new BehestError('CONFIGURATION', `The manifests in ${folder} cannot be read.`, { cause });
  }
  return [...byConnector.values()].map(({ manifest }) => manifest);
}

async function manifestOf(name: string, bytes: Uint8Array, pins: Pins): Promise<Manifest> {
  try {
    const read = name.endsWith('.json') ? manifestFromJsonText : await yamlReader();
    const manifest = read(bytes);
    const known = pinsOf(pins, manifest.connector);
    return known ? read(bytes, known) : manifest; // the connector is known after the first reading only
  } catch (error) {
    if (error instanceof ManifestValidationError) error.message = `${name}: ${error.message}`;
    throw error;
  }
}

/** Loaded when a file needs it, because most clients read no YAML and its parser is larger than they are. */
async function yamlReader() {
  return (await import('@behest/protocol/manifest/yaml-text')).manifestFromYamlText;
}

function areDefinitions(bytes: Uint8Array): boolean {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes))).format === FORMAT;
  } catch {
    return false;
  }
}

/**
 * The copy has the members of the original. Arguments that JSON cannot hold have no copy, and are denied where rules
 * or decisions read them.
 */
export function frozenCopy<Arguments extends object>(args: Arguments): Arguments {
  const copied = copyArguments(args);
  return copied.ok ? (copied.value as Arguments) : args;
}

export function isLoaded(manifest: Manifest | object): manifest is Manifest {
  return 'tools' in manifest && manifest.tools instanceof FrozenMap;
}

/** @returns the options with which a manifest of the connector is loaded, or undefined where no pins are known */
export function pinsOf(pins: Pins, connector: unknown): ManifestOptions | undefined {
  const known = typeof connector === 'string' && Object.hasOwn(pins, connector) ? pins[connector] : undefined;
  return known && { pins: known };
}
