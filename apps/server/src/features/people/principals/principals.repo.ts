import type { AgentProfile } from '@behest/protocol/shapes';
import { type Selectable, sql } from 'kysely';
import type { PrincipalSession, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { boundedRows, pageRows } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type {
  Agents,
  Grants,
  PrincipalAddresses,
  PrincipalSessions,
} from '../../../platform/db/types.gen.ts';
import { hasFoldedPrincipal } from '../../../platform/db/values.ts';
import { agentsOf, joinedProfile } from '../../accounts/agents/agents.queries.ts';
import { brandingIn, byMailAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import {
  grantsOfPrincipal,
  grantsWithAgent,
  livingGrantsOfPrincipal,
} from '../../grants/grants/grants.queries.ts';
import { type EntryRow, entriesOf } from '../../record/audit/audit.queries.ts';
import { connectionsOfPrincipal } from '../../vault/credentials/credentials.queries.ts';
import { activeSession } from './principals.queries.ts';

interface NewSessionRow {
  readonly id: string;
  readonly principalId: string;
  readonly expiresAt: Date;
}

/**
 * Inserts a session for a principal with an active grant or a connected account, and deletes the developer's expired
 * sessions.
 * @returns whether there is any of them
 */
export async function insertSession(
  tx: Tx,
  tenant: Tenant,
  { id, principalId, expiresAt }: NewSessionRow,
  now: Date,
): Promise<boolean> {
  const { developerId } = tenant;
  const row = [
    sql.val(developerId).as('developerId'),
    sql.val(id).as('id'),
    sql.val(principalId).as('principalId'),
    sql<Date>`${expiresAt}::timestamptz`.as('at'), // a union takes a bare value for a text
  ] as const;
  const { numInsertedOrUpdatedRows } = await tx
    .with('swept', (also) =>
      also
        .deleteFrom('principalSessions')
        .where('developerId', '=', developerId)
        .where('expiresAt', '<=', now),
    )
    .insertInto('principalSessions')
    .columns(['developerId', 'id', 'principalId', 'expiresAt'])
    .expression(
      livingGrantsOfPrincipal(tx, tenant, principalId, now)
        .select(row)
        .unionAll(connectionsOfPrincipal(tx, tenant, principalId).select(row))
        .limit(1),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function insertSessionRow(tx: Tx, { developerId }: Tenant, row: NewSessionRow): Promise<void> {
  await tx
    .insertInto('principalSessions')
    .values({ ...row, developerId })
    .execute();
}

/** @returns whether the session was active */
export async function deleteSession(db: Tx, session: PrincipalSession, now: Date): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('principalSessions')
    .where('developerId', '=', session.tenant.developerId)
    .where('id', '=', session.sessionId)
    .where('principalId', '=', session.principalId)
    .where('expiresAt', '>', now)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** @param grantId a grant that the result names if the principal has it */
export function findSession(db: Executor, session: PrincipalSession, now: Date, grantId = '') {
  return activeSession(db, session, now)
    .leftJoin(
      grantsOfPrincipal(db, session.tenant, session.principalId).select(['id', 'agentId']).as('grant'),
      (join) => join.on('grant.id', '=', grantId),
    )
    .select('grant.agentId')
    .executeTakeFirst();
}

export interface OwnGrantRow extends Selectable<Grants>, AgentProfile {
  readonly agentStatus: Selectable<Agents>['status'];
}

export interface OwnEntryRow
  extends Pick<EntryRow, 'id' | 'agentId' | 'agentDid' | 'grantId' | 'action' | 'metadata' | 'status'>,
    Pick<EntryRow, 'purpose' | 'at' | 'hash'> {
  readonly agentName: string | null;
}

/** A left join gives either a whole row or nulls. */
const hasGrant = <Row extends { id: string | null }>(row: Row): row is Row & OwnGrantRow => row.id !== null;
const hasEntry = <Row extends { id: string | null }>(row: Row): row is Row & OwnEntryRow => row.id !== null;

interface GrantPage {
  readonly status: 'active' | 'all';
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * The principal's grants with their agents, newest first.
 * @returns undefined when the session has ended
 */
export async function listOwnGrantRows(db: Executor, session: PrincipalSession, page: GrantPage, now: Date) {
  const { status, cursor, limit } = page;
  let grants = grantsWithAgent(db, session.tenant)
    .select(['agent.agentStatus', ...joinedProfile])
    .where('grant.principalId', '=', session.principalId);
  if (cursor) grants = grants.where('grant.id', '<', cursor);
  if (status === 'active') {
    grants = grants.where('grant.status', '=', 'active').where('grant.expiresAt', '>', now);
  }
  const newest = boundedRows(grants.orderBy('grant.id', 'desc').limit(limit + 1));
  const rows = await activeSession(db, session, now)
    .leftJoin(newest.as('grant'), (join) => join.onTrue())
    .selectAll('grant')
    .select(['developer.developerName', 'developer.scopeDescriptions'])
    .select(['developer.accentColor', 'developer.logoHash'])
    .select('session.expiresAt as sessionExpiresAt')
    .orderBy('grant.id', 'desc')
    .execute();
  const [first] = rows;
  if (!first) return undefined;
  const { developerName, mode, scopeDescriptions, sessionExpiresAt } = first;
  return {
    developerName,
    ...brandingIn({ ...session.tenant, accentColor: first.accentColor, logoHash: first.logoHash }),
    mode,
    scopeDescriptions,
    sessionExpiresAt,
    grants: pageRows(rows.filter(hasGrant), limit),
  };
}

interface EntryPage {
  readonly grantId?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * The entries about the principal, newest first, without the members of their metadata that the developer keeps from
 * principals; otherwise like `listOwnGrantRows`.
 */
export async function listOwnEntryRows(
  db: Executor,
  session: PrincipalSession,
  { grantId, cursor, limit }: EntryPage,
  now: Date,
) {
  let entries = entriesOf(db, session.tenant)
    .leftJoin(agentsOf(db, session.tenant), 'agent.agentId', 'entry.agentId')
    .selectAll('entry')
    .select('agent.agentName')
    .where('entry.principalId', '=', session.principalId);
  if (grantId) entries = entries.where('entry.grantId', '=', grantId);
  if (cursor) {
    const last = entriesOf(db, session.tenant).select('entry.seq').where('entry.id', '=', cursor);
    entries = entries.where('entry.seq', '<', last);
  }
  const newest = boundedRows(entries.orderBy('entry.seq', 'desc').limit(limit + 1));
  const rows = await activeSession(db, session, now)
    .leftJoin(newest.as('entry'), (join) => join.onTrue())
    .select(['entry.id', 'entry.agentId', 'entry.agentDid', 'entry.agentName', 'entry.grantId'])
    .select(['entry.action', 'entry.status', 'entry.purpose', 'entry.at', 'entry.hash', 'entry.fitting'])
    .select(sql<string>`(entry.metadata - developer.audit_private_keys)::text`.as('metadata'))
    .orderBy('entry.seq', 'desc')
    .execute();
  return rows.length === 0 ? undefined : pageRows(rows.filter(hasEntry), limit);
}

/** Ends the sessions of some principals. @param kept the id of one that goes on */
export async function deleteSessionsOf(
  tx: Tx,
  { developerId }: Tenant,
  principalIds: readonly string[],
  { at: now, kept }: { readonly at: Date; readonly kept?: string | undefined },
): Promise<EndedSession[]> {
  const all = tx
    .deleteFrom('principalSessions')
    .where('developerId', '=', developerId)
    .where(hasFoldedPrincipal(principalIds)) // for the index
    .where('principalId', 'in', principalIds);
  const rows = await (kept === undefined ? all : all.where('id', '<>', kept))
    .returning(['id', 'principalId', 'expiresAt'])
    .execute();
  return rows.filter(({ expiresAt }) => expiresAt > now);
}

export type EndedSession = Pick<Selectable<PrincipalSessions>, 'id' | 'principalId'>;

/** Ends all sessions. */
export async function deleteSessions(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.deleteFrom('principalSessions').where('developerId', '=', developerId).execute();
}

/** A person who has proved an address. */
export type KnownPerson = Pick<Selectable<PrincipalAddresses>, 'developerId' | 'principalId' | 'addressHash'>;

/** The address of a principal, until the commit. */
export function lockAddress(tx: Tx, { developerId }: Tenant, principalId: string) {
  return tx
    .selectFrom('principalAddresses')
    .select('addressHash')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .forUpdate()
    .executeTakeFirst();
}

/** @returns undefined when the session has ended; null for a person without an address */
export function findOwnAddress(db: Executor, session: PrincipalSession, now: Date) {
  const addresses = db
    .selectFrom('principalAddresses')
    .select('provedAt')
    .where('developerId', '=', session.tenant.developerId)
    .where('principalId', '=', session.principalId);
  return activeSession(db, session, now)
    .clearSelect()
    .leftJoin(addresses.as('address'), (join) => join.onTrue())
    .select('address.provedAt')
    .executeTakeFirst();
}

/** Writes the address of a principal over the one before. */
export async function putAddress(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Selectable<PrincipalAddresses>, 'developerId'>,
): Promise<void> {
  const { addressHash, provedAt } = row;
  await tx
    .insertInto('principalAddresses')
    .values({ ...row, developerId })
    .onConflict((conflict) =>
      conflict.columns(['developerId', 'principalId']).doUpdateSet({ addressHash, provedAt }),
    )
    .execute();
}

/**
 * The people of those accounts whose people prove themselves by mail, who have proved an address since then: the last of each account, then the last but one, so
 * that no account takes the places of another.
 */
export function listPeopleAcrossTenants(
  db: Executor,
  addressHashes: readonly Buffer[],
  { since, most }: { readonly since: Date; readonly most: number },
): Promise<KnownPerson[]> {
  const place = sql<string>`row_number() over (partition by developer_id order by proved_at desc)`;
  const people = db
    .selectFrom('principalAddresses')
    .innerJoin(byMailAcrossTenants(db), 'developer.id', 'developerId')
    .select(['developerId', 'principalId', 'addressHash', 'provedAt'])
    .select(place.as('place'))
    .where('addressHash', 'in', addressHashes)
    .where('provedAt', '>', since);
  return db
    .selectFrom(people.as('person'))
    .select(['developerId', 'principalId', 'addressHash'])
    .orderBy('place')
    .orderBy('provedAt', 'desc')
    .limit(most)
    .execute();
}

export async function isKnownAddress(
  db: Executor,
  { developerId }: Tenant,
  { principalId, addressHash }: Omit<KnownPerson, 'developerId'>,
): Promise<boolean> {
  const found = await db
    .selectFrom('principalAddresses')
    .select('principalId')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .where('addressHash', '=', addressHash)
    .executeTakeFirst();
  return found !== undefined;
}

/** Forgets all addresses. */
export async function deleteAddresses(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.deleteFrom('principalAddresses').where('developerId', '=', developerId).execute();
}

/** Forgets the addresses of some principals. @returns the principals who had one */
export async function deleteAddressesOf(
  tx: Tx,
  { developerId }: Tenant,
  principalIds: readonly string[],
): Promise<string[]> {
  if (principalIds.length === 0) return [];
  const rows = await tx
    .deleteFrom('principalAddresses')
    .where('developerId', '=', developerId)
    .where(hasFoldedPrincipal(principalIds)) // for the index
    .where('principalId', 'in', principalIds)
    .returning('principalId')
    .execute();
  return rows.map(({ principalId }) => principalId);
}

/** Erases rows of a closed account. */
export const eraseSessions = eraserOf('principal_sessions', 'principal_addresses');

const addresses = sql`(select *, principal_id as id from principal_addresses) addresses`;

export const tellAddresses = exportOf('proved address', addresses, ['proved_at']);

export const tellSessions = exportOf('session', 'principal_sessions', ['expires_at']);
