import type { AssertionResponse } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { beginDiscovery, checkAssertion, takeDiscovery } from '../../people/passkeys/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { findApprover } from './approvers.repo.ts';
import type { ApproverSignInRequest } from './approvers.schema.ts';
import { type ApproverDeps, approverParty } from './deps.ts';
import {
  type ApproverPasskeyRow,
  advanceApproverCounter,
  listByCredentialAcrossTenants,
  suspectPasskey,
} from './keys.repo.ts';
import { type OpenedBrowser, type OpeningBrowser, openApproverSession, unauthorized } from './session.ts';

const PLACE = { use: 'approver-sign-in' };

/** Asks for any passkey of an approver. The answer is the same for everybody, so that nobody learns who is an approver. */
export const beginSignIn = (deps: ApproverDeps) => beginDiscovery(deps, approverParty(deps), PLACE);

/** @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, UNAUTHORIZED, SSO_REQUIRED */
export async function finishSignIn(
  deps: ApproverDeps,
  { challengeId, response }: ApproverSignInRequest,
  browser: OpeningBrowser & { readonly requestId: string },
): Promise<OpenedBrowser> {
  const at = deps.clock();
  const party = approverParty(deps);
  const challenge = await takeDiscovery(deps, PLACE, challengeId);
  const passkey = await passkeyOf(deps, response);
  if (!passkey) throw unauthorized();
  const { counter } = await checkAssertion({ party, challenge, response }, passkey);
  return inTransaction(deps.db, async (tx) => {
    const row = await findApprover(tx, passkey, passkey.approverId);
    if (row?.status !== 'active' && row?.status !== 'pending_confirmation') throw unauthorized();
    if (!(await advanceApproverCounter(tx, passkey, { id: passkey.id, counter }, at))) {
      throw await cloneSuspected(deps, passkey, browser.requestId);
    }
    return openApproverSession(deps, tx, row, browser);
  });
}

async function passkeyOf({ db }: ApproverDeps, { id, response }: AssertionResponse) {
  const handle = Buffer.from(String(Object(response).userHandle ?? ''), 'base64url');
  for (const passkey of await listByCredentialAcrossTenants(db, Buffer.from(id, 'base64url'))) {
    const row = await findApprover(db, passkey, passkey.approverId);
    if (row?.handle.equals(handle)) return passkey;
  }
  return undefined;
}

/** Marks the passkey, whatever becomes of the request. @returns the refusal */
export async function cloneSuspected(
  { aside, clock }: ApproverDeps,
  { developerId, id: credentialId, approverId }: ApproverPasskeyRow,
  requestId: string,
): Promise<AppError> {
  const tenant = { developerId };
  await inTransaction(aside, async (tx: Tx) => {
    if (!(await suspectPasskey(tx, tenant, credentialId))) return;
    const caller: Caller = {
      ...{ tenant, agentIds: null, actor: `approver:${approverId}`, requestId },
      ...({ role: 'runtime', mode: 'live', plan: 'free' } as const),
    };
    const data = { approverId, credentialId };
    await recordEntry(tx, caller, { action: 'approver.clone_suspected', data }, clock());
  });
  return new AppError(
    'WEBAUTHN_CLONE_SUSPECTED',
    'There may be a copy of this passkey. Ask for a new invitation.',
  );
}
