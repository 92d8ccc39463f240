import { MAX_PINS } from '@behest/protocol/claims';
import { manifestFromObject } from '@behest/protocol/manifest/load';
import type { Manifest, ManifestPin } from '@behest/protocol/manifest/manifest';
import { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
import { AppError } from '../../../platform/errors.ts';

const MAX_PATH = 512; // characters of a fault's path, since names may have any length

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
    const path = error.path.slice(0, MAX_PATH);
    throw new AppError('INVALID_MANIFEST', 'The manifest has a fault.', { code: error.code, path });
  }
}

/** Loads a manifest that the service has stored, with the pins beside it. */
export const storedManifest = (manifest: unknown, pins: unknown = []): Manifest =>
  manifestFromObject(manifest, { pins: pins as readonly ManifestPin[] }); // the service wrote them

/** A connector's manifest under which a person agreed. */
export interface ConsentPin {
  readonly connector: string;
  readonly version: string;
  /** 64 digits of lower-case hex. */
  readonly sha256: string;
}

/** The manifests under which a person agreed, and the effect that a wider one has since. */
export interface ConsentPins {
  readonly mode: 'off' | 'warn' | 'enforce';
  readonly pins: readonly ConsentPin[];
}

/** Reads a column that the service itself has written. */
export const storedPins = (column: unknown): ConsentPins | undefined =>
  column === null || column === undefined ? undefined : (column as ConsentPins);

/** The pins as a token carries them; nothing where they have no effect. */
export function pinsInToken(column: unknown): {
  readonly manifests?: Pinned;
  readonly manifestMode?: PinMode;
} {
  const stored = storedPins(column);
  if (!stored || stored.mode === 'off' || stored.pins.length === 0) return {};
  const pinned = stored.pins
    .slice(0, MAX_PINS)
    .map(({ connector, sha256 }) => [connector, Buffer.from(sha256, 'hex').toString('base64url')]);
  return { manifests: Object.fromEntries(pinned), manifestMode: stored.mode };
}

type Pinned = Readonly<Record<string, string>>;
type PinMode = 'warn' | 'enforce';
