import type { RegistrationResponse } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret, secretParts } from '../../../platform/ids.ts';
import { mailQuietly } from '../../calls/approvers/index.ts';
import {
  beginCreation,
  checkRegistration,
  getChallenge,
  storePasskey,
  takeChallenge,
  useUp,
  verifyingParty,
} from '../../people/passkeys/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { findBrand, findCallerParts } from '../developers/developers.queries.ts';
import { lockOpenAccount } from '../developers/index.ts';
import {
  deleteInvitation,
  findInvitation,
  type InvitationRow,
  insertInvitation,
  listInvitationRows,
} from './invitations.repo.ts';
import { invitedMail } from './mail.ts';
import { mustManage } from './manage.ts';
import { insertMember, listMemberRows } from './members.repo.ts';
import { INVITATION_MS, MAX_MEMBERS, mayManage, memberOwner, withAddress } from './members.rules.ts';
import type {
  Invitation,
  InvitationList,
  JoinOptions,
  MadeInvitation,
  NewInvitation,
  RecoveryCodes,
} from './members.schema.ts';
import { makeCodes } from './recover.ts';
import { type ConsoleBrowser, type MemberDeps, type OpenedConsole, openConsoleSession } from './session.ts';

/**
 * Makes a link by which a person becomes a member. It goes by mail alone where it can. One to the same address ends.
 * @throws FORBIDDEN, CONFLICT
 */
export function inviteMember(
  deps: MemberDeps,
  caller: Caller,
  { role, ...input }: NewInvitation,
): Promise<MadeInvitation> {
  const at = deps.clock();
  const { tenant, actor } = caller;
  const email = input.email.toLowerCase();
  mustManage(caller, role);
  const [id, memberId, secret] = [newId('inv', at), newId('mem', at), newSecret()];
  const row = { id, email, role, memberId, linkHash: hashOf(secret), invitedBy: actor, createdAt: at };
  return inTransaction(deps.db, async (tx) => {
    const { emailVerified, name: developerName } = await lockOpenAccount(tx, tenant);
    const members = await listMemberRows(tx, tenant);
    if (withAddress(members, email))
      throw new AppError('CONFLICT', 'A member has this address.', { field: 'email' });
    const open = (await listInvitationRows(tx, tenant, at)).filter((each) => each.email !== email);
    if (members.length + open.length >= MAX_MEMBERS) throw tooMany();
    const expiresAt = new Date(at.getTime() + INVITATION_MS);
    const made = await insertInvitation(tx, tenant, { ...row, expiresAt }, at);
    await recordActs(tx, caller, [{ type: 'member.invited', data: { invitationId: id, role } }], at);
    const link = `${deps.publicBaseUrl}/console/join#invite=${tenant.developerId}.${id}.${secret}`;
    if (deps.mailer === undefined || !emailVerified) return { ...toInvitation(made), link };
    const mail = { to: email, ...invitedMail({ developerName, ...tenant, role, link }) };
    await afterCommit(tx, () => mailQuietly(deps, tenant, mail));
    return { ...toInvitation(made), link: null };
  });
}

const tooMany = () =>
  new AppError(
    'CONFLICT',
    `An account has ${MAX_MEMBERS} members and invitations at most. Remove one first.`,
  );

/** The newest first. */
export async function listInvitations(
  { db, clock }: MemberDeps,
  { tenant }: Caller,
): Promise<InvitationList> {
  return { invitations: (await listInvitationRows(db, tenant, clock())).map(toInvitation) };
}

/** @throws NOT_FOUND, FORBIDDEN */
export function revokeInvitation({ db, clock }: MemberDeps, caller: Caller, id: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    const found = await deleteInvitation(tx, caller.tenant, id);
    if (!found) throw notFound();
    mustManage(caller, found.role);
    const data = { invitationId: id, role: found.role };
    await recordActs(tx, caller, [{ type: 'member.uninvited', data }], clock());
  });
}

