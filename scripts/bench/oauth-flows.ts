import { createHash, randomBytes } from 'node:crypto';
import type { Client } from './client.ts';
import type { Flow } from './flow.ts';
import { demand, type Operation } from './load.ts';
import { asked, heldBy, type Tenant, turnOf } from './tenants.ts';

const REDIRECT = 'https://client.test/cb';

/** The most that OAuth may cost, by the native flow. The aims are those of the native flows, less this. */
const DEARER = 1.2;

/** An agent shows these at the endpoints of OAuth. */
interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** The native flows over OAuth. Each says beside which one it is measured. */
export function oauthFlows(tenants: readonly Tenant[]): Flow[] {
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

async function registerClient(client: Client, { apiKey }: Tenant, agentId: string): Promise<Credentials> {
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
