import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/**
 * The label of one use. Each feature declares its own labels, so that no derived key serves two uses. A
 * changed use gets a new version.
 */
export type DerivedKeyUse = `behest/${string}/v${number}`;

export interface DerivedKeys {
  /** The key for new values. */
  readonly current: KeyObject;
  /** Keys that may have made older values, before a change of configuration. */
  readonly previous: readonly KeyObject[];
}

export interface KeySources {
  readonly vaultKey: KeyObject | undefined;
  readonly previousVaultKeys: readonly KeyObject[];
  readonly rsaKey: KeyObject;
}

/**
 * Derives from the vault key, or without a vault key from the RSA key. The RSA key still opens the values
 * that it sealed before a vault key was set, and a former vault key those that it sealed before it was
 * replaced.
 */
export function deriveKeys(use: DerivedKeyUse, sources: KeySources): DerivedKeys {
  const rsaKey = sources.rsaKey.export({ type: 'pkcs8', format: 'der' });
  const vaultKeys = sources.previousVaultKeys.map((key) => key.export());
  const [first, ...others] = sources.vaultKey
    ? [sources.vaultKey.export(), ...vaultKeys, rsaKey]
    : [rsaKey, ...vaultKeys];
  return { current: derive(use, first), previous: others.map((source) => derive(use, source)) };
}

/** @see RFC 5869; no salt, because the sources are random keys already */
function derive(use: DerivedKeyUse, source: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', source, '', use, 32)));
}
