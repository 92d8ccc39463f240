import type { Reach } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { Kind } from './search.schema.ts';

export interface FoundRecord {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  /** The agent that the record concerns; null where it concerns none. */
  readonly agentId: string | null;
}

type ById = [developerId: string, id: string];

/** A record of each kind by its key: `$1` is the developer, `$2` the id. */
const RECORDS = {
  agent: lookUp<FoundRecord, ById>(
    'search_agent',
    `select a.id, a.name as title, a.status::text as hint, a.id as "agentId" from agents a
    where a.developer_id = $1 and a.id = $2 and not a.is_proposed`,
  ),
  grant: lookUp<FoundRecord, ById>(
    'search_grant',
    `select g.id, g.principal_id as title, g.status::text as hint, g.agent_id as "agentId" from grants g
    where g.developer_id = $1 and g.id = $2`,
  ),
  token: lookUp<FoundRecord, ById>(
    'search_token',
    `select t.id, t.grant_id as title, case when t.revoked_at is null then 'issued' else 'revoked' end as hint,
      (select g.agent_id from grants g where g.developer_id = $1 and g.id = t.grant_id) as "agentId"
    from tokens t where t.developer_id = $1 and t.id = $2`,
  ),
  request: lookUp<FoundRecord, ById>(
    'search_request',
    `select r.id, r.principal_id as title, r.status::text as hint, r.agent_id as "agentId" from auth_requests r
    where r.developer_id = $1 and r.id = $2`,
  ),
  decision: lookUp<FoundRecord, ById>(
    'search_decision',
    `select d.id, d.connector || ' ' || d.tool as title, d.status::text as hint, d.agent_id as "agentId"
    from decisions d where d.developer_id = $1 and d.id = $2`,
  ),
  entry: lookUp<FoundRecord, ById>(
    'search_entry',
    `select e.id, e.action as title, e.status::text as hint, e.agent_id as "agentId" from audit_entries e
    where e.developer_id = $1 and e.id = $2`,
  ),
  key: lookUp<FoundRecord, ById>(
    'search_key',
    `select k.id, k.name as title, k.role::text as hint, null as "agentId" from api_keys k
    where k.developer_id = $1 and k.id = $2`,
  ),
  policy: lookUp<FoundRecord, ById>(
    'search_policy',
    `select p.id, p.name as title, p.effect::text as hint, null as "agentId" from policies p
    where p.developer_id = $1 and p.id = $2`,
  ),
  webhook: lookUp<FoundRecord, ById>(
    'search_webhook',
    `select w.id, w.url as title, w.status::text as hint, null as "agentId" from webhook_endpoints w
    where w.developer_id = $1 and w.id = $2`,
  ),
  // The key of a delivery begins with its endpoint, of which a plan allows few.
  delivery: lookUp<FoundRecord, ById>(
    'search_delivery',
    `select d.id, d.event_type as title, d.webhook_id as hint, null as "agentId"
    from webhook_endpoints w cross join lateral (select * from webhook_deliveries d
      where d.developer_id = $1 and d.webhook_id = w.id and d.id = $2 offset 0) d where w.developer_id = $1`,
  ),
  credential: lookUp<FoundRecord, ById>(
    'search_credential',
    `select v.id, v.service as title, v.principal_id as hint, null as "agentId" from vault_credentials v
    where v.developer_id = $1 and v.id = $2`,
  ),
  anomaly: lookUp<FoundRecord, ById>(
    'search_anomaly',
    `select a.id, a.rule_name as title, a.status::text as hint, a.agent_id as "agentId" from anomalies a
    where a.developer_id = $1 and a.id = $2`,
  ),
  approver: lookUp<FoundRecord, ById>(
    'search_approver',
    `select a.id, a.display_name as title, a.status::text as hint, null as "agentId" from approvers a
    where a.developer_id = $1 and a.id = $2`,
  ),
  connection: lookUp<FoundRecord, ById>(
    'search_connection',
    `select c.id, c.name as title, c.status::text as hint, null as "agentId" from sso_connections c
    where c.developer_id = $1 and c.id = $2`,
  ),
  user: lookUp<FoundRecord, ById>(
    'search_user',
    `select u.id, u.user_name as title, case when u.active then 'active' else 'inactive' end as hint,
      null as "agentId" from scim_users u where u.developer_id = $1 and u.id = $2`,
  ),
} as const satisfies Partial<Record<Kind, unknown>>;

export type RecordKind = keyof typeof RECORDS;

/** @returns the record; none that is out of reach */
export async function findRecord(
  db: Executor,
  { tenant, agentIds }: Reach,
  kind: RecordKind,
  id: string,
): Promise<FoundRecord | undefined> {
  const [found] = await RECORDS[kind](db, tenant.developerId, id);
  if (!found || agentIds === null) return found;
  return found.agentId !== null && agentIds.includes(found.agentId) ? found : undefined;
}

const entriesOfRequest = lookUp<
  FoundRecord,
  [developerId: string, requestId: string, within: readonly string[] | null]
>(
  'search_entries_of_request',
  `select e.id, e.action as title, e.status::text as hint, e.agent_id as "agentId" from audit_entries e
   where e.developer_id = $1 and e.request_id = $2 and ($3::text[] is null or e.agent_id = any ($3))
   order by e.seq limit 10`,
);

/** What a request has done, as its entries say. */
export const findEntriesOfRequest = (db: Executor, { tenant, agentIds }: Reach, requestId: string) =>
  entriesOfRequest(db, tenant.developerId, requestId, agentIds);
