import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { deletePasskeyRowsOf } from '../../people/passkeys/index.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import { lockOpenAccount } from '../developers/index.ts';
import { deleteInvitationsOf } from './invitations.repo.ts';
import {
  deleteMember,
  deleteOtherSessions,
  deleteSession,
  findMember,
  findSession,
  listMemberRows,
  listSessionRows,
  type MemberRow,
  type SessionRow,
  updateMember,
} from './members.repo.ts';
import { keepsOwner, mayManage, memberOwner } from './members.rules.ts';
import type {
  ListedSession,
  Member,
  MemberChange,
  MemberList,
  SessionPage,
  SessionQuery,
} from './members.schema.ts';
import { type MemberDeps, memberIn, toMember } from './session.ts';

type Deps = Pick<MemberDeps, 'db' | 'clock'>;

/** The oldest first. */
export async function listMembers({ db }: Deps, { tenant }: Caller): Promise<MemberList> {
  return { members: (await listMemberRows(db, tenant)).map(toMember) };
}

/** @throws FORBIDDEN when the caller's role is not enough */
export function mustManage(caller: Caller, ...roles: readonly MemberRow['role'][]): void {
  const { role } = memberIn(caller);
  if (roles.every((each) => mayManage(role, each))) return;
  throw new AppError('FORBIDDEN', 'Nobody gives or takes away a role that is not below their own.', { role });
}

/** The member whom another one changes. */
function others(caller: Caller, members: readonly MemberRow[], id: string, now: Date): MemberRow {
  const member = members.find((each) => each.id === id);
  if (!member) throw notFound();
  if (memberIn(caller).memberId === id)
    throw new AppError('CONFLICT', 'Nobody changes their own membership.');
  mustManage(caller, member.role);
  mustBeUnprotected(member, now);
  return member;
}

/** A stranger among the owners must not put out whom the operator let in to put out the stranger. @throws CONFLICT */
function mustBeUnprotected({ protectedUntil }: Pick<MemberRow, 'protectedUntil'>, now: Date): void {
  if (protectedUntil === null || protectedUntil <= now) return;
  const until = protectedUntil.toISOString();
  const message = `The operator of the service let this person in. Until ${until} no other member can change or remove them, or end their sessions.`;
  throw new AppError('CONFLICT', message, { sub_reason: 'recovered', until });
}

const ofGroups = () =>
  new AppError(
    'CONFLICT',
    'The groups of this member at their identity provider decide on the role. Change those, or `consoleGroupMappings`.',
    { field: 'role', sub_reason: 'sso' },
  );

const lastOwner = () =>
  new AppError('CONFLICT', 'This is the last active owner; make another one first.', {
    sub_reason: 'last_owner',
  });

/**
 * Gives a member another role, or suspends them. Their sessions end. A change to what they are already changes nothing.
 * @throws NOT_FOUND, FORBIDDEN, CONFLICT for oneself, for the last owner and for whom the operator let in
 */
export function changeMember(
  { db, clock }: Deps,
  caller: Caller,
  id: string,
  { role, status }: MemberChange,
): Promise<Member> {
  return inTransaction(db, async (tx) => {
    const { tenant } = caller;
    await lockOpenAccount(tx, tenant);
    const members = await listMemberRows(tx, tenant);
    const before = others(caller, members, id, clock());
    if (role !== undefined && role !== before.role && before.ssoConnectionId !== null) throw ofGroups();
    const after = { role: role ?? before.role, status: status ?? before.status };
    mustManage(caller, after.role);
    const changed = (['role', 'status'] as const).filter((name) => after[name] !== before[name]);
    if (changed.length === 0) return toMember(before);
    const isOwner = after.role === 'owner' && after.status === 'active';
    if (!isOwner && !keepsOwner(members, id)) throw lastOwner();
    const row = await updateMember(tx, tenant, id, after);
    await deleteOtherSessions(tx, tenant, id, '');
    await deleteInvitationsOf(tx, tenant, id);
    await recordActs(
      tx,
      caller,
      [{ type: 'member.updated', data: { memberId: id, changed, ...after } }],
      clock(),
    );
    return toMember(row);
  });
}

/** Removes a member with their passkeys and sessions. @throws as `changeMember` */
export function removeMember({ db, clock }: Deps, caller: Caller, id: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    const { tenant } = caller;
    await lockOpenAccount(tx, tenant);
    const members = await listMemberRows(tx, tenant);
    const { role } = others(caller, members, id, clock());
    if (!keepsOwner(members, id)) throw lastOwner();
    await deletePasskeyRowsOf(tx, tenant, memberOwner(id), { isForGood: true });
    await deleteInvitationsOf(tx, tenant, id);
    await deleteMember(tx, tenant, id);
    await recordActs(tx, caller, [{ type: 'member.removed', data: { memberId: id, role } }], clock());
  });
}

const maySeeAll = (caller: Caller) => memberIn(caller).capabilities.includes('govern');

/** Open sessions: one's own, and for who governs the account those of everybody. */
export async function listSessions(
  { db, clock }: Deps,
  caller: Caller,
  query: SessionQuery,
): Promise<SessionPage> {
  const { memberId, sessionId } = memberIn(caller);
  const search = { ...query, now: clock(), memberId: maySeeAll(caller) ? undefined : memberId };
  const rows = await listSessionRows(db, caller.tenant, search);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toListed(row, sessionId));
  return { sessions: page, nextCursor };
}

const toListed = (row: SessionRow, current: string): ListedSession => ({
  ...{ id: row.id, memberId: row.memberId, openedBy: row.openedBy, ip: row.ip, userAgent: row.userAgent },
  createdAt: row.createdAt.toISOString(),
  lastSeenAt: row.lastSeenAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  current: row.id === current,
});

/**
 * Ends a session of one's own or, for who governs the account, of anybody. One by recovery ends only itself, for its member's
 * own passkeys may be in other hands.
 * @throws NOT_FOUND, CONFLICT
 */
export function revokeSession({ db, clock }: Deps, caller: Caller, id: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    const session = await findSession(tx, caller.tenant, id);
    const own = memberIn(caller);
    const isOwn = session?.memberId === own.memberId;
    if (!session || (!isOwn && !maySeeAll(caller))) throw notFound();
    const isSafe = isOwn && (session.openedBy !== 'recovery' || id === own.sessionId);
    const member = isSafe ? undefined : await findMember(tx, caller.tenant, session.memberId);
    if (member) mustBeUnprotected(member, clock());
    await deleteSession(tx, caller.tenant, id);
    const data = { memberId: session.memberId, reason: 'revoked' } as const;
    await recordEntry(tx, caller, { action: 'console.session_ended', data }, clock());
  });
}
