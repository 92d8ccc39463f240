import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Mode } from '../../platform/caller.ts';
import { inTransaction, type Tx } from '../../platform/db/db.ts';
import { hashOf } from '../../platform/ids.ts';
import { openChain, record } from '../audit/index.ts';
import type { Act } from '../events/index.ts';
import { endKey, insertKey, lockUsableKeys } from './api-keys.repo.ts';
import { newKey } from './api-keys.service.ts';
import {
  type DeveloperRow,
  findKeyOwnerAcrossTenants,
  insertDeveloper,
  lockSeededAcrossTenants,
  updateDeveloper,
} from './developers.repo.ts';
import { thumbprintOf } from './developers.rules.ts';
import { type DeveloperDeps, firstCaller, newDeveloper } from './developers.service.ts';

export interface Seed {
  readonly apiKey: string | undefined;
  readonly sandboxKey: string | undefined;
  /** Private, EC P-256; its public half vouches for people who consent to the live developer's agents. */
  readonly consentKey: KeyObject | undefined;
}

const SEED_KEY = 'seed'; // the name of the API key, by which a later start finds the former one
const SEEDED_KID = 'seeded-'; // begins the `kid` of a seeded consent key
const MOST_CONSENT_KEYS = 5;

/**
 * Makes a live and a sandbox developer, each once per database, with the keys that the settings name. The same
 * settings again change nothing; another key takes the place of the former one. @param warn for a key that is
 * somebody else's, which seeds nothing.
 */
export async function seedDevelopers(
  deps: DeveloperDeps,
  { apiKey, sandboxKey, consentKey }: Seed,
  warn: (message: string) => void,
): Promise<void> {
  if (apiKey) await seedDeveloper(deps, { mode: 'live', name: 'Development', apiKey, consentKey }, warn);
  if (sandboxKey) {
    await seedDeveloper(deps, { mode: 'sandbox', name: 'Sandbox', apiKey: sandboxKey }, warn);
  }
}

interface SeedDeveloper {
  readonly mode: Mode;
  readonly name: string;
  readonly apiKey: string;
  readonly consentKey?: KeyObject | undefined;
}

async function seedDeveloper(deps: DeveloperDeps, seed: SeedDeveloper, warn: (message: string) => void) {
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    const fresh = { ...newDeveloper(seed.name, seed.mode, deps.defaultPlan, at), isSeeded: true };
    const owner = await findKeyOwnerAcrossTenants(tx, hashOf(seed.apiKey));
    const known = await lockSeededAcrossTenants(tx, seed.mode);
    if (owner && owner.developerId !== known?.id) {
      warn(`the seeded ${seed.mode} key belongs to another developer: nothing is seeded`);
      return;
    }
    const made = known ? undefined : await insertDeveloper(tx, fresh);
    const developer = known ?? made ?? (await lockSeededAcrossTenants(tx, seed.mode));
    if (!developer) throw new Error('The seeded developer vanished while it was being made.');
    if (made) await openChain(tx, { developerId: made.id });

    const caller = firstCaller(developer, 'system', 'start');
    const acts: Act[] = [];
    if (made) acts.push({ type: 'developer.created', developerId: made.id, data: { mode: seed.mode } });
    if (!owner) acts.push(...(await replaceSeedKey(tx, developer, seed.apiKey, at)));
    acts.push(...(await addConsentKey(tx, developer, seed.consentKey, at)));
    if (acts.length > 0) await record(tx, caller, acts, at);
  });
}

async function replaceSeedKey(tx: Tx, { id }: DeveloperRow, apiKey: string, at: Date): Promise<Act[]> {
  const tenant = { developerId: id };
  const former = (await lockUsableKeys(tx, tenant, at)).filter(({ name }) => name === SEED_KEY);
  const key = newKey(SEED_KEY, 'full', at, apiKey);
  await insertKey(tx, tenant, key);
  for (const { id: keyId } of former) await endKey(tx, tenant, keyId, { revokedAt: at });
  const revoked = former.map(
    (old): Act => ({ type: 'apikey.revoked', data: { keyId: old.id, name: SEED_KEY } }),
  );
  return [{ type: 'apikey.created', data: { keyId: key.id, name: SEED_KEY } }, ...revoked];
}

/** Where there is no room, the oldest seeded one goes; what the developer put there stays. */
async function addConsentKey(
  tx: Tx,
  developer: DeveloperRow,
  consentKey: KeyObject | undefined,
  at: Date,
): Promise<Act[]> {
  if (!consentKey) return [];
  const jwk = createPublicKey(consentKey).export({ format: 'jwk' });
  const kid = `${SEEDED_KID}${thumbprintOf(jwk)}`;
  const keys: { kid?: string }[] = Array.isArray(developer.consentKeys)
    ? developer.consentKeys.map(Object)
    : [];
  if (keys.some((key) => thumbprintOf(key) === thumbprintOf(jwk))) return [];
  const oldest = keys.findIndex((key) => key.kid?.startsWith(SEEDED_KID));
  if (keys.length >= MOST_CONSENT_KEYS && oldest < 0) return [];
  const kept = keys.length >= MOST_CONSENT_KEYS ? keys.toSpliced(oldest, 1) : keys;
  const consentKeys = JSON.stringify([...kept, { ...jwk, kid }]);
  await updateDeveloper(tx, { developerId: developer.id }, { consentKeys, updatedAt: at });
  return [{ type: 'developer.updated', developerId: developer.id, data: { changed: ['consentKeys'] } }];
}
