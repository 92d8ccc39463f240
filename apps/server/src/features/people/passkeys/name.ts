import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type OwnSessionDeps, openOwnSession, type ShownPerson } from '../principals/index.ts';
import { asserted, suspect } from './assert.ts';
import { type PasskeyDeps, verifyingParty } from './ceremony.ts';
import { beginDiscovery, takeDiscovery } from './discover.ts';
import { advanceCounter, findDiscovered, findDiscoveredAcrossTenants } from './passkeys.repo.ts';
import { checkAssertion, failed } from './webauthn.ts';

export interface NamingDeps extends PasskeyDeps {
  readonly store: EphemeralStore;
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
export const beginNaming = (deps: NamingDeps, place: NamingPlace) =>
  beginDiscovery(deps, verifyingParty(deps), placeOf(place));

/**
 * Takes the answer of an authenticator to a question for any passkey: the person is the principal of this developer to
 * whom the passkey belongs. An attempt that fails uses the challenge up, too.
 * @returns the principal's id
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED, also for a passkey of another developer,
 * WEBAUTHN_CLONE_SUSPECTED
 */
export async function finishNaming(
  deps: NamingDeps,
  caller: Caller,
  place: NamingPlace,
  { challengeId, response }: Assertion,
): Promise<string> {
  const at = deps.clock();
  const party = verifyingParty(deps);
  const { tenant } = caller;
  const challenge = await takeDiscovery(deps, placeOf(place), challengeId);
  const passkey = await findDiscovered(deps.db, tenant, {
    ownerKind: 'principal',
    credentialId: Buffer.from(response.id, 'base64url'),
    userHandle: Buffer.from(String(Object(response.response).userHandle ?? ''), 'base64url'),
  });
  if (!passkey) throw failed('credential');
  const shown = await checkAssertion({ party, challenge, response }, passkey);
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

export type SignInDeps = NamingDeps & OwnSessionDeps;

const SIGN_IN = { use: 'principal-sign-in' };

/** Asks for any passkey of a principal. The question is the same for everybody, so nobody learns who has one. */
export const beginSignIn = (deps: SignInDeps) => beginDiscovery(deps, verifyingParty(deps), SIGN_IN);

/**
 * Opens the page of the person to whom a passkey belongs. An attempt that fails uses the challenge up, too.
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, and as `openOwnSession`
 */
export async function finishSignIn(
  deps: SignInDeps,
  { challengeId, response }: Assertion,
  browser: Pick<ShownPerson, 'requestId' | 'signOn'>,
) {
  const at = deps.clock();
  const party = verifyingParty(deps);
  const challenge = await takeDiscovery(deps, SIGN_IN, challengeId);
  const passkey = await findDiscoveredAcrossTenants(deps.db, {
    ownerKind: 'principal',
    credentialId: Buffer.from(response.id, 'base64url'),
    userHandle: Buffer.from(String(Object(response.response).userHandle ?? ''), 'base64url'),
  });
  if (passkey?.status !== 'active') throw failed('credential');
  const shown = await checkAssertion({ party, challenge, response }, passkey);
  const { developerId, ownerId: principalId, id: credentialId } = passkey;
  const person = { tenant: { developerId }, principalId, method: 'passkey', ...browser } as const;
  let copied: Caller | undefined;
  const take = async (tx: Tx, caller: Caller) => {
    if (!(await advanceCounter(tx, passkey, shown, at))) {
      copied = caller;
      throw failed('credential');
    }
    const act: Act = { type: 'fido.assertion', principalId, data: { credentialId } };
    return [act];
  };
  return openOwnSession(deps, person, take).catch(async (error: unknown) => {
    throw copied ? await suspect(deps, copied, passkey, at) : error; // after the transaction has let go of its locks
  });
}
