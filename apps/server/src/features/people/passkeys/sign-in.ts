import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { type OwnSessionDeps, openOwnSession, type ShownPerson } from '../principals/index.ts';
import { suspect } from './assert.ts';
import { beginDiscovery, type DiscoverDeps, finishDiscovery, reportSignIn } from './discover.ts';
import { advanceCounter, type PasskeyRow } from './passkeys.repo.ts';
import { failed } from './webauthn.ts';

export type SignInDeps = DiscoverDeps & OwnSessionDeps;

const PLACE = { use: 'principal-sign-in' };

/** Asks for any passkey of a principal. @throws CONFLICT */
export const beginSignIn = (deps: SignInDeps) => beginDiscovery(deps, PLACE);

/**
 * Opens the page of the person to whom a passkey belongs. An attempt that fails uses the challenge up, too.
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, and as `openOwnSession`
 */
export async function finishSignIn(
  deps: SignInDeps,
  answer: Assertion,
  browser: Pick<ShownPerson, 'requestId' | 'signOn'>,
) {
  const at = deps.clock();
  const report = (known: PasskeyRow, refusal: AppError) =>
    reportStranger(deps, known, refusal, browser.requestId);
  const { passkey, shown } = await finishDiscovery(
    deps,
    {
      ...({ place: PLACE, ownerKind: 'principal', status: 'active' } as const),
      unknown: () => failed('credential'),
      report,
    },
    answer,
  );
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
    // After the transaction has let go of its locks. Single sign-on that is missing is the next step, and no failure.
    if (copied) throw await suspect(deps, copied, passkey, at);
    if (error instanceof AppError && error.code === 'PRINCIPAL_INACTIVE') await report(passkey, error);
    throw error;
  });
}

/** Nobody has signed in, so the account is that of the passkey. A closed one has no record any more. */
async function reportStranger(
  deps: SignInDeps,
  passkey: PasskeyRow,
  refusal: AppError,
  requestId: string,
): Promise<void> {
  const tenant = { developerId: passkey.developerId };
  const parts = await findCallerParts(deps.db, tenant);
  if (!parts) return;
  const caller = {
    tenant,
    agentIds: null,
    actor: 'principal',
    role: 'runtime',
    ...parts,
    requestId,
  } as const;
  await reportSignIn(deps, caller, passkey, refusal);
}
