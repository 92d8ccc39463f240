import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/**
 * The label of one use. Each feature declares its own, so that no derived key serves two uses. The version changes with
 * the use.
 */
export type DerivedKeyUse = `behest/${string}/v${number}`;

export interface DerivedKeys {
  /** What new values are made with. */
  readonly current: KeyObject;
  /** What values made before a change of configuration may have been made with. */
  readonly previous: readonly KeyObject[];
}

export interface KeySources {
  readonly vaultKey: KeyObject | undefined;
  readonly previousVaultKeys: readonly KeyObject[];
  readonly rsaKey: KeyObject;
}

/**
 * The vault key is the source, and where there is none the RSA key. That one goes on opening what it sealed
 * after a vault key is set, and former vault keys do after they are replaced.
 */
export function deriveKeys(use: DerivedKeyUse, sources: KeySources): DerivedKeys {
  const rsaKey = sources.rsaKey.export({ type: 'pkcs8', format: 'der' });
  const vaultKeys = sources.previousVaultKeys.map((key) => key.export());
  const [first, ...others] = sources.vaultKey
    ? [sources.vaultKey.export(), ...vaultKeys, rsaKey]
    : [rsaKey, ...vaultKeys];
  return { current: derive(use, first), previous: others.map((source) => derive(use, source)) };
}

/** @see RFC 5869; no salt, since the sources are random keys already */
function derive(use: DerivedKeyUse, source: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', source, '', use, 32)));
}
