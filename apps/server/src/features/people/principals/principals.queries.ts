import type { Caller, PrincipalSession, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { principalsIn } from '../../../platform/db/values.ts';
import { developerOf } from '../../accounts/developers/developers.queries.ts';

/** The session with its developer, if it is active. Other reads join it, so the check costs no round trip. */
export function activeSession(db: Executor, { tenant, sessionId, principalId }: PrincipalSession, now: Date) {
  return db
    .selectFrom('principalSessions as session')
    .innerJoin(developerOf(db, tenant), 'developer.developerId', 'session.developerId')
    .where('session.developerId', '=', tenant.developerId)
    .where('session.id', '=', sessionId)
    .where('session.principalId', '=', principalId)
    .where('session.expiresAt', '>', now)
    .select(['developer.mode', 'developer.plan']);
}

/** The principal of a session as caller. */
export const callerOfSession = (
  { tenant, requestId }: PrincipalSession,
  { mode, plan }: Pick<Caller, 'mode' | 'plan'>,
): Caller => ({ tenant, agentIds: null, actor: 'principal', role: 'runtime', mode, plan, requestId });

/** @returns undefined when the session has ended */
export async function findSessionCaller(
  db: Executor,
  session: PrincipalSession,
  now: Date,
): Promise<Caller | undefined> {
  const found = await activeSession(db, session, now).executeTakeFirst();
  return found && callerOfSession(session, found);
}

/** The principals of sessions who have one of these ids, in any case. */
export const principalsWithSessions = principalsIn('principal_sessions');

/** The principals of proved addresses who have one of these ids, in any case. */
export const principalsWithAddresses = principalsIn('principal_addresses');

/** The principals who have a session. */
export async function principalsInSession(db: Executor, { developerId }: Tenant): Promise<string[]> {
  const rows = await db
    .selectFrom('principalSessions')
    .select('principalId')
    .distinct()
    .where('developerId', '=', developerId)
    .execute();
  return rows.map(({ principalId }) => principalId);
}
