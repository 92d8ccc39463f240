import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Mode, Plan, Tenant } from '../../../platform/caller.ts';
import type { MemberRole } from '../../../platform/capabilities.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { ConsoleSessions, Members } from '../../../platform/db/types.gen.ts';
import { MAX_MEMBERS_RECOVERED, MAX_SESSIONS } from './members.rules.ts';

export type MemberRow = Selectable<Members>;
export type SessionRow = Selectable<ConsoleSessions>;

const membersOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('members').selectAll().where('developerId', '=', developerId);

/** Every member, the oldest first. */
export const listMemberRows = (db: Executor, tenant: Tenant): Promise<MemberRow[]> =>
  membersOf(db, tenant).orderBy('id').limit(MAX_MEMBERS_RECOVERED).execute();

export const findMember = (db: Executor, tenant: Tenant, id: string): Promise<MemberRow | undefined> =>
  membersOf(db, tenant).where('id', '=', id).executeTakeFirst();

export function insertMember(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<Members>, 'developerId'>,
): Promise<MemberRow> {
  return tx
    .insertInto('members')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Inserts a session, and deletes those of the member that have ended or are too many, one by recovery last. */
export async function insertSession(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<ConsoleSessions>, 'developerId'>,
  at: Date,
): Promise<SessionRow> {
  const kept = tx
    .selectFrom('consoleSessions')
    .select('id')
    .where('developerId', '=', developerId)
    .where('memberId', '=', row.memberId)
    .where('expiresAt', '>', at)
    .orderBy(sql`opened_by = 'recovery'`, 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_SESSIONS - 1);
  await tx
    .deleteFrom('consoleSessions')
    .where('developerId', '=', developerId)
    .where('memberId', '=', row.memberId)
    .where('id', 'not in', kept)
    .execute();
  return tx
    .insertInto('consoleSessions')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A session with its member and their account, as each request reads it. */
export interface FoundSession {
  readonly id: string;
  readonly memberId: string;
  readonly secretHash: Buffer;
  readonly needsPasskey: boolean;
  readonly steppedUpAt: Date | null;
  readonly hasPasskey: boolean;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  readonly role: MemberRole;
  readonly mode: Mode;
  readonly plan: Plan;
}

const openSession = lookUp<FoundSession, [developerId: string, id: string, at: Date]>(
  'open_console_session',
  `select s.id, s.member_id as "memberId", s.secret_hash as "secretHash", s.needs_passkey as "needsPasskey",
     s.stepped_up_at as "steppedUpAt", s.last_seen_at as "lastSeenAt", s.expires_at as "expiresAt",
     m.role, d.mode, d.plan, exists (
       select from passkeys p
       where p.developer_id = s.developer_id and p.owner_kind = 'member' and p.owner_id = s.member_id
     ) as "hasPasskey"
   from console_sessions s
   join members m on m.developer_id = s.developer_id and m.id = s.member_id
   join developers d on d.id = s.developer_id
   left join api_keys k on k.developer_id = s.developer_id and k.id = s.key_id
   left join sso_sessions o on o.developer_id = s.developer_id and o.id = s.sso_session_id
   left join sso_connections c on c.developer_id = s.developer_id and c.id = o.connection_id
   where s.developer_id = $1 and s.id = $2 and m.status = 'active' and d.closed_at is null and s.expires_at > $3
     and (s.key_id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > $3)))
     and (s.sso_session_id is null
       or (o.expires_at > $3 and c.settings->>'consoleAccess' = 'true' and c.updated_at <= o.created_at))`,
);

/**
 * An open session of an active member, whose key or session at a provider, if one opened it, goes on. A change of the
 * connection ends what it opened before, since a group may mean another role now.
 */
export async function findOpenSession(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  at: Date,
): Promise<FoundSession | undefined> {
  return (await openSession(db, developerId, id, at))[0];
}

export const findSession = (
  db: Executor,
  { developerId }: Tenant,
  id: string,
): Promise<SessionRow | undefined> =>
  db
    .selectFrom('consoleSessions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();

/** Notes the use of a session, and of its member. */
export async function touchSession(
  db: Executor,
  { developerId }: Tenant,
  { id, memberId }: Pick<SessionRow, 'id' | 'memberId'>,
  at: Date,
): Promise<void> {
  await sql`
    with used as (
      update console_sessions set last_seen_at = ${at} where developer_id = ${developerId} and id = ${id}
    )
    update members set last_seen_at = ${at} where developer_id = ${developerId} and id = ${memberId}`.execute(
    db,
  );
}

export async function deleteSession(tx: Tx, { developerId }: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('consoleSessions')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Gives a session another id and secret, at a change of what it may do. Its end stays. */
export function replaceSession(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<ConsoleSessions>,
): Promise<SessionRow | undefined> {
  return tx
    .updateTable('consoleSessions')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export function updateMember(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<Members>,
): Promise<MemberRow> {
  return tx
    .updateTable('members')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Deletes a member with every session. */
export async function deleteMember(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('members').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** Open sessions, the newest first. @param memberId only those of this member */
export function listSessionRows(
  db: Executor,
  { developerId }: Tenant,
  { memberId, now, cursor, limit }: SessionSearch,
) {
  const all = db
    .selectFrom('consoleSessions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('expiresAt', '>', now);
  const own = memberId === undefined ? all : all.where('memberId', '=', memberId);
  const page = cursor ? own.where('id', '<', cursor) : own;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

interface SessionSearch {
  readonly memberId: string | undefined;
  readonly now: Date;
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * Ends the sessions of a member, but for one, and for those by recovery: who holds an old passkey of the member must not keep
 * the person from the new one.
 */
export async function deleteOtherSessions(
  tx: Tx,
  { developerId }: Tenant,
  memberId: string,
  but: string,
): Promise<void> {
  await tx
    .deleteFrom('consoleSessions')
    .where('developerId', '=', developerId)
    .where('memberId', '=', memberId)
    .where('id', '<>', but)
    .where('openedBy', '<>', 'recovery')
    .execute();
}

/** The member whom the provider of a connection means, whose role nobody else changes meanwhile. */
export const lockMemberOfSso = (
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
  subject: Buffer,
): Promise<MemberRow | undefined> =>
  tx
    .selectFrom('members')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('ssoConnectionId', '=', connectionId)
    .where('ssoSubject', '=', subject)
    .forUpdate()
    .executeTakeFirst();

/** Takes turns with every other change of a member and of their passkeys. */
export const lockMember = (tx: Tx, { developerId }: Tenant, id: string): Promise<MemberRow | undefined> =>
  tx
    .selectFrom('members')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Whether an API key still works. */
export async function isKeyUsable(
  db: Executor,
  { developerId }: Tenant,
  keyId: string,
  at: Date,
): Promise<boolean> {
  const found = await db
    .selectFrom('apiKeys')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', keyId)
    .where('revokedAt', 'is', null)
    .where((where) => where.or([where('expiresAt', 'is', null), where('expiresAt', '>', at)]))
    .executeTakeFirst();
  return found !== undefined;
}

/** Gives a member other recovery codes in the place of those that they have. */
export async function replaceRecoveryCodes(
  tx: Tx,
  { developerId }: Tenant,
  memberId: string,
  hashes: readonly Buffer[],
  at: Date,
): Promise<void> {
  await tx
    .deleteFrom('memberRecoveryCodes')
    .where('developerId', '=', developerId)
    .where('memberId', '=', memberId)
    .execute();
  const rows = hashes.map((codeHash) => ({ developerId, memberId, codeHash, createdAt: at }));
  await tx.insertInto('memberRecoveryCodes').values(rows).execute();
}

/** How many recovery codes of a member work. */
export async function countRecoveryCodes(
  db: Executor,
  { developerId }: Tenant,
  memberId: string,
): Promise<number> {
  const { count } = await db
    .selectFrom('memberRecoveryCodes')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('developerId', '=', developerId)
    .where('memberId', '=', memberId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The member whose recovery code somebody brings, who names no account. */
export const findRecoveryCodeAcrossTenants = (db: Executor, codeHash: Buffer) =>
  db
    .selectFrom('memberRecoveryCodes')
    .select(['developerId', 'memberId'])
    .where('codeHash', '=', codeHash)
    .executeTakeFirst();

/** @returns whether the code was there to be used */
export async function useRecoveryCode(
  tx: Tx,
  { developerId }: Tenant,
  memberId: string,
  codeHash: Buffer,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('memberRecoveryCodes')
    .where('developerId', '=', developerId)
    .where('memberId', '=', memberId)
    .where('codeHash', '=', codeHash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Erases rows of a closed account. */
export const eraseMembers = eraserOf(
  'member_invitations',
  'console_sessions',
  'member_recovery_codes',
  'members',
);
