import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { exportOf } from '../../../platform/db/personal-data.ts';

/** An id by which grants may name a user. */
export interface PrincipalValue {
  readonly id: string;
  /** Compared without regard to case. */
  readonly isFolded: boolean;
}

const idsOf = (values: readonly PrincipalValue[]) => values.map(({ id }) => id);
const foldingOf = (values: readonly PrincipalValue[]) => values.map(({ isFolded }) => isFolded);

/** The other user who has one of these ids now. Under `lockPeople` there is none until the commit. */
export async function findHolder(
  db: Executor,
  { developerId }: Tenant,
  userId: string,
  values: readonly PrincipalValue[],
): Promise<string | undefined> {
  const asked = sql<{
    userId: string;
  }>`select p.user_id from unnest(${idsOf(values)}::text[], ${foldingOf(values)}::boolean[]) as v (id, is_folded)
    join scim_principals p
      on p.developer_id = ${developerId} and p.folded = lower(v.id)
        and (p.is_folded or v.is_folded or p.principal_id = v.id)
    where p.is_current and p.user_id <> ${userId} limit 1`;
  return (await asked.execute(db)).rows[0]?.userId;
}

/**
 * Gives a user these ids. An id that the user had before stays, as a former one. Another user who had one of them before
 * loses it.
 */
export async function writePrincipals(
  tx: Tx,
  { developerId }: Tenant,
  { userId, isActive }: { userId: string; isActive: boolean },
  values: readonly PrincipalValue[],
): Promise<void> {
  await tx
    .updateTable('scimPrincipals')
    .set({ isCurrent: false, isActive })
    .where('developerId', '=', developerId)
    .where('userId', '=', userId)
    .execute();
  await sql`with taken as (
      delete from scim_principals p using unnest(${idsOf(values)}::text[], ${foldingOf(values)}::boolean[]) as v (id, is_folded)
      where p.developer_id = ${developerId} and p.user_id <> ${userId} and p.folded = lower(v.id)
        and v.is_folded and not p.is_folded and not p.is_current
    )
    insert into scim_principals (developer_id, folded, principal_id, is_folded, user_id, is_current, is_active)
    select distinct ${developerId}, lower(v.id), case when v.is_folded then lower(v.id) else v.id end, v.is_folded,
      ${userId}, true, ${isActive}::boolean
    from unnest(${idsOf(values)}::text[], ${foldingOf(values)}::boolean[]) as v (id, is_folded)
    on conflict (developer_id, folded, principal_id, is_folded)
      do update set user_id = excluded.user_id, is_current = true, is_active = excluded.is_active`.execute(
    tx,
  );
}

/** Takes a user's ids, and so waits for writes that rely on them. @returns the ids, former ones too */
export async function deactivatePrincipals(
  tx: Tx,
  { developerId }: Tenant,
  userId: string,
): Promise<string[]> {
  const rows = await tx
    .updateTable('scimPrincipals')
    .set({ isActive: false })
    .where('developerId', '=', developerId)
    .where('userId', '=', userId)
    .returning('principalId')
    .execute();
  return [...new Set(rows.map(({ principalId }) => principalId))].sort();
}

/** Waits for writes that rely on a user's ids, and lets new ones wait. @returns the ids, former ones too */
export async function lockPrincipals(tx: Tx, { developerId }: Tenant, userId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('scimPrincipals')
    .select('principalId')
    .where('developerId', '=', developerId)
    .where('userId', '=', userId)
    .orderBy('folded')
    .forUpdate()
    .execute();
  return [...new Set(rows.map(({ principalId }) => principalId))].sort();
}

/**
 * The ids of a user, and former ones that nobody else has now. Under `lockPeople` nobody gets or loses one until the commit.
 */
export async function idsOfUser(
  db: Executor,
  { developerId }: Tenant,
  userId: string,
): Promise<PrincipalValue[]> {
  const asked = sql<PrincipalValue>`select p.principal_id as id, p.is_folded from scim_principals p
    where p.developer_id = ${developerId} and p.user_id = ${userId} and not exists (
      select from scim_principals o where o.developer_id = ${developerId} and o.folded = p.folded
        and o.user_id <> p.user_id and o.is_current and not p.is_current
        and (o.is_folded or p.is_folded or o.principal_id = p.principal_id))
    order by p.principal_id, p.is_folded`;
  return (await asked.execute(db)).rows;
}

interface Closing {
  /** The id by which the person was offboarded first. */
  readonly subjectId: string;
  /** Whether an id was open until now. */
  readonly wasOpen: boolean;
  /** Every id that is closed with it, by text. */
  readonly ids: readonly PrincipalValue[];
}

/** Lets nothing be given to a person from now on, after the writes that were under way. */
export async function closePerson(
  tx: Tx,
  { developerId }: Tenant,
  principalId: string,
  values: readonly PrincipalValue[],
  at: Date,
): Promise<Closing> {
  const asked = sql<
    Omit<Closing, 'ids'>
  >`select subject_id, was_open from close_person(${developerId}, ${principalId},
    ${idsOf(values)}::text[], ${foldingOf(values)}::boolean[], ${at})`;
  const [closing] = (await asked.execute(tx)).rows;
  if (!closing) throw new Error('A function has no row.');
  const ids = await tx
    .selectFrom('closedPrincipals')
    .select(['principalId as id', 'isFolded'])
    .where('developerId', '=', developerId)
    .where('subjectId', '=', closing.subjectId)
    .where('admittedAt', 'is', null)
    .orderBy('principalId')
    .execute();
  return { ...closing, ids };
}

/** Closes the new ids of a user one of whose ids is closed. @returns whether one is */
export async function closeNewIds(
  tx: Tx,
  { developerId }: Tenant,
  userId: string,
  at: Date,
): Promise<boolean> {
  const asked = sql<{
    isClosed: boolean;
  }>`select close_new_ids(${developerId}, ${userId}, ${at}) as is_closed`;
  return (await asked.execute(tx)).rows[0]?.isClosed === true;
}

/** Opens every id that was closed with this one. @returns them, by text; none for one who was not closed */
export async function openPerson(
  tx: Tx,
  { developerId }: Tenant,
  principalId: string,
  at: Date,
): Promise<string[]> {
  const opened = sql<{ principalId: string }>`update closed_principals set admitted_at = ${at}
    where developer_id = ${developerId} and subject_id = (select offboarded_as(${developerId}, ${principalId}))
      and admitted_at is null returning principal_id`;
  return (await opened.execute(tx)).rows.map(({ principalId: id }) => id).sort();
}

export const tellClosings = exportOf(
  'offboarded_principal',
  sql`(select *, principal_id as id from closed_principals) closings`,
  ['subject_id', 'closed_at', 'admitted_at'],
);
