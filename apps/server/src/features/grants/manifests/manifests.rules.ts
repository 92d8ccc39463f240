import { manifestFromObject } from '@behest/protocol/manifest/load';
import type { Manifest, ManifestPin } from '@behest/protocol/manifest/manifest';
import { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
import { AppError } from '../../../platform/errors.ts';

const LONGEST_PATH = 512; // characters of a fault's path, since names may have any length

/**
 * Reads a manifest strictly, also one without `$schema` whose tools are all texts, which other loaders take as it is.
 * @throws INVALID_MANIFEST with the first fault
 */
export function readManifest(value: object): Manifest {
  try {
    if (!Object.hasOwn(value, '$schema')) manifestFromObject({ ...value, $schema: '' });
    return manifestFromObject(value);
  } catch (error) {
    if (!(error instanceof ManifestValidationError)) throw error;
    const path = error.path.slice(0, LONGEST_PATH);
    throw new AppError('INVALID_MANIFEST', 'The manifest has a fault.', { code: error.code, path });
  }
}

/** Loads a manifest that the service has stored, with the pins beside it. */
export const storedManifest = (manifest: unknown, pins: unknown = []): Manifest =>
  manifestFromObject(manifest, { pins: pins as readonly ManifestPin[] }); // the service wrote them
