import type { ExpressionBuilder, Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { DB, SsoIdentities } from '../../../platform/db/types.gen.ts';
import type { ConnectionRow } from './sso.repo.ts';

export type IdentityRow = Selectable<SsoIdentities>;

/** A connection, and the provider that it has now. */
export interface IdentityPlace {
  readonly connectionId: string;
  readonly provider: string;
}

/** Rows of the release before name no provider: they are of the one that the connection has until it changes. */
const isOfProvider =
  ({ provider }: IdentityPlace) =>
  ({ eb, or }: ExpressionBuilder<DB, 'ssoIdentities'>) =>
    or([eb('provider', '=', provider), eb('provider', 'is', null)]);

const identitiesAt = (db: Executor, { developerId }: Tenant, place: IdentityPlace) =>
  db
    .selectFrom('ssoIdentities')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('connectionId', '=', place.connectionId)
    .where(isOfProvider(place));

export const findIdentity = (
  db: Executor,
  tenant: Tenant,
  place: IdentityPlace,
  subject: string,
): Promise<IdentityRow | undefined> =>
  identitiesAt(db, tenant, place).where('subject', '=', subject).executeTakeFirst();

/** The subjects by which the provider of a connection knows a user, by text. */
export const identitiesOfUser = (
  db: Executor,
  tenant: Tenant,
  place: IdentityPlace,
  userId: string,
): Promise<IdentityRow[]> =>
  identitiesAt(db, tenant, place).where('userId', '=', userId).orderBy('subject').execute();

export async function insertIdentity(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<SsoIdentities>, 'developerId'> & IdentityPlace,
): Promise<void> {
  const { userId, tenant = null, provider } = row;
  await tx
    .insertInto('ssoIdentities')
    .values({ ...row, developerId })
    .onConflict((conflict) =>
      conflict.columns(['developerId', 'connectionId', 'subject']).doUpdateSet({ userId, tenant, provider }),
    )
    .execute();
}

/** Ends what links a user to the provider of a connection. */
export async function deleteIdentitiesOfUser(
  tx: Tx,
  { developerId }: Tenant,
  place: IdentityPlace,
  userId: string,
): Promise<void> {
  await tx
    .deleteFrom('ssoIdentities')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', place.connectionId)
    .where(isOfProvider(place))
    .where('userId', '=', userId)
    .execute();
}

/** Writes the provider into rows of the release before, while the connection still has it. */
export async function nameProvider(
  tx: Tx,
  { developerId }: Tenant,
  { connectionId, provider }: IdentityPlace,
): Promise<void> {
  await tx
    .updateTable('ssoIdentities')
    .set({ provider })
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('provider', 'is', null)
    .execute();
}

/** The users who have signed in at one of these connections. */
export async function usersOf(
  db: Executor,
  { developerId }: Tenant,
  connectionIds: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('ssoIdentities')
    .select('userId')
    .distinct()
    .where('developerId', '=', developerId)
    .where('connectionId', 'in', connectionIds)
    .execute();
  return rows.map(({ userId }) => userId);
}

/** The connections of a developer that are in use and speak OpenID Connect, by id. */
export const listActiveOidc = (db: Executor, { developerId }: Tenant): Promise<ConnectionRow[]> =>
  db
    .selectFrom('ssoConnections')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('protocol', '=', 'oidc')
    .where('status', '=', 'active')
    .orderBy('id')
    .execute();
