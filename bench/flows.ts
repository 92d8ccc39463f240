import type pg from 'pg';
import type { Client } from './client.ts';
import { openClient } from './client.ts';
import { CONNECTIONS, demand, type Operation } from './load.ts';

/** One use of the service, measured with many at once. */
export interface Flow {
  readonly name: string;
  /** The name of one operation. */
  readonly unit: string;
  /** Runs before each round, unmeasured. */
  readonly prepare?: () => Promise<void>;
  readonly operation: (connection: number) => Operation;
}

/** A developer in the sandbox, who needs no person; each connection has its own grant. */
export interface Tenant {
  readonly apiKey: string;
  readonly developerId: string;
  readonly grants: readonly HeldGrant[];
}

interface HeldGrant {
  readonly agentId: string;
  readonly agentDid: string;
  readonly grantId: string;
  readonly grantToken: string;
  readonly refreshToken: string;
}

/** More grants than one round can revoke. */
const REVOCABLE = 20_000;

const asked = { principalId: 'user_42', scopes: ['calendar:read', 'email:send'], expiresIn: '30d' };

export async function signUp(port: number): Promise<Tenant> {
  const client = await openClient(port);
  const call = async (path: string, body: object, apiKey?: string) =>
    JSON.parse(
      (await demand(client, { method: 'POST', path, body, ...(apiKey && { apiKey }) }, 201)).toString(),
    );
  const { apiKey, developerId } = await call('/v1/signup', { name: 'Bench', mode: 'sandbox' });
  const grants: HeldGrant[] = [];
  for (let each = 0; each < CONNECTIONS; each += 1) {
    const { agentId, did: agentDid } = await call('/v1/agents', { name: `Agent ${each}` }, apiKey);
    const { code } = await call('/v1/authorize', { agentId, ...asked }, apiKey);
    const { grantId, grantToken, refreshToken } = await call('/v1/token', { code, agentId }, apiKey);
    grants.push({ agentId, agentDid, grantId, grantToken, refreshToken });
  }
  client.close();
  return { apiKey, developerId, grants };
}

/** Some connections share a grant when there are more connections than grants. */
export function heldBy({ grants }: Tenant, connection: number): HeldGrant {
  const grant = grants[connection % grants.length];
  if (!grant) throw new Error('There are no grants.');
  return grant;
}

/** @param db to make what is to be revoked, faster than the service would. */
export function flowsOf(tenant: Tenant, db: pg.Client): Flow[] {
  const { apiKey } = tenant;
  const ask = (client: Client, path: string, body: object, status = 201) =>
    demand(client, { method: 'POST', path, body, apiKey }, status);
  const get = (path: string) => () => (client: Client) =>
    demand(client, { method: 'GET', path, apiKey }, 200);
  const revocable: string[] = [];
  const spendable = tenant.grants.map(({ refreshToken }) => refreshToken);

  return [
    { name: 'JWKS', unit: 'answer', operation: get('/.well-known/jwks.json') },
    {
      name: 'verify',
      unit: 'answer',
      operation: (connection) => {
        const { grantToken: token } = heldBy(tenant, connection);
        return (client) => ask(client, '/v1/tokens/verify', { token }, 200);
      },
    },
    { name: 'agents list (10)', unit: 'answer', operation: get('/v1/agents?limit=10') },
    {
      name: 'authorize',
      unit: 'request with its approval',
      operation: (connection) => {
        const { agentId } = heldBy(tenant, connection);
        return (client) => ask(client, '/v1/authorize', { agentId, ...asked });
      },
    },
    {
      name: 'authorize → token',
      unit: 'pair',
      operation: (connection) => {
        const { agentId } = heldBy(tenant, connection);
        return async (client) => {
          const { code } = JSON.parse((await ask(client, '/v1/authorize', { agentId, ...asked })).toString());
          return ask(client, '/v1/token', { code, agentId });
        };
      },
    },
    {
      name: 'refresh',
      unit: 'rotation',
      operation: (connection) => {
        const { agentId } = heldBy(tenant, connection);
        return async (client) => {
          const refreshToken = spendable[connection];
          const answer = await ask(client, '/v1/token/refresh', { refreshToken, agentId });
          spendable[connection] = JSON.parse(answer.toString()).refreshToken;
        };
      },
    },
    {
      name: 'audit append, one chain',
      unit: 'entry',
      operation: (connection) => {
        const { agentId, agentDid, grantId } = heldBy(tenant, connection);
        const entry = { agentId, agentDid, grantId, principalId: 'user_42', action: 'email.sent' };
        return (client) => ask(client, '/v1/audit/log', entry);
      },
    },
    {
      name: 'revoke grant',
      unit: 'revocation',
      prepare: async () => {
        revocable.push(...(await makeGrants(db, heldBy(tenant, 0).grantId, REVOCABLE - revocable.length)));
        await db.query('vacuum analyze grants, tokens'); // autovacuum would do this within a minute
      },
      operation: () => async (client) => {
        const grantId = revocable.pop();
        if (!grantId) throw new Error('There are too few grants to revoke.');
        await demand(client, { method: 'DELETE', path: `/v1/grants/${grantId}`, apiKey }, 204);
      },
    },
  ];
}

/** Copies a grant many times, each copy with a token, as the service would write them. @returns the ids */
export async function makeGrants(db: pg.Client, grantId: string, count: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with made as (
      insert into grants
      select (jsonb_populate_record(g, jsonb_build_object('id', n.id, 'root_grant_id', n.id,
        'auth_request_id', null))).*
      from grants g, (${NEW_IDS}) n where g.id = $1
      returning developer_id, id, issued_at, expires_at
    ), tokens_made as (
      insert into tokens select developer_id, 'tok' || substr(id, 5), id, issued_at, expires_at, null from made
    )
    select id from made`,
    [grantId, count],
  );
  return rows.map(({ id }) => id);
}

/** Makes ids that serve as ULIDs here: of one length, and spread. */
const NEW_IDS = `select 'grnt_0' || upper(substr(md5(random()::text || each), 1, 25)) as id
  from generate_series(1, $2::integer) each`;
