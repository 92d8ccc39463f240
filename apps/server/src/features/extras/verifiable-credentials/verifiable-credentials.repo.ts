import { type Selectable, sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { AgentStatus, VerifiableCredentials } from '../../../platform/db/types.gen.ts';
import { credentialRows, type NewCredentialRow, newCredential } from './verifiable-credentials.queries.ts';
import type { Place } from './verifiable-credentials.rules.ts';
import type { CredentialQuery } from './verifiable-credentials.schema.ts';

export type CredentialRow = Selectable<VerifiableCredentials>;

/** A free place for a credential. Another may have it when the credential is stored. @param newListId for a new list */
export async function findFreePlace(
  db: Executor,
  { developerId }: Tenant,
  newListId: string,
): Promise<Place> {
  const { rows } = await sql<{ listId: string | null; idx: number }>`
    select list_id as "listId", idx from free_status_place(${developerId})`.execute(db);
  const [place] = rows;
  if (!place) throw new Error('There is no place in a status list.');
  return { idx: place.idx, listId: place.listId ?? newListId };
}

/** Stores a credential. @returns false when its place is taken, and then nothing is stored */
export async function keepCredential(
  tx: Tx,
  tenant: Tenant,
  credential: NewCredentialRow,
  at: Date,
): Promise<boolean> {
  const { developerId } = tenant;
  const stored = JSON.stringify(newCredential(tenant, credential));
  const { rows } = await sql<{ isHeld: boolean }>`
    select hold_status_place(${developerId}, ${at}, ${stored}) as "isHeld"`.execute(tx);
  if (!rows[0]?.isHeld) return false;
  await sql`select keep_credential(${developerId}, ${stored})`.execute(tx);
  return true;
}

export const findCredential = (db: Executor, reach: Reach, id: string): Promise<CredentialRow | undefined> =>
  credentialRows(db, reach).where('id', '=', id).executeTakeFirst();

/** The newest first. */
export function listCredentialRows(db: Executor, reach: Reach, query: CredentialQuery, now: Date) {
  const { cursor, limit, grantId, principalId, status } = query;
  let rows = credentialRows(db, reach);
  if (grantId) rows = rows.where('grantId', '=', grantId);
  if (principalId) rows = rows.where('principalId', '=', principalId);
  if (status === 'revoked') rows = rows.where('revokedAt', 'is not', null);
  if (status === 'active') rows = rows.where('revokedAt', 'is', null).where('expiresAt', '>', now);
  if (status === 'expired') rows = rows.where('revokedAt', 'is', null).where('expiresAt', '<=', now);
  if (cursor) rows = rows.where('id', '<', cursor);
  return readPage<CredentialRow>(db, rows.orderBy('id', 'desc'), limit);
}

/** Revokes a credential with the passports below it, and sets their bits. @returns the ids of what was not revoked before */
export async function revokeRows(tx: Tx, tenant: Tenant, id: string, at: Date): Promise<string[]> {
  const { rows } = await sql<{ ended: string[] }>`
    select revoke_credentials(${tenant.developerId}, ${at}, array[${id}]) as ended`.execute(tx);
  return rows[0]?.ended ?? [];
}

/** Credentials of any agents, in the order of their ids. */
export const listCredentialsById = (
  db: Executor,
  tenant: Tenant,
  ids: readonly string[],
): Promise<CredentialRow[]> =>
  credentialRows(db, { tenant, agentIds: null })
    .where(sql<boolean>`id = any(${ids})`)
    .orderBy('id')
    .execute();

/** A status list, which everybody may read. */
export function findListAcrossTenants(db: Executor, listId: string) {
  return db
    .selectFrom('statusLists')
    .select(['developerId', 'bits', 'flips'])
    .where('id', '=', listId)
    .executeTakeFirst();
}

/** How often bits of a list were set, for a copy that is kept. */
export function findFlipsAcrossTenants(db: Executor, listId: string) {
  return db
    .selectFrom('statusLists')
    .select(['developerId', 'flips'])
    .where('id', '=', listId)
    .executeTakeFirst();
}

/** The credential that has a place, if any. */
const placedAcrossTenants = (db: Executor, { listId, idx }: Place) =>
  db
    .selectFrom('statusLists as list')
    .innerJoin('verifiableCredentials as credential', (join) =>
      join
        .onRef('credential.developerId', '=', 'list.developerId')
        .onRef('credential.statusListId', '=', 'list.id')
        .on('credential.statusListIdx', '=', idx),
    )
    .where('list.id', '=', listId);

/** Whether the bit of a credential is set, and how its agent is judged. Undefined for a place that no credential has. */
export function findStatusAcrossTenants(db: Executor, place: Place) {
  const standing = sql<AgentStatus>`standing(developer.id, agent.status, developer.stopped_at)`;
  return placedAcrossTenants(db, place)
    .innerJoin('agents as agent', (join) =>
      join
        .onRef('agent.developerId', '=', 'credential.developerId')
        .onRef('agent.id', '=', 'credential.agentId'),
    )
    .innerJoin('developers as developer', 'developer.id', 'credential.developerId')
    .select(['list.developerId', sql<boolean>`get_bit(list.bits, ${place.idx}) = 1`.as('isSet')])
    .select(standing.as('standing'))
    .executeTakeFirst();
}

/** The text of the credential that has a place, for anybody who shows it. */
export const findPlacedAcrossTenants = (db: Executor, place: Place) =>
  placedAcrossTenants(db, place)
    .select(['credential.developerId', 'credential.id', 'credential.credential'])
    .executeTakeFirst();

export const eraseCredentials = eraserOf('verifiable_credentials', 'status_lists');

/** Without the signed text, which says the same. */
export const tellStatements = exportOf('verifiable_credential', 'verifiable_credentials', [
  ...[
    'grant_id',
    'agent_id',
    'agent_did',
    'credential_type',
    'format',
    'issued_at',
    'expires_at',
    'revoked_at',
  ],
]);
