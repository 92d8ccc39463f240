import { randomBytes } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { challengeInvalid, checkRegistration, creationOptions } from '../../people/passkeys/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { findApprover, lockApprover } from './approvers.repo.ts';
import { CHALLENGE_MS } from './approvers.rules.ts';
import type { ApproverPasskey, ApproverPasskeyList, NewApproverPasskey } from './approvers.schema.ts';
import { type ApproverDeps, approverParty } from './deps.ts';
import {
  type ApproverPasskeyRow,
  claimApproverChallenge,
  deleteApproverPasskey,
  deleteOtherSessions,
  findApproverChallenge,
  insertApproverChallenge,
  insertApproverPasskey,
  listAllPasskeys,
} from './keys.repo.ts';
import { noticeQuietly, passkeyMail } from './mail.ts';
import { approverIn, mustBeFresh, unauthorized } from './session.ts';

/** A person’s passkeys. One more than a person has devices would serve nobody but an intruder. */
const MOST = 10;
/** A passkey of the person was used so short a time before another one is added or removed. */
const FRESH_SECONDS = CHALLENGE_MS / 1000;
const SUBJECT = 'passkey';

/** The newest first. */
export async function listOwnPasskeys(
  { db }: Pick<ApproverDeps, 'db'>,
  caller: Caller,
): Promise<ApproverPasskeyList> {
  const rows = await listAllPasskeys(db, caller.tenant, approverIn(caller).approverId);
  return { passkeys: rows.toReversed().map(toPasskey) };
}

/** Begins to make a further passkey. @throws FORBIDDEN when the last assertion is older than five minutes, CONFLICT */
export async function beginPasskey(deps: ApproverDeps, caller: Caller) {
  const at = deps.clock();
  const { tenant } = caller;
  const { approverId } = approverIn(caller);
  const challenge = randomBytes(32);
  const id = newId('wac', at);
  return inTransaction(deps.db, async (tx) => {
    await mustBeFresh(deps, tx, caller, FRESH_SECONDS);
    const row = await findApprover(tx, tenant, approverId);
    if (!row) throw unauthorized();
    const existing = await listAllPasskeys(tx, tenant, approverId);
    mustHaveRoom(existing);
    const publicKey = await creationOptions(approverParty(deps), {
      ...{ challenge, existing, userHandle: row.handle, residentKey: 'required' },
      ...{ principalId: row.email, displayName: row.displayName },
    });
    const expiresAt = new Date(at.getTime() + CHALLENGE_MS);
    const kept = { id, approverId, subjectId: SUBJECT, serial: newSalt(), challenge, expiresAt };
    await insertApproverChallenge(tx, tenant, kept, at);
    return { challengeId: id, publicKey: { ...publicKey } };
  });
}

function mustHaveRoom({ length }: readonly unknown[]): void {
  if (length >= MOST)
    throw new AppError('CONFLICT', `A person has ${MOST} passkeys at most. Remove one first.`);
}

/**
 * Stores a further passkey, and tells the person by mail.
 * @throws FORBIDDEN, CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, CONFLICT
 */
export async function addPasskey(
  deps: ApproverDeps,
  caller: Caller,
  { challengeId, response }: NewApproverPasskey,
): Promise<ApproverPasskey> {
  const at = deps.clock();
  const { tenant } = caller;
  const { approverId } = approverIn(caller);
  const claim = { id: challengeId, approverId, subjectId: SUBJECT };
  const kept = await findApproverChallenge(deps.db, tenant, claim, at);
  if (!kept) throw challengeInvalid();
  const { challenge } = kept;
  const made = await checkRegistration({ party: approverParty(deps), challenge, response }).catch(
    async (error: unknown) => {
      await claimApproverChallenge(deps.aside, tenant, challengeId, at);
      throw error;
    },
  );
  return inTransaction(deps.db, async (tx) => {
    const approver = await lockApprover(tx, tenant, approverId);
    await mustBeFresh(deps, tx, caller, FRESH_SECONDS);
    if (!approver || !(await claimApproverChallenge(tx, tenant, challengeId, at))) throw challengeInvalid();
    mustHaveRoom(await listAllPasskeys(tx, tenant, approverId));
    const { credentialId, publicKey, counter, transports } = made;
    const id = newId('cred', at);
    const added = await insertApproverPasskey(tx, tenant, {
      ...{ id, approverId, credentialId, publicKey, counter, transports },
      ...{ isSuspect: false, createdAt: at, lastUsedAt: null },
    });
    if (!added) throw new AppError('CONFLICT', 'This passkey is registered already.', { field: 'response' });
    const account = { ...tenant, developerName: await findDeveloperName(tx, tenant) };
    const mail = { to: approver.email, ...passkeyMail(account, approver.displayName) };
    if (approver.emailVerified) await afterCommit(tx, () => noticeQuietly(deps, tenant, mail));
    const data = { approverId, credentialId: id };
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
    const all = await listAllPasskeys(tx, tenant, approverId);
    if (!all.some((one) => one.id === id)) throw notFound();
    if (!all.some((one) => one.id !== id && !one.isSuspect)) {
      throw new AppError('CONFLICT', 'This is your last passkey. Make another one first.', {
        sub_reason: 'last_passkey',
      });
    }
    await deleteApproverPasskey(tx, tenant, id);
    await deleteOtherSessions(tx, tenant, approverId, sessionId);
    const data = { approverId, credentialId: id };
    await recordEntry(tx, caller, { action: 'approver.passkey_removed', data }, deps.clock());
  });
}

const toPasskey = ({
  id,
  isSuspect,
  transports,
  createdAt,
  lastUsedAt,
}: ApproverPasskeyRow): ApproverPasskey => ({
  id,
  status: isSuspect ? 'suspect' : 'active',
  transports,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});
