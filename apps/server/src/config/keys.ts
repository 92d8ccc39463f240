import type { VerificationKey } from '../features/service/keys/index.ts';
import { collect, isProductionAs, type SettingProblem, SettingRefusal, type ValuesOf } from './setting.ts';
import type { ownSettings } from './settings.ts';
import { checkVerificationKeys } from './verification-keys.ts';

type Values = Partial<ValuesOf<typeof ownSettings>>;

/** Checks the key settings against each other. A setting that was refused by itself is not refused again. */
export function checkKeys(values: Values, problems: SettingProblem[]) {
  const check = (setting: string, act: () => void) => collect(problems, setting, act);
  const others: VerificationKey[] = [];
  let legacyKey: VerificationKey | undefined;

  check('RSA_PRIVATE_KEY', () => requireRsaKey(values));
  check('JWT_SIGNING_ALG', () => requireEcKey(values));
  check('SIGNING_KEY_STORE', () => requireVaultKey(values));
  check('SIGNING_KEY_RETIRED_GRACE_SECONDS', () => requireGrace(values));
  check('SIGNING_KEY_ROTATION_SECONDS', () => requireStore(values));
  check('VAULT_ENCRYPTION_KEYS_PREVIOUS', () => refuseRepeatedVaultKey(values));
  check('JWT_VERIFICATION_PUBLIC_KEYS', () => others.push(...verificationKeysOf(values)));
  const isEveryRsaKeyRead =
    'RSA_PRIVATE_KEY' in values &&
    !problems.some(({ setting }) => setting === 'JWT_VERIFICATION_PUBLIC_KEYS');
  if (isEveryRsaKeyRead) check('JWT_LEGACY_KID_KEY', () => (legacyKey = legacyKeyOf(values, others)));
  return { verificationKeys: others, legacyKey };
}

function requireRsaKey(values: Values): void {
  const isUnset = 'RSA_PRIVATE_KEY' in values && !values.RSA_PRIVATE_KEY;
  if (!isUnset || values.AUTO_GENERATE_KEYS !== false) return;
  throw new SettingRefusal('RSA_PRIVATE_KEY is required (or AUTO_GENERATE_KEYS=true for development)');
}

function requireEcKey(values: Values): void {
  const isUnset = 'EC_PRIVATE_KEY' in values && !values.EC_PRIVATE_KEY;
  // The database may have a key; its reader checks that.
  const isElsewhere = values.AUTO_GENERATE_KEYS !== false || values.SIGNING_KEY_STORE !== 'env';
  if (!isUnset || isElsewhere || values.JWT_SIGNING_ALG !== 'ES256') return;
  throw new SettingRefusal('JWT_SIGNING_ALG=ES256 requires EC_PRIVATE_KEY');
}

function requireVaultKey(values: Values): void {
  const isUnset = 'VAULT_ENCRYPTION_KEY' in values && !values.VAULT_ENCRYPTION_KEY;
  if (values.SIGNING_KEY_STORE !== 'postgres' || !isUnset) return;
  throw new SettingRefusal('SIGNING_KEY_STORE=postgres requires VAULT_ENCRYPTION_KEY');
}

/** A grant's last token must verify for as long as the grant lives. */
function requireGrace(values: Values): void {
  const { SIGNING_KEY_RETIRED_GRACE_SECONDS: grace, MAX_GRANT_LIFETIME_SECONDS: lifetime } = values;
  if (values.SIGNING_KEY_STORE !== 'postgres' || grace === undefined || lifetime === undefined) return;
  if (grace >= lifetime) return;
  throw new SettingRefusal(
    `SIGNING_KEY_RETIRED_GRACE_SECONDS (${grace}) must not be shorter than MAX_GRANT_LIFETIME_SECONDS (${lifetime})`,
  );
}

function requireStore(values: Values): void {
  if (!values.SIGNING_KEY_ROTATION_SECONDS || values.SIGNING_KEY_STORE !== 'env') return;
  throw new SettingRefusal('SIGNING_KEY_ROTATION_SECONDS requires SIGNING_KEY_STORE=postgres');
}

function refuseRepeatedVaultKey(values: Values): void {
  const current = values.VAULT_ENCRYPTION_KEY ? [values.VAULT_ENCRYPTION_KEY] : [];
  const keys = [...current, ...(values.VAULT_ENCRYPTION_KEYS_PREVIOUS ?? [])];
  const isRepeated = keys.some((key, index) => keys.findIndex((other) => other.equals(key)) < index);
  if (isRepeated) {
    throw new SettingRefusal(
      'VAULT_ENCRYPTION_KEYS_PREVIOUS must hold each key once, and not VAULT_ENCRYPTION_KEY',
    );
  }
}

function verificationKeysOf(values: Values): VerificationKey[] {
  const own = [values.RSA_PRIVATE_KEY, values.EC_PRIVATE_KEY].filter((key) => key !== undefined);
  const isProduction = isProductionAs(values.NODE_ENV);
  const context = { name: 'JWT_VERIFICATION_PUBLIC_KEYS', isProduction };
  return checkVerificationKeys(values.JWT_VERIFICATION_PUBLIC_KEYS ?? [], own, context);
}

/** @returns undefined when the setting names no key */
function legacyKeyOf(values: Values, others: readonly VerificationKey[]): VerificationKey | undefined {
  const named = values.JWT_LEGACY_KID_KEY?.replace(/^service-rs256-/, '');
  if (!named) return undefined;
  const candidates = values.RSA_PRIVATE_KEY ? [values.RSA_PRIVATE_KEY, ...others] : others;
  const key = candidates.find(({ jwk, thumbprint }) => jwk.alg === 'RS256' && thumbprint === named);
  if (!key) throw new SettingRefusal('JWT_LEGACY_KID_KEY names no configured RSA key');
  return key;
}