const toInvitation = ({ id, email, role, invitedBy, createdAt, expiresAt }: InvitationRow): Invitation => ({
  ...{ id, email, role, invitedBy },
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});

/** One sentence for every reason. */
const unusable = () =>
  new AppError('NOT_FOUND', 'This link was used, has expired or was replaced. Ask for a new link.');

async function invited(db: Executor, invite: string, at: Date): Promise<InvitationRow> {
  const { developerId, id, secret } = secretParts(invite);
  const row = secret === '' ? undefined : await findInvitation(db, { developerId }, id);
  if (!row?.linkHash.equals(hashOf(secret)) || row.expiresAt <= at) throw unusable();
  return row;
}

/** Shows an invitation to who holds its link, and begins to make their passkey. @throws NOT_FOUND, CONFLICT */
export async function beginJoin(deps: MemberDeps, invite: string): Promise<JoinOptions> {
  const at = deps.clock();
  const party = verifyingParty(deps);
  const row = await invited(deps.db, invite, at);
  const { email, role, memberId } = row;
  const user = { userName: email, displayName: email, existing: [], residentKey: 'required' } as const;
  const creation = { owner: memberOwner(memberId), use: 'enrol', ...user } as const;
  const options = await inTransaction(deps.db, (tx) => beginCreation(tx, row, party, creation, at));
  return { ...(await findBrand(deps.db, row)), email, role, ...options };
}

interface Joining {
  readonly invite: string;
  readonly displayName: string;
  readonly challengeId: string;
  readonly response: RegistrationResponse;
}

/**
 * Makes a member of the holder of an invitation, and opens the console to them. The link proves the mailbox.
 * @throws NOT_FOUND, CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, CONFLICT
 */
export async function finishJoin(
  deps: MemberDeps,
  { invite, displayName, challengeId, response }: Joining,
  { requestId, ...browser }: ConsoleBrowser & { readonly requestId: string },
): Promise<OpenedConsole & RecoveryCodes> {
  const at = deps.clock();
  const found = await invited(deps.db, invite, at);
  const tenant = { developerId: found.developerId };
  const parts = await findCallerParts(deps.db, tenant);
  if (!parts) throw unusable();
  const owner = memberOwner(found.memberId);
  const { challenge } = await getChallenge(deps, tenant, { ...owner, id: challengeId, use: 'enrol' });
  const made = await checkRegistration({ party: verifyingParty(deps), challenge, response }).catch(
    useUp(deps, tenant, challengeId),
  );
  const actor = `member:${found.memberId}`;
  const caller = { tenant, agentIds: null, actor, role: 'full', ...parts, requestId } as const;

  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    const row = await deleteInvitation(tx, tenant, found.id);
    if (!row) throw unusable();
    await takeChallenge(tx, tenant, challengeId, at);
    const { memberId: id, email, role, invitedBy } = row;
    const others = await listMemberRows(tx, tenant);
    const inviter = others.find((each) => invitedBy === `member:${each.id}`);
    // An invitation that was under way when its maker lost the role was not there to be deleted.
    if (inviter?.status !== 'active' || !mayManage(inviter.role, role)) throw unusable();
    if (withAddress(others, email)) throw unusable();
    const member = await insertMember(tx, tenant, { id, email, displayName, role, invitedBy, createdAt: at });
    await storePasskey(tx, tenant, owner, { made, deviceName: null, lastUsedAt: at }, at);
    const opening = { openedBy: 'invitation', keyId: null, needsPasskey: false, steppedUpAt: at } as const;
    const session = await openConsoleSession(deps, tx, member, opening, browser);
    const recoveryCodes = await makeCodes(deps, tx, caller, id);
    const data = { memberId: id, role, openedBy: 'invitation' };
    await recordActs(tx, caller, [{ type: 'member.joined', data }], at);
    return { ...session, recoveryCodes };
  });
}
