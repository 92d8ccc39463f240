import { isThumbprintKeyId } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import { keySet, type SigningKey, type VerificationKey, type VerifierKey } from './keys.rules.ts';
import type { PublishedJwk } from './keys.schema.ts';

/** The key that signs, and its name in tokens. */
export interface SigningUse {
  readonly key: SigningKey;
  /** Whether tokens name it by the month, as those before 0.6 did. */
  readonly isLegacy: boolean;
}

/** The keys at one time. It stays the same object for as long as nothing changes. */
export interface KeysInUse {
  /** Undefined when no key may sign. */
  readonly signing: SigningUse | undefined;
  /** The key that signs as RS256. Undefined when no RSA key may sign. */
  readonly rsa: SigningUse | undefined;
  /** The published keys in their order. */
  readonly published: readonly VerificationKey[];
  readonly legacyKey: VerificationKey | undefined;
  readonly keys: KeySet<VerifierKey>;
  /** The published keys under their thumbprints. */
  readonly named: readonly PublishedJwk[];
}

export function keysInUse(
  { signing, rsa }: Pick<KeysInUse, 'signing' | 'rsa'>,
  published: readonly VerificationKey[],
  legacyKey: VerificationKey | undefined,
): KeysInUse {
  const named = published.map(({ jwk }) => jwk).filter(({ kid }) => isThumbprintKeyId(kid));
  return { signing, rsa, published, legacyKey, keys: keySet(published, legacyKey), named };
}

interface ConfiguredKeys {
  readonly rsa: SigningKey;
  readonly ec: SigningKey | undefined;
  readonly others: readonly VerificationKey[];
  readonly legacyKey: VerificationKey;
  readonly signsAs: VerificationKey['jwk']['alg'];
  /** Until then the legacy key signs. */
  readonly activeAt: number;
}

/** The keys of the settings, in their two states: before the activation delay is over, and after. */
export function configuredKeys(configured: ConfiguredKeys): (now: Date) => KeysInUse {
  const { rsa, ec, others, legacyKey, signsAs, activeAt } = configured;
  const published = [rsa, ...(ec ? [ec] : []), ...others];
  const isLegacy = legacyKey.thumbprint === rsa.thumbprint;
  const settledKey = signsAs === 'ES256' && ec ? ec : rsa;
  const settled = keysInUse(
    { signing: { key: settledKey, isLegacy: false }, rsa: { key: rsa, isLegacy: false } },
    published,
    legacyKey,
  );
  const first = { key: rsa, isLegacy };
  const waiting = { ...settled, signing: first, rsa: first };
  return (now) => (now.getTime() >= activeAt ? settled : waiting);
}
