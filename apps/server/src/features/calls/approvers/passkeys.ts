import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { pageLanguage } from '../../../platform/languages.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import {
  beginCreation,
  challengeInvalid,
  checkRegistration,
  deletePasskeyRow,
  getChallenge,
  listPasskeysOf,
  type PasskeyRow,
  storePasskey,
  takeChallenge,
  useUp,
  verifyingParty,
} from '../../people/passkeys/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { deleteOtherSessions, findApprover, lockApprover } from './approvers.repo.ts';
import { approverOwner } from './approvers.rules.ts';
import type { ApproverPasskey, ApproverPasskeyList, NewApproverPasskey } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { noticeQuietly, passkeyMail } from './mail.ts';
import { approverIn, mustBeFresh, unauthorized } from './session.ts';

/** A person’s passkeys. One more than a person has devices would serve nobody but an intruder. */
const MAX_PASSKEYS = 10;
/** A passkey of the person was used so short a time before another one is added or removed. */
const FRESH_SECONDS = 300;

/** The newest first. */
export async function listOwnPasskeys(
  { db }: Pick<ApproverDeps, 'db'>,
  caller: Caller,
): Promise<ApproverPasskeyList> {
  const rows = await listPasskeysOf(db, caller.tenant, approverOwner(approverIn(caller).approverId));
  return { passkeys: rows.map(toPasskey) };
}

/** Begins to make a further passkey. @throws FORBIDDEN when the last assertion is older than five minutes, CONFLICT */
export async function beginPasskey(deps: ApproverDeps, caller: Caller) {
  const at = deps.clock();
  const { tenant } = caller;
  const { approverId } = approverIn(caller);
  const owner = approverOwner(approverId);
  return inTransaction(deps.db, async (tx) => {
    await mustBeFresh(deps, tx, caller, FRESH_SECONDS);
    const row = await findApprover(tx, tenant, approverId);
    if (!row) throw unauthorized();
    const existing = await listPasskeysOf(tx, tenant, owner);
    mustHaveRoom(existing);
    const { email: userName, displayName } = row;
    const user = { userName, displayName, existing, residentKey: 'required' } as const;
    return beginCreation(tx, tenant, verifyingParty(deps), { owner, use: 'register', ...user }, at);
  });
}

function mustHaveRoom({ length }: readonly unknown[]): void {
  if (length >= MAX_PASSKEYS)
    throw new AppError('CONFLICT', `A person has ${MAX_PASSKEYS} passkeys at most. Remove one first.`);
}

/**
 * Stores a further passkey, and tells the person by mail.
 * @throws FORBIDDEN, CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, CONFLICT
 */
export async function addPasskey(
  deps: ApproverDeps,
  caller: Caller,
  { challengeId, response, languages }: NewApproverPasskey & { readonly languages: string | undefined },
): Promise<ApproverPasskey> {
  const at = deps.clock();
  const { tenant } = caller;
  const { approverId } = approverIn(caller);
  const owner = approverOwner(approverId);
  const claim = { ...owner, id: challengeId, use: 'register' } as const;
  const { challenge } = await getChallenge(deps, tenant, claim);
  const made = await checkRegistration({ party: verifyingParty(deps), challenge, response }).catch(
    useUp(deps, tenant, challengeId),
  );
  return inTransaction(deps.db, async (tx) => {
    const approver = await lockApprover(tx, tenant, approverId);
    await mustBeFresh(deps, tx, caller, FRESH_SECONDS);
    if (!approver) throw challengeInvalid();
    await takeChallenge(tx, tenant, challengeId, at);
    mustHaveRoom(await listPasskeysOf(tx, tenant, owner));
    const added = await storePasskey(tx, tenant, owner, { made, deviceName: null, lastUsedAt: null }, at);
    const reader = { name: approver.displayName, language: pageLanguage(languages) };
    const account = { ...tenant, developerName: await findDeveloperName(tx, tenant) };
    const mail = { to: approver.email, ...passkeyMail(account, reader) };
    if (approver.emailVerified) await afterCommit(tx, () => noticeQuietly(deps, tenant, mail));
    const data = { approverId, credentialId: added.id };
    await recordEntry(tx, caller, { action: 'approver.passkey_added', data }, at);
    return toPasskey(added);
  });
}

/**
 * Removes a passkey, and the sessions of other browsers, which it may have opened.
 * @throws FORBIDDEN, NOT_FOUND, CONFLICT for the last passkey that works
 */
export function removePasskey(deps: ApproverDeps, caller: Caller, id: string): Promise<void> {
  const { tenant } = caller;
  const { approverId, sessionId } = approverIn(caller);
  return inTransaction(deps.db, async (tx) => {
    await lockApprover(tx, tenant, approverId);
    await mustBeFresh(deps, tx, caller, FRESH_SECONDS);
    const owner = approverOwner(approverId);
    const all = await listPasskeysOf(tx, tenant, owner);
    if (!all.some((one) => one.id === id)) throw notFound();
    if (!all.some((one) => one.id !== id && one.status === 'active')) {
      throw new AppError('CONFLICT', 'This is your last passkey. Make another one first.', {
        sub_reason: 'last_passkey',
      });
    }
    await deletePasskeyRow(tx, tenant, owner, id);
    await deleteOtherSessions(tx, tenant, approverId, sessionId);
    const data = { approverId, credentialId: id };
    await recordEntry(tx, caller, { action: 'approver.passkey_removed', data }, deps.clock());
  });
}

const toPasskey = ({ id, status, transports, createdAt, lastUsedAt }: PasskeyRow): ApproverPasskey => ({
  id,
  status,
  transports,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});
