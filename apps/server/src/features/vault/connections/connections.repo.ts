import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PrincipalSession, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { ConnectSessions } from '../../../platform/db/types.gen.ts';
import { hasFoldedPrincipal, principalsIn } from '../../../platform/db/values.ts';
import { agentsOf } from '../../accounts/agents/agents.queries.ts';
import { developerOf } from '../../accounts/developers/developers.queries.ts';
import { activeSession } from '../../people/principals/principals.queries.ts';
import { enforcingOf } from '../../people/sso/sso.queries.ts';

export type SessionRow = Selectable<ConnectSessions>;
type Status = SessionRow['status'];

export const OPEN: readonly Status[] = ['pending', 'started', 'returned'];

export function insertSession(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<ConnectSessions>, 'developerId'>,
): Promise<SessionRow> {
  return tx
    .insertInto('connectSessions')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findSession(db: Executor, { developerId }: Tenant, id: string, principalId?: string) {
  const found = db
    .selectFrom('connectSessions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id);
  return (
    principalId === undefined ? found : found.where('principalId', '=', principalId)
  ).executeTakeFirst();
}

/** A session with its developer and its agent, as its page shows them. */
export function findShownSession(db: Executor, tenant: Tenant, id: string) {
  return db
    .selectFrom('connectSessions as session')
    .innerJoin(developerOf(db, tenant), 'developer.developerId', 'session.developerId')
    .leftJoin(agentsOf(db, tenant), 'agent.agentId', 'session.agentId')
    .where('session.developerId', '=', tenant.developerId)
    .where('session.id', '=', id)
    .selectAll('session')
    .select(['developer.developerName', 'developer.mode', 'developer.plan', 'developer.consentMode'])
    .select(['developer.consentKeys', 'developer.connectLoginUrl', 'developer.emailVerified'])
    .select(['developer.accentColor', 'developer.logoHash'])
    .select('agent.agentName')
    .select(({ exists }) => exists(enforcingOf(db, tenant)).as('enforcesSso'))
    .executeTakeFirst();
}

export type ShownRow = NonNullable<Awaited<ReturnType<typeof findShownSession>>>;

/**
 * The sessions for a principal and a service that one agent, or the developer, has asked for and nobody has begun. Newest
 * first, but for so many.
 */
export function listWaitingSessions(
  tx: Tx,
  { developerId }: Tenant,
  { principalId, service, agentId }: Pick<SessionRow, 'principalId' | 'service' | 'agentId'>,
  beside: number,
) {
  return tx
    .selectFrom('connectSessions')
    .select('id')
    .where('developerId', '=', developerId)
    .where(hasFoldedPrincipal([principalId]))
    .where('principalId', '=', principalId)
    .where('service', '=', service)
    .where('agentId', 'is not distinct from', agentId)
    .where('status', '=', 'pending')
    .orderBy('id', 'desc')
    .offset(beside)
    .execute();
}

interface Change {
  readonly from: readonly Status[];
  readonly to: Updateable<ConnectSessions>;
}

/** Moves a session from one of these states. @returns undefined when it is in another */
export function changeSession(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  { from, to }: Change,
): Promise<SessionRow | undefined> {
  return tx
    .updateTable('connectSessions')
    .set(to)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('status', 'in', [...from])
    .returningAll()
    .executeTakeFirst();
}

const MAX_STARTS = 5;

/** Begins the dance once more. @returns undefined after the last start, and for an ended session */
export function startSession(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  method: string,
): Promise<SessionRow | undefined> {
  return tx
    .updateTable('connectSessions')
    .set({ status: 'started', method, reason: null, starts: sql<number>`starts + 1` })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'started'])
    .where('starts', '<', MAX_STARTS)
    .returningAll()
    .executeTakeFirst();
}

/** A failed start can be followed by another, up to the last. */
export const stateAfterFailure = ({ starts }: Pick<SessionRow, 'starts'>): 'pending' | 'failed' =>
  starts >= MAX_STARTS ? 'failed' : 'pending';

/** Ends the open sessions of a provider. */
export function cancelSessionsOf(tx: Tx, { developerId }: Tenant, providerId: string, at: Date) {
  return tx
    .updateTable('connectSessions')
    .set({ status: 'cancelled', reason: 'provider_deleted', decidedAt: at, tokens: null, dataKey: null })
    .where('developerId', '=', developerId)
    .where('providerId', '=', providerId)
    .where('status', 'in', ['pending', 'started', 'returned'])
    .returning(['id', 'service', 'principalId'])
    .execute();
}

/**
 * Ends the open sessions of a principal, or those that an agent has asked for. One whose tokens have come back runs out
 * instead, so that the job which looks for such revokes them at the upstream.
 */
export async function cancelSessionsFor(
  tx: Tx,
  { developerId }: Tenant,
  [column, ids]: readonly [column: 'principalId' | 'agentId', ids: readonly string[]],
  at: Date,
) {
  const open = tx
    .updateTable('connectSessions')
    .where('developerId', '=', developerId)
    .where(column, 'in', ids)
    .where(column === 'principalId' ? hasFoldedPrincipal(ids) : sql<boolean>`true`)
    .where('expiresAt', '>', at);
  await open.set({ expiresAt: at }).where('status', '=', 'returned').execute();
  return open
    .set({ status: 'cancelled', reason: 'offboarded', decidedAt: at })
    .where('status', 'in', ['pending', 'started'])
    .returning(['id', 'service', 'principalId', 'agentId'])
    .execute();
}

/** The principals of open sessions who have one of these ids, in any case. */
export const principalsWithOpenSessions = principalsIn(
  sql`(select * from connect_sessions where status in ('pending', 'started', 'returned')) open`,
);

/** Sessions that ran out while they were open. */
export function listDueSessionsAcrossTenants(db: Executor, at: Date, limit: number): Promise<SessionRow[]> {
  return db
    .selectFrom('connectSessions')
    .selectAll()
    .where('status', 'in', ['pending', 'started', 'returned'])
    .where('expiresAt', '<=', at)
    .orderBy('expiresAt')
    .limit(limit)
    .execute();
}

/** The account of a person whose session lives. */
export const findOwner = (db: Executor, session: PrincipalSession, now: Date) =>
  activeSession(db, session, now).executeTakeFirst();

/** Erases rows of a closed account. */
export const eraseConnectSessions = eraserOf('connect_sessions');
