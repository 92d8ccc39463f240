import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import {
  advanceCounter,
  beginDiscovery,
  finishDiscovery,
  markSuspect,
  type PasskeyRow,
} from '../../people/passkeys/index.ts';
import { recordBlockedAttempt, recordEntry } from '../../record/audit/index.ts';
import { findCallerParts } from '../developers/developers.queries.ts';
import { findMember } from './members.repo.ts';
import {
  type ConsoleBrowser,
  type MemberDeps,
  memberIn,
  type OpenedConsole,
  openConsoleSession,
  renewSession,
  unauthorized,
} from './session.ts';

const SIGN_IN = { use: 'console-sign-in' };
/** A step-up is of one session: an answer that another one asked for counts nothing. */
const stepUpIn = (caller: Caller) => ({ use: 'console-step-up', binding: memberIn(caller).sessionId });

/** Asks for any passkey of a member, the same of everybody. @throws CONFLICT */
export const beginSignIn = (deps: MemberDeps) => beginDiscovery(deps, SIGN_IN);

/** @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, UNAUTHORIZED */
export async function finishSignIn(
  deps: MemberDeps,
  answer: Assertion,
  { requestId, ...browser }: ConsoleBrowser & { readonly requestId: string },
): Promise<OpenedConsole> {
  const at = deps.clock();
  const { passkey, shown } = await finishDiscovery(
    deps,
    {
      ...({ place: SIGN_IN, ownerKind: 'member', status: 'active', unknown: unauthorized } as const),
      report: (known, refusal) => reportSignIn(deps, known, refusal, requestId),
    },
    answer,
  );
  const caller = await callerOf(deps, passkey, requestId);
  return inTransaction(deps.db, async (tx) => {
    const member = await findMember(tx, passkey, passkey.ownerId);
    if (member?.status !== 'active') throw unauthorized();
    if (member.ssoConnectionId !== null) throw byOrganisation();
    if (!(await advanceCounter(tx, passkey, shown, at))) throw await cloneSuspected(deps, caller, passkey);
    const opening = { openedBy: 'passkey', keyId: null, needsPasskey: false, steppedUpAt: at } as const;
    const session = await openConsoleSession(deps, tx, member, opening, browser);
    const { sessionId } = session.opened;
    const data = { memberId: member.id, sessionId, openedBy: 'passkey' };
    await recordEntry(tx, caller, { action: 'console.signed_in', data }, at);
    return session;
  });
}

/** Asks for a passkey of the member who calls. @throws CONFLICT */
export const beginStepUp = (deps: MemberDeps, caller: Caller) => beginDiscovery(deps, stepUpIn(caller));

/** Lets a session do what asks for a passkey, for a time. @throws as `finishSignIn` */
export async function finishStepUp(
  deps: MemberDeps,
  caller: Caller,
  answer: Assertion,
): Promise<OpenedConsole> {
  const at = deps.clock();
  const { memberId } = memberIn(caller);
  const { passkey, shown } = await finishDiscovery(
    deps,
    {
      ...({ place: stepUpIn(caller), ownerKind: 'member', tenant: caller.tenant, status: 'active' } as const),
      unknown: ofAnother,
      report: (known, refusal) => reportSignIn(deps, known, refusal, caller.requestId),
    },
    answer,
  );
  if (passkey.ownerId !== memberId) throw ofAnother();
  return inTransaction(deps.db, async (tx) => {
    if (!(await advanceCounter(tx, passkey, shown, at))) throw await cloneSuspected(deps, caller, passkey);
    const session = await renewSession(deps, tx, caller, {});
    const data = { memberId, credentialId: passkey.id };
    await recordEntry(tx, caller, { action: 'console.stepped_up', data }, at);
    return session;
  });
}

/** Whoever leaves the organisation is out: the passkey of such a member only confirms. */
const byOrganisation = () =>
  new AppError(
    'UNAUTHORIZED',
    'Sign in with your organisation. Your passkey confirms what you do after that.',
  );

const ofAnother = () =>
  new AppError('WEBAUTHN_VERIFICATION_FAILED', 'This is no passkey of the member who is signed in.', {
    check: 'credential',
  });

/** Marks the passkey, whatever becomes of the request. @returns the refusal */
function cloneSuspected(
  { aside, clock }: MemberDeps,
  caller: Caller,
  passkey: PasskeyRow,
): Promise<AppError> {
  const { id: credentialId, ownerId: memberId } = passkey;
  const entry = { action: 'member.clone_suspected', data: { memberId, credentialId } } as const;
  const record = (tx: Tx) => recordEntry(tx, caller, entry, clock());
  return markSuspect({ aside }, passkey, record, 'Use another passkey, and remove this one.');
}

/** Records a passkey of a member that was refused. A closed account has no record any more. */
async function reportSignIn(
  deps: MemberDeps,
  passkey: PasskeyRow,
  { code, details }: AppError,
  requestId: string,
): Promise<void> {
  const { id: credentialId, ownerId: memberId } = passkey;
  const check = details?.check;
  const data = { memberId, credentialId, code, ...(check !== undefined && { check }) };
  const attempt = { action: 'console.sign_in_failed', about: {}, data } as const;
  const caller = await callerOf(deps, passkey, requestId);
  await inTransaction(deps.aside, (tx) => recordBlockedAttempt(tx, caller, attempt, deps.clock()));
}

/** The member whose passkey was shown, as the caller of an entry. @throws UNAUTHORIZED when the account is closed */
async function callerOf(
  { db }: MemberDeps,
  { developerId, ownerId }: PasskeyRow,
  requestId: string,
): Promise<Caller> {
  const tenant = { developerId };
  const parts = await findCallerParts(db, tenant);
  if (!parts) throw unauthorized();
  return { tenant, agentIds: null, actor: `member:${ownerId}`, role: 'full', ...parts, requestId };
}
