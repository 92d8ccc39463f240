import type { Caller } from '../../../platform/caller.ts';
import { mustBeSteppedUp } from '../../../platform/capabilities.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
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
import {
  countRecoveryCodes,
  deleteOtherSessions,
  findMember,
  findSession,
  lockMember,
} from './members.repo.ts';
import { MAX_PASSKEYS, memberOwner } from './members.rules.ts';
import type { MemberPasskey, MemberPasskeyList, NewMemberPasskey } from './members.schema.ts';
import { makeCodes } from './recover.ts';
import { type MemberDeps, memberIn, type OpenedConsole, renewSession, unauthorized } from './session.ts';

/** The newest first. */
export async function listOwnPasskeys(deps: MemberDeps, caller: Caller): Promise<MemberPasskeyList> {
  const { memberId } = memberIn(caller);
  const rows = await listPasskeysOf(deps.db, caller.tenant, memberOwner(memberId));
  const recoveryCodesLeft = await countRecoveryCodes(deps.db, caller.tenant, memberId);
  return { passkeys: rows.map(toPasskey), recoveryCodesLeft };
}

/**
 * The first passkey of a member needs none before it: a session that their key opened makes it. So does one by recovery: where
 * the operator let the person in, the passkey replaces those that the member has lost, or that somebody else has made.
 * @returns the passkeys that stay @throws STEP_UP_REQUIRED, CONFLICT
 */
async function mustTakeAnother(
  tx: Tx,
  caller: Caller,
  { existing, at }: { readonly existing: readonly PasskeyRow[]; readonly at: Date },
): Promise<readonly PasskeyRow[]> {
  const { sessionId, stepUpSeconds } = memberIn(caller);
  const session = await findSession(tx, caller.tenant, sessionId);
  const isOld = session && at.getTime() - session.createdAt.getTime() > stepUpSeconds * 1000;
  if (existing.length === 0 && session?.openedBy === 'sso' && isOld) throw signInAgain(stepUpSeconds);
  if (session?.openedBy === 'recovery' && session.needsPasskey) return [];
  const hasLostTheirs = session?.openedBy === 'code' && session.needsPasskey;
  if (existing.length > 0 && !hasLostTheirs) mustBeSteppedUp(caller);
  if (existing.length >= MAX_PASSKEYS)
    throw new AppError('CONFLICT', `A person has ${MAX_PASSKEYS} passkeys at most. Remove one first.`);
  return existing;
}

/** The first passkey of a member of an organisation is worth as much as the sign-in before it. */
const signInAgain = (maxAgeSeconds: number) =>
  new AppError(
    'STEP_UP_REQUIRED',
    'Sign in with your organisation again, and then register your first passkey.',
    {
      ...{ maxAgeSeconds, methods: ['sso'] },
    },
  );

/** Begins to make a passkey. @throws STEP_UP_REQUIRED, CONFLICT */
export async function beginPasskey(deps: MemberDeps, caller: Caller) {
  const at = deps.clock();
  const { tenant } = caller;
  const owner = memberOwner(memberIn(caller).memberId);
  return inTransaction(deps.db, async (tx) => {
    const member = await findMember(tx, tenant, owner.ownerId);
    if (!member) throw unauthorized();
    const existing = await mustTakeAnother(tx, caller, {
      existing: await listPasskeysOf(tx, tenant, owner),
      at,
    });
    const { displayName, email } = member;
    const user = { userName: email ?? displayName, displayName, existing, residentKey: 'required' } as const;
    return beginCreation(tx, tenant, verifyingParty(deps), { owner, use: 'register', ...user }, at);
  });
}

interface AddedPasskey {
  readonly passkey: MemberPasskey;
  /** The session in place of one that could do nothing before. */
  readonly session: OpenedConsole | null;
  /** For the day on which the passkey is lost. Null with a further one. */
  readonly recoveryCodes: string[] | null;
}

/**
 * Stores a passkey. The first one of a live account opens the console to its session, which ends with no key any more.
 * @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, STEP_UP_REQUIRED, CONFLICT
 */
export async function addPasskey(
  deps: MemberDeps,
  caller: Caller,
  { challengeId, response, deviceName }: NewMemberPasskey,
): Promise<AddedPasskey> {
  const at = deps.clock();
  const { tenant } = caller;
  const { memberId, capabilities } = memberIn(caller);
  const owner = memberOwner(memberId);
  const { challenge } = await getChallenge(deps, tenant, { ...owner, id: challengeId, use: 'register' });
  const made = await checkRegistration({ party: verifyingParty(deps), challenge, response }).catch(
    useUp(deps, tenant, challengeId),
  );
  return inTransaction(deps.db, async (tx) => {
    const member = await lockMember(tx, tenant, memberId);
    if (!member) throw challengeInvalid();
    await takeChallenge(tx, tenant, challengeId, at);
    const had = await listPasskeysOf(tx, tenant, owner);
    const kept = await mustTakeAnother(tx, caller, { existing: had, at });
    const lost = kept.length === 0 ? had : [];
    for (const { id } of lost) await deletePasskeyRow(tx, tenant, owner, id);
    const row = await storePasskey(
      tx,
      tenant,
      owner,
      { made, deviceName: deviceName ?? null, lastUsedAt: at },
      at,
    );
    const expiresAt = new Date(at.getTime() + deps.sessionSeconds * 1000);
    const opening = { openedBy: 'passkey', keyId: null, needsPasskey: false, expiresAt } as const;
    const session = capabilities.length === 0 ? await renewSession(deps, tx, caller, opening) : null;
    if (session && lost.length > 0) await deleteOtherSessions(tx, tenant, memberId, session.opened.sessionId);
    for (const { id: credentialId } of lost)
      await recordEntry(
        tx,
        caller,
        { action: 'member.passkey_removed', data: { memberId, credentialId } },
        at,
      );
    const isFirst = kept.length === 0 && member.email !== null && member.ssoConnectionId === null;
    const recoveryCodes = isFirst ? await makeCodes(deps, tx, caller, memberId) : null;
    const data = { memberId, credentialId: row.id };
    await recordEntry(tx, caller, { action: 'member.passkey_added', data }, at);
    return { passkey: toPasskey(row), session, recoveryCodes };
  });
}

/**
 * Removes a passkey, and ends the member's other sessions, which it may have opened.
 * @throws NOT_FOUND, CONFLICT for the last passkey that works
 */
export function removePasskey(deps: MemberDeps, caller: Caller, id: string): Promise<void> {
  const { tenant } = caller;
  const { memberId, sessionId } = memberIn(caller);
  const owner = memberOwner(memberId);
  return inTransaction(deps.db, async (tx) => {
    await lockMember(tx, tenant, memberId);
    const all = await listPasskeysOf(tx, tenant, owner);
    if (!all.some((one) => one.id === id)) throw notFound();
    if (!all.some((one) => one.id !== id && one.status === 'active')) {
      throw new AppError('CONFLICT', 'This is your last passkey. Make another one first.', {
        sub_reason: 'last_passkey',
      });
    }
    await deletePasskeyRow(tx, tenant, owner, id);
    await deleteOtherSessions(tx, tenant, memberId, sessionId);
    const data = { memberId, credentialId: id };
    await recordEntry(tx, caller, { action: 'member.passkey_removed', data }, deps.clock());
  });
}

const toPasskey = ({
  id,
  status,
  deviceName,
  transports,
  createdAt,
  lastUsedAt,
}: PasskeyRow): MemberPasskey => ({
  ...{ id, status, deviceName, transports },
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});
