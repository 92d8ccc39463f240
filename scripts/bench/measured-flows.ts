import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Client, SentRequest } from './client.ts';
import { demand, type Operation } from './load.ts';
import type { Flow } from './rounds.ts';
import { asked, heldBy, makeGrants, type Tenant, turnOf } from './tenants.ts';

/** More grants than one round can revoke. */
const REVOCABLE = 20_000;

/**
 * @param tenants connections take turns among them
 * @param db to make what is to be revoked, faster than the service would.
 */
export function flowsOf(tenants: readonly Tenant[], db: pg.Client): Flow[] {
  return [
    ...readFlows(tenants),
    ...issueFlows(tenants),
    ...oauthFlows(tenants),
    ...recordFlows(tenants),
    ...debitFlows(tenants, db),
    revokeFlow(tenants, db),
  ];
}

function readFlows(tenants: readonly Tenant[]): Flow[] {
  const get =
    (path: string) =>
    (connection: number): Operation => {
      const request = { method: 'GET', path, apiKey: turnOf(tenants, connection).apiKey };
      return (client) => demand(client, request, 200);
    };
  return [
    { name: 'JWKS', unit: 'answer', floor: 'bare', aim: 0.8, operation: get('/.well-known/jwks.json') },
    {
      name: 'verify',
      unit: 'answer',
      floor: 'verify',
      aim: 1.1,
      operation: (connection) => {
        const { held, post } = placeOf(tenants, connection);
        const request = post('/v1/tokens/verify', { token: held.grantToken });
        return async (client) => {
          const answer = await demand(client, request, 200);
          if (!answer.includes('"valid":true')) throw new Error('The token was refused.');
        };
      },
    },
    {
      name: 'agents list (10)',
      unit: 'answer',
      floor: 'select',
      aim: 0.9,
      operation: get('/v1/agents?limit=10'),
    },
  ];
}

function issueFlows(tenants: readonly Tenant[]): Flow[] {
  const spendable = new Map<number, string>();
  return [
    {
      name: 'authorize',
      unit: 'request with its approval',
      floor: 'append',
      aim: 1,
      operation: (connection) => {
        const { held, post } = placeOf(tenants, connection);
        const request = post('/v1/authorize', { agentId: held.agentId, ...asked });
        return (client) => demand(client, request, 201);
      },
    },
    {
      name: 'authorize → token',
      unit: 'pair',
      floor: 'sign',
      aim: 0.5,
      operation: (connection) => {
        const { held, post } = placeOf(tenants, connection);
        const { agentId } = held;
        const request = post('/v1/authorize', { agentId, ...asked });
        return async (client) => {
          const { code } = await answerOf(client, request);
          return demand(client, post('/v1/token', { code, agentId }), 201);
        };
      },
    },
    {
      name: 'refresh',
      unit: 'rotation',
      floor: 'sign',
      aim: 0.75,
      operation: (connection) => {
        const { held, post } = placeOf(tenants, connection);
        return async (client) => {
          const refreshToken = spendable.get(connection) ?? held.refreshToken;
          const body = { refreshToken, agentId: held.agentId };
          const answer = await answerOf(client, post('/v1/token/refresh', body));
          spendable.set(connection, answer.refreshToken);
        };
      },
    },
  ];
}

