import { copyArguments } from '@behest/protocol/arguments/read-arguments';
import { FrozenMap } from '@behest/protocol/manifest/frozen-map';
import type { ManifestOptions } from '@behest/protocol/manifest/load';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import type { Pins } from './options.ts';

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
