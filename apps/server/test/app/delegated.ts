import { sql } from 'kysely';
import { newId } from '../../src/platform/ids.ts';
import type { Service } from './start-app.ts';

export interface Branching {
  readonly parentId: string;
  /** The agent that gets the grants. The default is the parent's own agent. */
  readonly agentId?: string;
  readonly count?: number;
}

/**
 * Inserts grants delegated from another, each with a token, straight into the tables. In all else they are
 * like the parent. @returns their ids with those of their tokens, oldest first
 */
export async function insertBranches(
  { db, clock }: Service,
  { parentId, agentId, count = 1 }: Branching,
): Promise<{ grantId: string; tokenId: string }[]> {
  const branches = Array.from({ length: count }, () => ({
    grantId: newId('grnt', clock()),
    tokenId: newId('tok', clock()),
  }));
  const grantIds = branches.map(({ grantId }) => grantId);
  const tokenIds = branches.map(({ tokenId }) => tokenId);
  await sql`
    insert into grants
      select (jsonb_populate_record(parent, jsonb_build_object('id', new_id, 'auth_request_id', null,
        'agent_id', coalesce(${agentId ?? null}, parent.agent_id), 'parent_grant_id', parent.id,
        'consent_method', 'delegated', 'delegation_depth', parent.delegation_depth + 1,
        'delegated_by', holder.did || parent.delegated_by))).*
      from grants parent join agents holder on holder.id = parent.agent_id, unnest(${grantIds}::text[]) new_id where parent.id = ${parentId}`.execute(
    db,
  );
  await sql`
    insert into tokens select g.developer_id, token_id, g.id, g.issued_at, g.expires_at, null
      from unnest(${grantIds}::text[], ${tokenIds}::text[]) as made (grant_id, token_id)
      join grants g on g.id = made.grant_id`.execute(db);
  await sql`
    update quota_counters set used = used + ${count} where resource = 'active_grants'
      and developer_id = (select developer_id from grants where id = ${parentId})`.execute(db);
  return branches;
}

/** Each grant is delegated from the one before it. */
export async function insertChain(service: Service, rootId: string, agentIds: readonly string[]) {
  const chain: { grantId: string; tokenId: string }[] = [];
  for (const agentId of agentIds) {
    const parentId = chain.at(-1)?.grantId ?? rootId;
    chain.push(...(await insertBranches(service, { parentId, agentId })));
  }
  return chain;
}

/** Ends a grant, or moves its expiry into the past, without an act. */
export async function setGrant(
  { db }: Service,
  grantId: string,
  change: { status?: 'active' | 'revoked'; expiresAt?: Date },
) {
  await db.updateTable('grants').set(change).where('id', '=', grantId).execute();
}