function recordFlows(tenants: readonly Tenant[]): Flow[] {
  return [
    {
      name: 'vault exchange',
      unit: 'credential',
      floor: 'unseal',
      aim: 0.8,
      operation: (connection) => {
        const { held } = placeOf(tenants, connection);
        const request = {
          method: 'POST',
          path: '/v1/vault/credentials/exchange',
          body: { service: 'github' },
          apiKey: held.grantToken,
        };
        return (client) => demand(client, request, 200);
      },
    },
    {
      name: 'audit append, one chain',
      unit: 'entry',
      floor: 'append',
      aim: 2.5,
      operation: (connection) => {
        const { held, post } = placeOf(tenants, connection);
        const { agentId, agentDid, grantId } = held;
        const entry = { agentId, agentDid, grantId, principalId: 'user_42', action: 'email.sent' };
        const request = post('/v1/audit/log', entry);
        return (client) => demand(client, request, 201);
      },
    },
    {
      name: 'enforce, one chain',
      unit: 'answer with its entry',
      floor: 'append',
      aim: 2, // four fifths of audit append
      operation: (connection) => {
        const { held, post } = placeOf(tenants, connection);
        const { grantToken } = held;
        const request = post('/v1/enforce', { grantToken, connector: 'crm', tool: 'lookup', arguments: {} });
        return async (client) => {
          const answer = await demand(client, request, 200);
          if (!answer.includes('"allowed":true')) throw new Error('The call was denied.');
        };
      },
    },
    {
      name: 'AuthZEN, five evaluations, one chain',
      unit: 'batch with its five entries',
      floor: 'append',
      aim: 0.4, // a fifth of enforce
      operation: (connection) => {
        const { held, post } = placeOf(tenants, connection);
        const request = post('/access/v1/evaluations', {
          subject: { type: 'token', id: tokenIdIn(held.grantToken), properties: { token: held.grantToken } },
          action: { name: 'lookup' },
          resource: { type: 'connector', id: 'crm' },
          evaluations: Array.from({ length: 5 }, () => ({})),
        });
        return async (client) => {
          const answer = await demand(client, request, 200);
          if (answer.includes('"decision":false')) throw new Error('An evaluation was denied.');
        };
      },
    },
  ];
}

/** The id of a grant token of this service. */
const tokenIdIn = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;

function revokeFlow(tenants: readonly Tenant[], db: pg.Client): Flow {
  const revocable = new Map<Tenant, string[]>(tenants.map((tenant) => [tenant, []]));
  const each = Math.ceil(REVOCABLE / tenants.length);
  return {
    name: 'revoke grant',
    unit: 'revocation',
    floor: 'append',
    aim: 0.8,
    prepare: async () => {
      for (const [tenant, ids] of revocable) {
        ids.push(...(await makeGrants(db, heldBy(tenant, 0).grantId, each - ids.length)));
      }
      await db.query('vacuum analyze grants, tokens'); // autovacuum would do this within a minute
    },
    operation: (connection) => {
      const tenant = turnOf(tenants, connection);
      return async (client) => {
        const grantId = revocable.get(tenant)?.pop();
        if (!grantId) throw new Error('There are too few grants to revoke.');
        const path = `/v1/grants/${grantId}`;
        await demand(client, { method: 'DELETE', path, apiKey: tenant.apiKey }, 204);
      };
    },
  };
}

/** The developer of a connection, and the grant that it uses. */
function placeOf(tenants: readonly Tenant[], connection: number) {
  const tenant = turnOf(tenants, connection);
  const held = heldBy(tenant, Math.floor(connection / tenants.length));
  const { apiKey } = tenant;
  const post = (path: string, body: object): SentRequest => ({ method: 'POST', path, body, apiKey });
  return { held, post };
}

/** Reads a 201. */
async function answerOf(client: Client, request: SentRequest) {
  return JSON.parse((await demand(client, request, 201)).toString());
}

/** Budgets of all developers together, in the flow that spreads its debits. */
const BUDGETS = 1000;

/** Debits of the smallest amount, so that no budget ends: of one budget for each developer, and of many. */
function debitFlows(tenants: readonly Tenant[], db: pg.Client): Flow[] {
  const funded = new Map<Tenant, string[]>();
  const prepare = async () => {
    if (funded.size > 0) return;
    for (const tenant of tenants) funded.set(tenant, await makeBudgets(db, tenant, BUDGETS / tenants.length));
  };
  const flow = (name: string, budgetOf: (budgets: readonly string[], turn: number) => string): Flow => ({
    name,
    unit: 'debit',
    floor: 'append',
    aim: 0.5,
    prepare,
    operation: (connection) => {
      const tenant = turnOf(tenants, connection);
      const budgets = funded.get(tenant) ?? [];
      let turn = connection;
      return (client) => {
        turn += 1;
        const body = { grantId: budgetOf(budgets, turn), amount: '0.0001' };
        const request = { method: 'POST', path: '/v1/budget/debit', body, apiKey: tenant.apiKey };
        return demand(client, request, 200);
      };
    },
  });
  return [
    flow('debit, one budget', (budgets) => turnOf(budgets, 0)),
    flow('debit, a thousand budgets', turnOf),
  ];
}

