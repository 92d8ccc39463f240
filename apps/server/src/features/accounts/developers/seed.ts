import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Act } from '../../../platform/acts.ts';
import type { Mode } from '../../../platform/caller.ts';
import { afterCommit, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { hashOf } from '../../../platform/ids.ts';
import { openChain, recordActs } from '../../record/audit/index.ts';
import {
  endKey,
  findKeyOwnerAcrossTenants,
  insertKey,
  insertKeyAgain,
  lockUsableKeys,
} from './api-keys.repo.ts';
import { type KeyDeps, newKey } from './api-keys.ts';
import {
  type DeveloperRow,
  findSeededAcrossTenants,
  insertDeveloper,
  lockSeedingAcrossTenants,
  updateDeveloper,
} from './developers.repo.ts';
import { describeKey, keysIn, thumbprintOf, thumbprintsOf } from './developers.rules.ts';
import { type DeveloperDeps, firstCaller, newDeveloper } from './manage.ts';

type SeedDeps = Pick<DeveloperDeps, 'db' | 'clock' | 'defaultPlan'> & Pick<KeyDeps, 'publishChange'>;

export interface Seed {
  readonly apiKey: string | undefined;
  readonly sandboxKey: string | undefined;
  /** A private EC P-256 key. Its public half becomes a consent key of the live developer. */
  readonly consentKey: KeyObject | undefined;
}

const SEED_KEY = 'seed'; // the name of a seeded API key, by which a later start finds it
const SEEDED_KID = 'seeded-'; // begins the `kid` of a seeded consent key
const MAX_CONSENT_KEYS = 5;

/**
 * Makes a live and a sandbox developer, each once per database, with the keys from the settings. A later
 * start with the same settings changes nothing; a different key replaces the former one. @param warn reports
 * a key that belongs to another developer, for which nothing is seeded
 */
export async function seedDevelopers(
  deps: SeedDeps,
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

async function seedDeveloper(deps: SeedDeps, seed: SeedDeveloper, warn: (message: string) => void) {
  const { mode, apiKey, consentKey } = seed;
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    await lockSeedingAcrossTenants(tx);
    const owner = await findKeyOwnerAcrossTenants(tx, hashOf(apiKey));
    const known = await findSeededAcrossTenants(tx, mode);
    if (owner && owner.developerId !== known?.id) {
      warn(`the seeded ${mode} key belongs to another developer: nothing is seeded`);
      return;
    }
    const acts: Act[] = [];
    const developer = known ?? (await makeDeveloper(tx, deps, seed, at));
    if (!known) acts.push({ type: 'developer.created', developerId: developer.id, data: { mode } });
    acts.push(...(await seedKey(tx, developer, apiKey, owner, at)));
    if (consentKey) acts.push(...(await addConsentKey(tx, developer, consentKey, at)));
    if (acts.length > 0) await recordActs(tx, firstCaller(developer, 'system', 'start'), acts, at);
    if (known && acts.length > 0) await afterCommit(tx, () => deps.publishChange({ developerId: known.id }));
  });
}

async function makeDeveloper(tx: Tx, { defaultPlan }: SeedDeps, { name, mode }: SeedDeveloper, at: Date) {
  const developer = { ...newDeveloper(name, mode, defaultPlan, at), isSeeded: true };
  const made = await insertDeveloper(tx, developer);
  await openChain(tx, { developerId: made.id });
  return made;
}

/**
 * Makes the key valid, and ends the keys that were seeded before it. A key that the developer has rotated or
 * revoked stays ended. @param owner the key's record, when it was seeded before
 */
async function seedKey(
  tx: Tx,
  { id: developerId }: DeveloperRow,
  apiKey: string,
  owner: { isRevoked: boolean; isReplaced: boolean } | undefined,
  at: Date,
): Promise<Act[]> {
  const tenant = { developerId };
  if (owner && (!owner.isRevoked || owner.isReplaced)) return [];
  const former = (await lockUsableKeys(tx, tenant, at)).filter(({ name }) => name === SEED_KEY);
  if (owner && former.length === 0) return []; // no other key replaced it, so the developer revoked it
  const key = newKey(SEED_KEY, 'full', at, apiKey);
  if (owner) await insertKeyAgain(tx, tenant, key);
  else await insertKey(tx, tenant, key);
  for (const { id: keyId } of former) await endKey(tx, tenant, keyId, { revokedAt: at });
  const revoked = former.map((old): Act => ({ type: 'apikey.revoked', data: describeKey(old) }));
  return [{ type: 'apikey.created', data: describeKey(key) }, ...revoked];
}

/** Where there is no room, the new key replaces the oldest seeded key. The developer's own keys stay. */
async function addConsentKey(
  tx: Tx,
  developer: DeveloperRow,
  consentKey: KeyObject,
  at: Date,
): Promise<Act[]> {
  const jwk = createPublicKey(consentKey).export({ format: 'jwk' });
  const kid = `${SEEDED_KID}${thumbprintOf(jwk)}`;
  const keys: { kid?: string }[] = keysIn(developer.consentKeys);
  if (thumbprintsOf(keys).includes(thumbprintOf(jwk))) return [];
  const oldest = keys.findIndex((key) => key.kid?.startsWith(SEEDED_KID));
  if (keys.length >= MAX_CONSENT_KEYS && oldest < 0) return [];
  const kept = keys.length >= MAX_CONSENT_KEYS ? keys.toSpliced(oldest, 1) : keys;
  const consentKeys = [...kept, { ...jwk, kid }];
  const columns = { consentKeys: JSON.stringify(consentKeys), updatedAt: at };
  await updateDeveloper(tx, { developerId: developer.id }, columns);
  const evidence = {
    old: { consentKeys: thumbprintsOf(keys) },
    new: { consentKeys: thumbprintsOf(consentKeys) },
  };
  const data = { changed: ['consentKeys'] };
  return [{ type: 'developer.updated', developerId: developer.id, data, evidence }];
}
