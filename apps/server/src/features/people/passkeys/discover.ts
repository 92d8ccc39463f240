import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../platform/clock.ts';
import { hashOf, newId } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { challengeInvalid } from './ceremony.ts';
import { CHALLENGE_MS } from './passkeys.rules.ts';
import type { RelyingParty } from './passkeys.settings.ts';
import { requestOptions } from './webauthn.ts';

interface DiscoverDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
}

/** The place of a question for any passkey. An answer counts at the same place alone. */
interface Place {
  /** The page, as the beginning of keys in the store. */
  readonly use: string;
  /** The browser and the request, where the page has such; the store gets their hash. */
  readonly binding?: string;
}

interface Kept {
  /** In base64url. */
  readonly challenge: string;
  readonly binding: string;
  /** In ISO 8601. The store may keep it for longer. */
  readonly expiresAt: string;
}

const keyOf = (use: string, challengeId: string) => `${use}:${challengeId}`;
const hashed = ({ binding = '' }: Place) => hashOf(binding).toString('base64url');

/** Asks for any passkey of anybody: the question is the same for everybody, so nobody learns who has one. */
export async function beginDiscovery({ store, clock }: DiscoverDeps, party: RelyingParty, place: Place) {
  const at = clock();
  const challenge = randomBytes(32);
  const challengeId = newId('wac', at);
  const kept: Kept = {
    challenge: challenge.toString('base64url'),
    binding: hashed(place),
    expiresAt: new Date(at.getTime() + CHALLENGE_MS).toISOString(),
  };
  const seconds = CHALLENGE_MS / 1000;
  await store.put([{ key: keyOf(place.use, challengeId), value: JSON.stringify(kept), seconds }]);
  const publicKey = await requestOptions(party, { challenge, allowed: [] });
  return { challengeId, publicKey: { ...publicKey } };
}

/** Takes the challenge of a question, which nobody can take again. @throws CHALLENGE_INVALID */
export async function takeDiscovery(
  { store, clock }: DiscoverDeps,
  place: Place,
  challengeId: string,
): Promise<Buffer> {
  const at = clock();
  const key = keyOf(place.use, challengeId);
  const text = await store.get(key);
  const kept: Kept | undefined = text === undefined ? undefined : JSON.parse(text);
  if (kept?.binding !== hashed(place) || new Date(kept.expiresAt) <= at) throw challengeInvalid();
  // Two answers to one challenge find one slot.
  const slot = { key: `${key}:taken`, owner: newId('wac', at), most: 1, seconds: CHALLENGE_MS / 1000 };
  if (!(await store.takeSlot(slot))) throw challengeInvalid();
  await store.remove(key);
  return Buffer.from(kept.challenge, 'base64url');
}
