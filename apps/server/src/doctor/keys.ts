import type { OpenedFeature } from '../feature.ts';
import type { KeyStoreSettings } from '../features/service/keys/index.ts';
import { type KeyRing, lookAtKeys } from '../features/service/keys/index.ts';
import type { Executor } from '../platform/db/db.ts';
import { type Check, failed, passed, skipped, warned } from './check.ts';

const DAY = 86_400_000; // milliseconds

/** The key of the settings that signs, and what the key ring warned of. */
export function keyRingChecks(keyRing: KeyRing, warnings: readonly string[]): Check[] {
  const how = keyRing.stored ? 'kept in the database' : `of the settings, ${publishedKeys(keyRing)}`;
  return [
    passed('keys', `signing keys ${how}`),
    ...warnings.map((warning) => warned('keys', warning, 'see docs/configuration.md, Keys')),
  ];
}

/** The legacy key is published under its own id and under that of each month, so there are more entries than keys. */
function publishedKeys(keyRing: KeyRing): string {
  const { keys }: { keys: { kid: string; n?: string; x?: string }[] } = JSON.parse(
    keyRing.jwks().body.toString(),
  );
  const distinct = new Set(keys.map(({ n, x }) => n ?? x)).size;
  const monthly = keys.length - distinct;
  const twice =
    monthly > 0 ? ` in ${keys.length} entries, ${monthly} of them ids of months for tokens before 0.6` : '';
  return `${distinct} published${twice}`;
}

/** The keys of the database: their age, and whether this process could sign with them. */
export async function storedKeyCheck(
  { stored, vault }: KeyRing,
  db: Executor,
  store: KeyStoreSettings | undefined,
): Promise<Check> {
  const id = 'signing-keys';
  if (!stored || !store) return skipped(id, 'SIGNING_KEY_STORE is env: the age of the keys is not known');
  const rows = await lookAtKeys(db, vault);
  const lost = rows.filter(({ state, opens }) => state !== 'retired' && !opens);
  if (lost.length > 0)
    return failed(
      id,
      `${lost.length} do not open`,
      'set VAULT_ENCRYPTION_KEYS_PREVIOUS to the vault key that sealed them',
    );
  const active = rows.find(({ state, alg }) => state === 'active' && alg === stored.signsAs);
  if (!active) return warned(id, 'none is active yet', 'the next start brings in the keys of the settings');
  const days = Math.floor((Date.now() - (active.activatedAt?.getTime() ?? Date.now())) / DAY);
  const detail = `${active.kid} signs since ${days} days; ${rows.length} kept`;
  const isLate = store.rotationSeconds > 0 && days * DAY > 2 * store.rotationSeconds * 1_000;
  return isLate
    ? warned(id, detail, 'rotation is late: look whether an instance runs, and at its log')
    : passed(id, detail);
}

/** Whether the configured keys open every value that is sealed in the database. */
export async function sealCheck(
  opened: readonly OpenedFeature[],
  keyRing: KeyRing,
  db: Executor,
): Promise<Check> {
  const found = await Promise.all(
    opened.flatMap(({ sealed = [] }) => sealed.map((rows) => rows.findLost(db))),
  );
  const lost = found.filter((warning) => warning !== undefined);
  if (lost.length > 0)
    return failed(
      'vault-key',
      lost.join('; '),
      'set VAULT_ENCRYPTION_KEYS_PREVIOUS to the vault key before this one',
    );
  return keyRing.vault.current
    ? passed('vault-key', 'opens every sealed value')
    : warned('vault-key', 'there is none: the vault refuses to store', 'set VAULT_ENCRYPTION_KEY');
}
