import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type {
  ApproverChallenges,
  ApproverPasskeys,
  ApproverSessions,
} from '../../../platform/db/types.gen.ts';

export type ApproverPasskeyRow = Selectable<ApproverPasskeys>;
export type ApproverSessionRow = Selectable<ApproverSessions>;
type Own<Row> = Omit<Insertable<Row>, 'developerId'>;

/** @returns undefined for a credential that is registered already */
export function insertApproverPasskey(tx: Tx, { developerId }: Tenant, row: Own<ApproverPasskeys>) {
  return tx
    .insertInto('approverPasskeys')
    .values({ ...row, developerId })
    .onConflict((there) => there.columns(['developerId', 'credentialId']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function listApproverPasskeys(db: Executor, { developerId }: Tenant, approverId: string) {
  return db
    .selectFrom('approverPasskeys')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId)
    .where('isSuspect', '=', false)
    .orderBy('id')
    .execute();
}

/** Suspect ones too, the oldest first. */
export const listAllPasskeys = (db: Executor, { developerId }: Tenant, approverId: string) =>
  db
    .selectFrom('approverPasskeys')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId)
    .orderBy('id')
    .execute();

export async function deleteApproverPasskey(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx
    .deleteFrom('approverPasskeys')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** The passkeys with this credential id, of which the handle tells whose it is. */
export function listByCredentialAcrossTenants(db: Executor, credentialId: Buffer) {
  return db
    .selectFrom('approverPasskeys')
    .selectAll()
    .where('credentialId', '=', credentialId)
    .where('isSuspect', '=', false)
    .limit(20)
    .execute();
}

interface Use {
  readonly id: string;
  readonly counter: number;
}

/** Moves the counter on, so that of a passkey and its copy one is found out. @returns whether it is greater, or always 0 */
export async function advanceApproverCounter(
  tx: Tx,
  { developerId }: Tenant,
  { id, counter }: Use,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('approverPasskeys')
    .set({ counter: String(counter), lastUsedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('isSuspect', '=', false)
    .where((where) =>
      where.or([
        where('counter', '<', String(counter)),
        ...(counter === 0 ? [where('counter', '=', '0')] : []),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** @returns whether it was not suspect before */
export async function suspectPasskey(tx: Tx, { developerId }: Tenant, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('approverPasskeys')
    .set({ isSuspect: true })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('isSuspect', '=', false)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Inserts a challenge, and deletes those of the approver that have ended. */
export async function insertApproverChallenge(
  tx: Tx,
  { developerId }: Tenant,
  row: Own<ApproverChallenges>,
  at: Date,
): Promise<void> {
  await tx
    .deleteFrom('approverChallenges')
    .where('developerId', '=', developerId)
    .where('approverId', '=', row.approverId)
    .where('expiresAt', '<=', at)
    .execute();
  await tx
    .insertInto('approverChallenges')
    .values({ ...row, developerId })
    .execute();
}

interface Claim {
  readonly id: string;
  readonly approverId: string;
  readonly subjectId: string | null;
}

/** An open challenge, for a look at the answer before it is taken. */
export function findApproverChallenge(db: Executor, { developerId }: Tenant, claim: Claim, at: Date) {
  return db
    .selectFrom('approverChallenges')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', claim.id)
    .where('approverId', '=', claim.approverId)
    .where('subjectId', 'is not distinct from', claim.subjectId)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', at)
    .executeTakeFirst();
}

/** Takes a challenge: one statement, so that one of two takers gets it. */
export async function claimApproverChallenge(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('approverChallenges')
    .set({ usedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', at)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Inserts a session, and deletes those of the approver that have ended. */
export async function insertApproverSession(
  tx: Tx,
  { developerId }: Tenant,
  row: Own<ApproverSessions>,
  at: Date,
): Promise<ApproverSessionRow> {
  await tx
    .deleteFrom('approverSessions')
    .where('developerId', '=', developerId)
    .where('approverId', '=', row.approverId)
    .where('expiresAt', '<=', at)
    .execute();
  return tx
    .insertInto('approverSessions')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findApproverSession(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('approverSessions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function touchSession(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  at: Date,
): Promise<void> {
  await db
    .updateTable('approverSessions')
    .set({ lastSeenAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** @param id only this session */
export async function deleteApproverSessions(
  tx: Tx,
  { developerId }: Tenant,
  approverId: string,
  id?: string,
): Promise<void> {
  const all = tx
    .deleteFrom('approverSessions')
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId);
  await (id === undefined ? all : all.where('id', '=', id)).execute();
}

/** Ends the sessions of the person in other browsers. */
export async function deleteOtherSessions(
  tx: Tx,
  { developerId }: Tenant,
  approverId: string,
  sessionId: string,
): Promise<void> {
  await tx
    .deleteFrom('approverSessions')
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId)
    .where('id', '<>', sessionId)
    .execute();
}

/** Deletes all that lets a person in: passkeys, challenges and sessions. */
export async function deleteAccess(tx: Tx, { developerId }: Tenant, approverId: string): Promise<void> {
  for (const table of ['approverSessions', 'approverChallenges', 'approverPasskeys'] as const) {
    await tx
      .deleteFrom(table)
      .where('developerId', '=', developerId)
      .where('approverId', '=', approverId)
      .execute();
  }
}
