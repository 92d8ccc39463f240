import type { Selectable } from 'kysely';
import type { PrincipalSession, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Agents, AuditEntries, Grants } from '../../../platform/db/types.gen.ts';

interface NewSession {
  readonly id: string;
  readonly principalId: string;
  readonly expiresAt: Date;
}

/**
 * Only for a principal who has an active grant, which is looked for in the same statement; what has run out goes.
 * Reads grants. @returns whether there is one
 */
export async function insertSession(
  tx: Tx,
  { developerId }: Tenant,
  { id, principalId, expiresAt }: NewSession,
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .with('swept', (also) =>
      also
        .deleteFrom('principalSessions')
        .where('developerId', '=', developerId)
        .where('expiresAt', '<=', now),
    )
    .insertInto('principalSessions')
    .columns(['developerId', 'id', 'principalId', 'expiresAt'])
    .expression((from) =>
      from
        .selectFrom('grants')
        .select((value) => [
          'developerId',
          value.val(id).as('id'),
          'principalId',
          value.val(expiresAt).as('at'),
        ])
        .where('developerId', '=', developerId)
        .where('principalId', '=', principalId)
        .where('status', '=', 'active')
        .where('expiresAt', '>', now)
        .limit(1),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** One statement, so it takes any executor. @returns whether it went on until now */
export async function deleteSession(db: Executor, session: PrincipalSession, now: Date): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('principalSessions')
    .where('developerId', '=', session.tenant.developerId)
    .where('id', '=', session.sessionId)
    .where('principalId', '=', session.principalId)
    .where('expiresAt', '>', now)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** The session with its developer, if it goes on: what else is read joins it, and a look at it costs no trip. */
function goingOn(db: Executor, { tenant, sessionId, principalId }: PrincipalSession, now: Date) {
  return db
    .selectFrom('principalSessions as session')
    .innerJoin('developers as developer', 'developer.id', 'session.developerId')
    .where('session.developerId', '=', tenant.developerId)
    .where('session.id', '=', sessionId)
    .where('session.principalId', '=', principalId)
    .where('session.expiresAt', '>', now)
    .select(['developer.mode', 'developer.plan']);
}

/** @param grantId of the principal, else none is returned with the session; without it the session alone */
export function findSession(db: Executor, session: PrincipalSession, now: Date, grantId = '') {
  return goingOn(db, session, now)
    .leftJoin('grants as grant', (join) =>
      join
        .onRef('grant.developerId', '=', 'session.developerId')
        .onRef('grant.principalId', '=', 'session.principalId')
        .on('grant.id', '=', grantId),
    )
    .select('grant.id as grantId')
    .executeTakeFirst();
}

export interface OwnGrantRow extends Selectable<Grants> {
  readonly agentName: string;
  readonly agentDescription: string;
  readonly agentDid: string;
  readonly agentStatus: Selectable<Agents>['status'];
}

export interface OwnEntryRow extends Selectable<AuditEntries> {
  readonly agentName: string | null;
}

/** A left join brings a whole row, or nothing of one. */
const hasGrant = <Row extends { id: string | null }>(row: Row): row is Row & OwnGrantRow => row.id !== null;
const hasEntry = <Row extends { id: string | null }>(row: Row): row is Row & OwnEntryRow => row.id !== null;

interface GrantPage {
  readonly status: 'active' | 'all';
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * The principal's grants with their agents, newest first and one more than asked for. Reads grants, agents and
 * developers. @returns nothing where the session has ended
 */
export async function listOwnGrantRows(db: Executor, session: PrincipalSession, page: GrantPage, now: Date) {
  const { status, cursor, limit } = page;
  const rows = await goingOn(db, session, now)
    .leftJoinLateral(
      (lateral) => {
        let grants = lateral
          .selectFrom('grants')
          .innerJoin('agents', (join) =>
            join
              .onRef('agents.developerId', '=', 'grants.developerId')
              .onRef('agents.id', '=', 'grants.agentId'),
          )
          .selectAll('grants')
          .select(['agents.name as agentName', 'agents.description as agentDescription'])
          .select(['agents.did as agentDid', 'agents.status as agentStatus'])
          .whereRef('grants.developerId', '=', 'session.developerId')
          .whereRef('grants.principalId', '=', 'session.principalId');
        if (cursor) grants = grants.where('grants.id', '<', cursor);
        if (status === 'active') {
          grants = grants.where('grants.status', '=', 'active').where('grants.expiresAt', '>', now);
        }
        return grants
          .orderBy('grants.id', 'desc')
          .limit(limit + 1)
          .as('grant');
      },
      (join) => join.onTrue(),
    )
    .selectAll('grant')
    .select(['developer.name as developerName', 'developer.scopeDescriptions'])
    .select('session.expiresAt as sessionExpiresAt')
    .orderBy('grant.id', 'desc')
    .execute();
  const [first] = rows;
  if (!first) return undefined;
  const { developerName, mode, scopeDescriptions, sessionExpiresAt } = first;
  return { developerName, mode, scopeDescriptions, sessionExpiresAt, grants: rows.filter(hasGrant) };
}

interface EntryPage {
  readonly grantId?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/** The entries about the principal, newest first; else as `listOwnGrantRows`. Reads audit entries, agents. */
export async function listOwnEntryRows(
  db: Executor,
  session: PrincipalSession,
  { grantId, cursor, limit }: EntryPage,
  now: Date,
) {
  const rows = await goingOn(db, session, now)
    .leftJoinLateral(
      (lateral) => {
        let entries = lateral
          .selectFrom('auditEntries')
          .leftJoin('agents', (join) =>
            join
              .onRef('agents.developerId', '=', 'auditEntries.developerId')
              .onRef('agents.id', '=', 'auditEntries.agentId'),
          )
          .selectAll('auditEntries')
          .select('agents.name as agentName')
          .whereRef('auditEntries.developerId', '=', 'session.developerId')
          .whereRef('auditEntries.principalId', '=', 'session.principalId');
        if (grantId) entries = entries.where('auditEntries.grantId', '=', grantId);
        if (cursor) {
          entries = entries.where('auditEntries.seq', '<', (at) =>
            at
              .selectFrom('auditEntries as last')
              .select('last.seq')
              .whereRef('last.developerId', '=', 'session.developerId')
              .where('last.id', '=', cursor),
          );
        }
        return entries
          .orderBy('auditEntries.seq', 'desc')
          .limit(limit + 1)
          .as('entry');
      },
      (join) => join.onTrue(),
    )
    .selectAll('entry')
    .select('developer.auditPrivateKeys')
    .orderBy('entry.seq', 'desc')
    .execute();
  const [first] = rows;
  return first && { auditPrivateKeys: first.auditPrivateKeys, entries: rows.filter(hasEntry) };
}
