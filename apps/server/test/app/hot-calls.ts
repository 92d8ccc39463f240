import { authorize, grantTo, partsOf } from './flow.ts';
import { newClient, pkceLink, REDIRECT } from './oauth.ts';
import { newServer } from './published.ts';
import type { Developer, Method, Service } from './start-app.ts';
import { storeCredential } from './vault.ts';

/** A request that is ready to be sent, over a connection or without one. */
export interface HotCall {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string;
}

const TOOLS = { list: 'read', send: { permission: 'write', caps: { per_day: 9 } } };
const CONNECTOR = 'acme_mail';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/**
 * One call of each kind that agents, and servers that agents call, make all day. Each succeeds once, in any order but
 * for `revoke`, which comes last.
 */
export async function hotCallsOf(service: Service, acme: Developer): Promise<Record<string, HotCall>> {
  await acme('PUT', `/v1/manifests/${CONNECTOR}`, { $schema: 'x', connector: CONNECTOR, tools: TOOLS });
  await storeCredential(acme);
  const scopes = ['calendar:read', 'github:read', `tool:${CONNECTOR}:write`];
  const { agentId, did: agentDid, grantId, grantToken, refreshToken } = await grantTo(acme, { scopes });
  await acme('POST', '/v1/budget/allocate', { grantId, initialBudget: '10' });
  const { code } = await authorize(acme, agentId);
  const { grantId: endedId } = await grantTo(acme);

  const bearing = (bearer: string) => ({ authorization: `Bearer ${bearer}` });
  const get = (url: string): HotCall => ({ method: 'GET', url, headers: bearing(acme.apiKey) });
  const post = (url: string, body: object, bearer = acme.apiKey): HotCall => ({
    method: 'POST',
    url,
    headers: { ...bearing(bearer), 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  });
  const call = (tool: string) => ({ grantToken, connector: CONNECTOR, tool, arguments: {} });
  await acme('POST', '/v1/enforce', call('send')); // makes the counter, and the process remembers the manifest
  const evaluation = {
    subject: { type: 'token', id: partsOf(grantToken).payload.jti, properties: { token: grantToken } },
    action: { name: 'list' },
    resource: { type: 'connector', id: CONNECTOR },
  };
  await acme('POST', '/access/v1/evaluation', evaluation); // remembers it too

  return {
    verify: post('/v1/tokens/verify', { token: grantToken }),
    introspect: post('/v1/tokens/introspect', { token: grantToken }),
    authorize: post('/v1/authorize', { agentId, principalId: 'user_42', scopes: ['calendar:read'] }),
    exchange: post('/v1/token', { code, agentId }),
    refresh: post('/v1/token/refresh', { refreshToken, agentId }),
    delegate: post('/v1/grants/delegate', {
      parentGrantToken: grantToken,
      subAgentId: agentId,
      scopes: ['calendar:read'],
    }),
    'exchange of a credential': post('/v1/vault/credentials/exchange', { service: 'github' }, grantToken),
    append: post('/v1/audit/log', {
      agentId,
      agentDid,
      grantId,
      principalId: 'user_42',
      action: 'email.sent',
    }),
    enforce: post('/v1/enforce', call('list')),
    'enforce with a cap': post('/v1/enforce', call('send')),
    'AuthZEN evaluation': post('/access/v1/evaluation', evaluation),
    'AuthZEN evaluations': post('/access/v1/evaluations', { ...evaluation, evaluations: [{}, {}] }),
    debit: post('/v1/budget/debit', { grantId, amount: '0.5' }),
    ...(await oauthCallsOf(service, acme)),
    'get grant': get(`/v1/grants/${grantId}`),
    'get agent': get(`/v1/agents/${agentId}`),
    'list agents': get('/v1/agents'),
    'list grants': get('/v1/grants?limit=10'),
    'list entries': get('/v1/audit/entries?limit=10'),
    revoke: { ...get(`/v1/grants/${endedId}`), method: 'DELETE' },
  };
}

/** The calls of a client with a secret, and of the server that its tokens are for. */
async function oauthCallsOf({ app }: Service, acme: Developer): Promise<Record<string, HotCall>> {
  const { clientId, clientSecret = '' } = await newClient(acme, { authMethod: 'client_secret_post' });
  const { resource, credential } = await newServer(acme);
  const form = (url: string, members: Record<string, string>, headers = {}): HotCall => ({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(members).toString(),
  });
  const newLink = async () => {
    const { link, verifier } = await pkceLink(clientId, { login_hint: 'user_42', resource });
    const { pathname, search } = new URL(link);
    const visit: HotCall = { method: 'GET', url: pathname + search, headers: { accept: 'text/html' } };
    return { visit, verifier };
  };
  const client = { client_id: clientId, client_secret: clientSecret };
  /** Exchanges the code of a link that was followed. */
  const newExchange = async () => {
    const { visit, verifier } = await newLink();
    const { location } = (await app.inject(visit)).headers;
    const code = new URL(String(location)).searchParams.get('code') ?? '';
    const about = { grant_type: 'authorization_code', code, code_verifier: verifier };
    return form('/oauth/token', { ...about, redirect_uri: REDIRECT, ...client });
  };
  const { access_token: token, refresh_token } = (await app.inject(await newExchange())).json();
  const receiver = (await acme('POST', '/v1/ssf/receivers', { name: 'Receiver' })).json();
  const asServer = { authorization: `Bearer ${credential}` };

  return {
    'OAuth authorize': (await newLink()).visit,
    'OAuth token': await newExchange(),
    'OAuth refresh': form('/oauth/token', { grant_type: 'refresh_token', refresh_token, ...client }),
    'OAuth introspect': form('/oauth/introspect', { token }, asServer),
    'OAuth exchange of a received token': form(
      '/oauth/token',
      { grant_type: TOKEN_EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN },
      asServer,
    ),
    'OAuth token of a receiver': form('/oauth/token', {
      ...{ grant_type: 'client_credentials', client_id: receiver.clientId },
      client_secret: receiver.clientSecret,
    }),
  };
}
