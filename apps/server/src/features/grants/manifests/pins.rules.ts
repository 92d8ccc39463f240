import { MAX_PINS } from '@behest/protocol/claims';

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
