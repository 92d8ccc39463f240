import { copyArguments } from '@behest/protocol/arguments/read-arguments';
import { FrozenMap } from '@behest/protocol/manifest/frozen-map';
import type { Manifest } from '@behest/protocol/manifest/manifest';

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
