import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Mode, Plan, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { DynamicClients, OauthClients } from '../../../platform/db/types.gen.ts';

export type ClientRow = Selectable<OauthClients>;

/** A client with its agent and developer, as they are now. */
export interface FoundClient extends Omit<ClientRow, 'createdAt' | 'updatedAt'> {
  readonly agentDid: string;
  readonly agentStatus: 'active' | 'suspended' | 'revoked';
  readonly publicKeyJwk: unknown;
  readonly mode: Mode;
  readonly plan: Plan;
}

const clientById = lookUp<FoundClient, [clientId: string]>(
  'find_oauth_client',
  `select c.developer_id as "developerId", c.agent_id as "agentId", c.redirect_uris as "redirectUris",
     c.auth_method as "authMethod", c.secret_hash as "secretHash", c.dpop_bound as "dpopBound",
     standing(d.id, a.status, d.stopped_at) as "agentStatus", a.did as "agentDid",
     a.public_key_jwk as "publicKeyJwk", d.mode, d.plan
   from agent_index i
     join oauth_clients c on c.developer_id = i.developer_id and c.agent_id = i.agent_id
     join agents a on a.developer_id = c.developer_id and a.id = c.agent_id
     join developers d on d.id = a.developer_id
   where i.agent_id = $1 and d.closed_at is null`,
);

/** A developer, with the agent that a client which describes itself has there, if any. */
interface ClientAtDeveloper {
  readonly mode: Mode;
  readonly plan: Plan;
  readonly agentId: string | null;
  readonly agentDid: string | null;
  readonly isProposed: boolean | null;
}

const seatOfClient = lookUp<ClientAtDeveloper, [developerId: string, clientId: string]>(
  'find_client_seat',
  `select d.mode, d.plan, a.id as "agentId", a.did as "agentDid", a.is_proposed as "isProposed"
   from developers d
     left join agents a on a.developer_id = d.id and a.client_id = $2 and a.status <> 'revoked'
   where d.id = $1 and d.closed_at is null`,
);

/** @returns undefined for an unknown or closed account */
export async function findClientAtDeveloper(
  db: Executor,
  { developerId }: Tenant,
  clientId: string,
): Promise<ClientAtDeveloper | undefined> {
  return (await seatOfClient(db, developerId, clientId))[0];
}

/** It takes no tenant by design: the id of a client names it. */
export async function findOAuthClientAcrossTenants(
  db: Executor,
  clientId: string,
): Promise<FoundClient | undefined> {
  return (await clientById(db, clientId))[0];
}

export const findClientRow = (
  db: Executor,
  { developerId }: Tenant,
  agentId: string,
): Promise<ClientRow | undefined> =>
  db
    .selectFrom('oauthClients')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .executeTakeFirst();

/** Locks the row, so that the second of two simultaneous changes sees the first. */
export function lockClient(tx: Tx, { developerId }: Tenant, agentId: string): Promise<ClientRow | undefined> {
  return tx
    .selectFrom('oauthClients')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .forUpdate()
    .executeTakeFirst();
}

export function putClient(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<OauthClients>, 'developerId'>,
): Promise<ClientRow> {
  const { agentId: _, createdAt: __, ...change } = row;
  return tx
    .insertInto('oauthClients')
    .values({ ...row, developerId })
    .onConflict((conflict) => conflict.columns(['developerId', 'agentId']).doUpdateSet(change))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** @returns whether the agent was a client */
export async function deleteClient(tx: Tx, { developerId }: Tenant, agentId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('oauthClients')
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Erases rows of a closed account. */
export const eraseClients = eraserOf('oauth_clients');

export type DynamicClientRow = Selectable<DynamicClients>;

const dynamicClient = lookUp<DynamicClientRow, [clientId: string, at: Date]>(
  'find_dynamic_client',
  `select client_id as "clientId", name, redirect_uris as "redirectUris", auth_method as "authMethod",
     secret_hash as "secretHash", management_hash as "managementHash", keys, refreshes, description,
     created_at as "createdAt", expires_at as "expiresAt"
   from dynamic_clients where client_id = $1 and expires_at > $2`,
);

/** It takes no tenant by design: such a client belongs to no developer. @returns undefined for one that ran out */
export async function findDynamicClientAcrossTenants(
  db: Executor,
  clientId: string,
  at: Date,
): Promise<DynamicClientRow | undefined> {
  return (await dynamicClient(db, clientId, at))[0];
}

export const insertDynamicClient = (
  db: Executor,
  row: Insertable<DynamicClients>,
): Promise<DynamicClientRow> =>
  db.insertInto('dynamicClients').values(row).returningAll().executeTakeFirstOrThrow();

export const updateDynamicClient = (db: Executor, clientId: string, change: Updateable<DynamicClients>) =>
  db
    .updateTable('dynamicClients')
    .set(change)
    .where('clientId', '=', clientId)
    .returningAll()
    .executeTakeFirst();

export async function deleteDynamicClient(db: Executor, clientId: string): Promise<void> {
  await db.deleteFrom('dynamicClients').where('clientId', '=', clientId).execute();
}

const USED_SECONDS = 90 * 86_400;
const RENEWED_AFTER_SECONDS = 86_400;

/** Puts off the end of a client that is in use, once a day, so that not each token writes it. */
export async function renewDynamicClient(db: Executor, clientId: string, at: Date): Promise<void> {
  const until = new Date(at.getTime() + USED_SECONDS * 1000);
  await db
    .updateTable('dynamicClients')
    .set({ expiresAt: until })
    .where('clientId', '=', clientId)
    .where('expiresAt', '<', new Date(until.getTime() - RENEWED_AFTER_SECONDS * 1000))
    .execute();
}

/** Deletes clients that were not used for long. @returns how many */
export async function deleteUnusedClientsAcrossTenants(
  db: Executor,
  at: Date,
  limit: number,
): Promise<number> {
  const due = db.selectFrom('dynamicClients').select('clientId').where('expiresAt', '<=', at).limit(limit);
  const { numDeletedRows } = await db
    .deleteFrom('dynamicClients')
    .where('clientId', 'in', due)
    .where('expiresAt', '<=', at)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