/** Makes grants with a budget, as the service would write them. @returns their ids */
async function makeBudgets(db: pg.Client, tenant: Tenant, count: number): Promise<string[]> {
  const ids = await makeGrants(db, heldBy(tenant, 0).grantId, Math.ceil(count));
  await db.query(
    `select open_allocation(developer_id, jsonb_build_object('id', 'bdg' || substr(id, 5), 'developer_id', developer_id,
       'grant_id', id, 'currency', 'USD', 'initial_units', 1e20::numeric, 'created_at', issued_at,
       'updated_at', issued_at))
     from grants where developer_id = $1 and id = any ($2)`,
    [tenant.developerId, ids],
  );
  await db.query('vacuum analyze grants, tokens, budget_allocations, budget_entries');
  return ids;
}

const REDIRECT = 'https://client.test/cb';

/** The most that OAuth may cost, by the native flow. The aims are those of the native flows, less this. */
const DEARER = 1.2;

/** An agent shows these at the endpoints of OAuth. */
interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** The native flows over OAuth. Each says beside which one it is measured. */
function oauthFlows(tenants: readonly Tenant[]): Flow[] {
  const made = new Map<string, Promise<Credentials>>();
  /** Makes the agent a client at its first operation, which is in the warm-up. */
  const credentialsOn = (client: Client, connection: number): Promise<Credentials> => {
    const tenant = turnOf(tenants, connection);
    const { agentId } = heldBy(tenant, Math.floor(connection / tenants.length));
    const credentials = made.get(agentId) ?? registerClient(client, tenant, agentId);
    made.set(agentId, credentials);
    return credentials;
  };
  const flow = (name: string, beside: string, operation: (connection: number) => Operation) =>
    ({ name, beside, operation, floor: 'sign' }) as const;
  const spendable = new Map<number, string>();
  return [
    {
      ...flow('oauth authorize', 'authorize', (connection) => async (client) => {
        await newCode(client, await credentialsOn(client, connection));
      }),
      ...{ unit: 'request with its approval', floor: 'append', aim: 1 / DEARER },
    },
    {
      ...flow('oauth authorize → token', 'authorize → token', (connection) => async (client) => {
        await tokensByCode(client, await credentialsOn(client, connection));
      }),
      ...{ unit: 'pair', aim: 0.5 / DEARER },
    },
    {
      ...flow('oauth refresh', 'refresh', (connection) => async (client) => {
        const credentials = await credentialsOn(client, connection);
        const refreshToken = spendable.get(connection) ?? (await tokensByCode(client, credentials));
        const form = { grant_type: 'refresh_token', refresh_token: refreshToken, ...credentials };
        spendable.set(connection, await refreshTokenOf(client, form));
      }),
      ...{ unit: 'rotation', aim: 0.75 / DEARER },
    },
  ];
}

export async function registerClient(
  client: Client,
  { apiKey }: Tenant,
  agentId: string,
): Promise<Credentials> {
  const body = { redirectUris: [REDIRECT], authMethod: 'client_secret_post' };
  const request = { method: 'PUT', path: `/v1/agents/${agentId}/oauth`, body, apiKey };
  const { clientSecret } = JSON.parse((await demand(client, request, 200)).toString());
  return { client_id: agentId, client_secret: clientSecret };
}

async function newCode(client: Client, { client_id }: Credentials) {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id, redirect_uri: REDIRECT, login_hint: asked.principalId },
    scope: asked.scopes.join(' '),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const { status, head } = await client.ask({ method: 'GET', path: `/oauth/authorize?${query}` });
  const [, code] = /^location: \S+[?&]code=([\w-]+)/im.exec(head) ?? [];
  if (code === undefined) throw new Error(`The service gave no code, and answered ${status}: ${head}`);
  return { code, verifier };
}

async function tokensByCode(client: Client, credentials: Credentials): Promise<string> {
  const { code, verifier } = await newCode(client, credentials);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT };
  return refreshTokenOf(client, { ...form, ...credentials });
}

/** Asks for tokens. @returns the refresh token among them */
async function refreshTokenOf(client: Client, form: Readonly<Record<string, string>>): Promise<string> {
  const answer = await demand(client, { method: 'POST', path: '/oauth/token', form }, 200);
  return JSON.parse(answer.toString()).refresh_token;
}
