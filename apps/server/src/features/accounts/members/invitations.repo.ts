import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { MemberInvitations } from '../../../platform/db/types.gen.ts';
import { MAX_MEMBERS } from './members.rules.ts';

export type InvitationRow = Selectable<MemberInvitations>;

/** Inserts an invitation, and deletes those that have ended and those to the same address. */
export async function insertInvitation(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<MemberInvitations>, 'developerId'>,
  at: Date,
): Promise<InvitationRow> {
  await tx
    .deleteFrom('memberInvitations')
    .where('developerId', '=', developerId)
    .where((where) => where.or([where('expiresAt', '<=', at), where('email', '=', row.email)]))
    .execute();
  return tx
    .insertInto('memberInvitations')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Invitations that can be accepted, the newest first. */
export const listInvitationRows = (
  db: Executor,
  { developerId }: Tenant,
  now: Date,
): Promise<InvitationRow[]> =>
  db
    .selectFrom('memberInvitations')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('expiresAt', '>', now)
    .orderBy('id', 'desc')
    .limit(MAX_MEMBERS)
    .execute();

export const findInvitation = (
  db: Executor,
  { developerId }: Tenant,
  id: string,
): Promise<InvitationRow | undefined> =>
  db
    .selectFrom('memberInvitations')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();

/** @returns the invitation that was there */
export const deleteInvitation = (
  tx: Tx,
  { developerId }: Tenant,
  id: string,
): Promise<InvitationRow | undefined> =>
  tx
    .deleteFrom('memberInvitations')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();

/** Deletes what a member has invited to, which is worth no more than their authority. */
export async function deleteInvitationsOf(tx: Tx, { developerId }: Tenant, memberId: string): Promise<void> {
  await tx
    .deleteFrom('memberInvitations')
    .where('developerId', '=', developerId)
    .where('invitedBy', '=', `member:${memberId}`)
    .execute();
}
