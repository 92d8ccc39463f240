import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { AppError } from '../../../platform/errors.ts';
import {
  advanceCounter,
  beginDiscovery,
  finishDiscovery,
  markSuspect,
  type PasskeyRow,
} from '../../people/passkeys/index.ts';
import { recordBlockedAttempt, recordEntry } from '../../record/audit/index.ts';
import { findApprover } from './approvers.repo.ts';
import type { ApproverSignInRequest } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { type OpenedBrowser, type OpeningBrowser, openApproverSession, unauthorized } from './session.ts';

const PLACE = { use: 'approver-sign-in' };

/** Asks for any passkey of an approver. @throws CONFLICT */
export const beginSignIn = (deps: ApproverDeps) => beginDiscovery(deps, PLACE);

/** @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, UNAUTHORIZED, SSO_REQUIRED */
export async function finishSignIn(
  deps: ApproverDeps,
  answer: ApproverSignInRequest,
  browser: OpeningBrowser & { readonly requestId: string },
): Promise<OpenedBrowser> {
  const at = deps.clock();
  const { passkey, shown } = await finishDiscovery(
    deps,
    {
      ...({ place: PLACE, ownerKind: 'approver', status: 'active', unknown: unauthorized } as const),
      report: (known, refusal) => reportSignIn(deps, known, refusal, browser.requestId),
    },
    answer,
  );
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
  const { id: credentialId, ownerId: approverId } = passkey;
  const caller = callerOf(passkey, requestId);
  const entry = { action: 'approver.clone_suspected', data: { approverId, credentialId } } as const;
  const record = (tx: Tx) => recordEntry(tx, caller, entry, clock());
  return markSuspect({ aside }, passkey, record, 'Ask for a new invitation.');
}

/** Records a passkey of an approver that did not sign them in. */
function reportSignIn(
  { aside, clock }: ApproverDeps,
  passkey: PasskeyRow,
  { code, details }: AppError,
  requestId: string,
): Promise<void> {
  const { id: credentialId, ownerId: approverId } = passkey;
  const check = details?.check;
  const data = { approverId, credentialId, code, ...(check !== undefined && { check }) };
  const attempt = { action: 'approver.sign_in_failed', about: {}, data } as const;
  const caller = callerOf(passkey, requestId);
  return inTransaction(aside, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}

/** The approver whose passkey was shown, as the caller of an entry. */
const callerOf = ({ developerId, ownerId }: PasskeyRow, requestId: string): Caller => ({
  ...{ tenant: { developerId }, agentIds: null, actor: `approver:${ownerId}`, requestId },
  ...({ role: 'runtime', mode: 'live', plan: 'free' } as const),
});
