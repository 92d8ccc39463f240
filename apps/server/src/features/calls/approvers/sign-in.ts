import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { AppError } from '../../../platform/errors.ts';
import {
  advanceCounter,
  beginDiscovery,
  checkAssertion,
  findDiscoveredAcrossTenants,
  markSuspect,
  type PasskeyRow,
  takeDiscovery,
  verifyingParty,
} from '../../people/passkeys/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { findApprover } from './approvers.repo.ts';
import type { ApproverSignInRequest } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { type OpenedBrowser, type OpeningBrowser, openApproverSession, unauthorized } from './session.ts';

const PLACE = { use: 'approver-sign-in' };

/** Asks for any passkey of an approver. The answer is the same for everybody, so that nobody learns who is an approver. */
export const beginSignIn = (deps: ApproverDeps) => beginDiscovery(deps, verifyingParty(deps), PLACE);

/** @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, UNAUTHORIZED, SSO_REQUIRED */
export async function finishSignIn(
  deps: ApproverDeps,
  { challengeId, response }: ApproverSignInRequest,
  browser: OpeningBrowser & { readonly requestId: string },
): Promise<OpenedBrowser> {
  const at = deps.clock();
  const party = verifyingParty(deps);
  const challenge = await takeDiscovery(deps, PLACE, challengeId);
  const passkey = await findDiscoveredAcrossTenants(deps.db, {
    ownerKind: 'approver',
    credentialId: Buffer.from(response.id, 'base64url'),
    userHandle: Buffer.from(String(Object(response.response).userHandle ?? ''), 'base64url'),
  });
  if (passkey?.status !== 'active') throw unauthorized();
  const shown = await checkAssertion({ party, challenge, response }, passkey);
  return inTransaction(deps.db, async (tx) => {
    const row = await findApprover(tx, passkey, passkey.ownerId);
    if (row?.status !== 'active' && row?.status !== 'pending_confirmation') throw unauthorized();
    if (!(await advanceCounter(tx, passkey, shown, at))) {
      throw await cloneSuspected(deps, passkey, browser.requestId);
    }
    return openApproverSession(deps, tx, row, browser);
  });
}

/** Marks the passkey, whatever becomes of the request. @returns the refusal */
export function cloneSuspected(
  { aside, clock }: ApproverDeps,
  passkey: PasskeyRow,
  requestId: string,
): Promise<AppError> {
  const { developerId, id: credentialId, ownerId: approverId } = passkey;
  const caller: Caller = {
    ...{ tenant: { developerId }, agentIds: null, actor: `approver:${approverId}`, requestId },
    ...({ role: 'runtime', mode: 'live', plan: 'free' } as const),
  };
  const entry = { action: 'approver.clone_suspected', data: { approverId, credentialId } } as const;
  const record = (tx: Tx) => recordEntry(tx, caller, entry, clock());
  return markSuspect({ aside }, passkey, record, 'Ask for a new invitation.');
}
