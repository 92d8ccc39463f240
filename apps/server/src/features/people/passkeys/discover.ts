import { randomBytes } from 'node:crypto';
import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, newId } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { recordActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import { asserted, suspect } from './assert.ts';
import { challengeInvalid, type PasskeyDeps, verifyingParty } from './ceremony.ts';
import {
  advanceCounter,
  findDiscovered,
  findDiscoveredAcrossTenants,
  type PasskeyRow,
} from './passkeys.repo.ts';
import { CHALLENGE_MS, type PasskeyOwner } from './passkeys.rules.ts';
import { checkAssertion, failed, requestOptions } from './webauthn.ts';

export interface DiscoverDeps extends PasskeyDeps {
  readonly store: EphemeralStore;
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

/**
 * Asks for any passkey of anybody: the question is the same for everybody, so nobody learns who has one.
 * @throws CONFLICT
 */
export async function beginDiscovery(deps: DiscoverDeps, place: Place) {
  const { store, clock } = deps;
  const party = verifyingParty(deps);
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
async function takeDiscovery(
  { store, clock }: Pick<DiscoverDeps, 'store' | 'clock'>,
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

/** Whose passkeys count at a place. */
interface Search {
  readonly place: Place;
  readonly ownerKind: PasskeyOwner['ownerKind'];
  /** The account whose people sign in there; any, without. */
  readonly tenant?: Tenant;
  /** The status that the passkey has to have. */
  readonly status?: 'active';
  /** The refusal of an answer by no such passkey. */
  readonly unknown: () => AppError;
  /** Records that a known passkey was refused, whatever becomes of the request. */
  readonly report: (passkey: PasskeyRow, refusal: AppError) => Promise<void>;
}

/**
 * Takes the answer of an authenticator to a question for any passkey. An attempt that fails uses the challenge up, too.
 * The caller moves the counter on.
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED, and the refusal of the search
 */
export async function finishDiscovery(
  deps: DiscoverDeps,
  { place, ownerKind, tenant, status, unknown, report }: Search,
  { challengeId, response }: Assertion,
) {
  const party = verifyingParty(deps);
  const challenge = await takeDiscovery(deps, place, challengeId);
  const offered = {
    ownerKind,
    credentialId: Buffer.from(response.id, 'base64url'),
    userHandle: Buffer.from(String(Object(response.response).userHandle ?? ''), 'base64url'),
  };
  const passkey = await (tenant
    ? findDiscovered(deps.db, tenant, offered)
    : findDiscoveredAcrossTenants(deps.db, offered));
  if (!passkey) throw unknown();
  const refuse = async (refusal: unknown): Promise<never> => {
    if (refusal instanceof AppError) await report(passkey, refusal);
    throw refusal;
  };
  if (status && passkey.status !== status) return refuse(unknown());
  const shown = await checkAssertion({ party, challenge, response }, passkey).catch(refuse);
  return { passkey, shown };
}

/** Records a passkey of a person that did not sign them in. */
export function reportSignIn(
  { aside, clock }: PasskeyDeps,
  caller: Caller,
  { id: credentialId, ownerId: principalId }: PasskeyRow,
  { code, details }: AppError,
): Promise<void> {
  const data = { credentialId, code, ...(details?.check !== undefined && { check: details.check }) };
  const attempt = { action: 'fido.sign_in_failed', about: { principalId }, data } as const;
  return inTransaction(aside, (tx: Tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}

/** The request for which a person names themselves, and the browser in which they do. */
export interface NamingPlace {
  readonly requestId: string;
  /** The secret of the browser's cookie. */
  readonly browserId: string;
}

const placeOf = ({ requestId, browserId }: NamingPlace) => ({
  use: 'name-principal',
  binding: `${requestId}\n${browserId}`,
});

/** Asks for the passkey of a person whom nobody has named. @throws CONFLICT */
export const beginNaming = (deps: DiscoverDeps, place: NamingPlace) => beginDiscovery(deps, placeOf(place));

/**
 * Takes the answer of an authenticator to a question for any passkey: the person is the principal of this developer to
 * whom the passkey belongs. An attempt that fails uses the challenge up, too.
 * @returns the principal's id
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED, also for a passkey of another developer,
 * WEBAUTHN_CLONE_SUSPECTED
 */
export async function finishNaming(
  deps: DiscoverDeps,
  caller: Caller,
  place: NamingPlace,
  answer: Assertion,
): Promise<string> {
  const at = deps.clock();
  const { passkey, shown } = await finishDiscovery(
    deps,
    {
      ...({ place: placeOf(place), ownerKind: 'principal', tenant: caller.tenant } as const),
      unknown: () => failed('credential'),
      report: (known, refusal) => reportSignIn(deps, caller, known, refusal),
    },
    answer,
  );
  const { ownerId: principalId } = passkey;
  const subject = { use: 'consent', subjectId: place.requestId, principalId } as const;
  const isAdvanced = await inTransaction(deps.db, async (tx) => {
    if (!(await advanceCounter(tx, passkey, shown, at))) return false;
    await recordActs(tx, caller, [asserted(passkey, subject)], at);
    return true;
  });
  if (!isAdvanced) throw await suspect(deps, caller, passkey, at);
  return principalId;
}
