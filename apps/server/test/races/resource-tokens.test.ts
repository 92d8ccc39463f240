import { test } from 'vitest';
import { interleaving, type Side } from '../app/interleaving.ts';
import { newClient } from '../app/oauth.ts';
import { besideClients, LISTENING, newServer, sendForm, tokensOf } from '../app/published.ts';
import type { Developer, Service } from '../app/start-app.ts';

const limits = { RATE_LIMIT_OAUTH_TOKEN: '1000', RATE_LIMIT_OAUTH_AUTHORIZE: '1000' };
const { race } = interleaving({ env: { ...besideClients, ...limits, RESOURCES_ALLOW_UNVERIFIED: 'true' } });

const RESOURCE = 'http://localhost:8080/mcp';

/** A resource that has received a token, from which it may get one for the vault. */
async function received(acme: Developer, service: Service) {
  // All runs have the same resource, because their rows are compared. Each URI is registered once.
  for (const table of ['resourceIndex', 'resources'] as const)
    await service.db.deleteFrom(table).where('resource', '=', RESOURCE).execute();
  const { credential } = await newServer(acme, { resource: RESOURCE });
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const asked = { scope: 'calendar:write vault:github:read', login_hint: 'user_42' };
  const answer = (await tokensOf(service, clientId, RESOURCE, asked)).json();
  // A refused exchange may have noted the use of the grant. So the grant has been used before.
  await acme('POST', '/v1/tokens/verify', { token: answer.access_token });
  const { grant_id: grantId } = answer['urn:service:grant'];
  return { credential, clientId, token: String(answer.access_token), grantId: String(grantId) };
}
type Received = Awaited<ReturnType<typeof received>>;

const exchange = ({ service }: Side, { credential, token }: Received) => {
  const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange';
  const subject_token_type = 'urn:ietf:params:oauth:token-type:access_token';
  const headers = { authorization: `Bearer ${credential}` };
  return sendForm(service, 'token', { grant_type, subject_token: token, subject_token_type }, { headers });
};
const revokeToken = ({ acme }: Side, { token }: Received) => acme('POST', '/v1/tokens/revoke', { token });
const revokeGrant = ({ acme }: Side, { grantId }: Received) => acme('DELETE', `/v1/grants/${grantId}`);
const suspendAgent = ({ acme }: Side, { clientId }: Received) =>
  acme('PATCH', `/v1/agents/${clientId}`, { status: 'suspended' });

test('O28 an exchange by a resource, and the revocation of the token that it received', () =>
  race({ prepare: received, one: exchange, other: revokeToken, answers: ['200, 204', '400, 204'] }));
test('O28 an exchange by a resource, and the revocation of the grant', () =>
  race({ prepare: received, one: exchange, other: revokeGrant, answers: ['200, 204', '400, 204'] }));
test('O28 an exchange by a resource, and the suspension of the agent', () =>
  race({ prepare: received, one: exchange, other: suspendAgent, answers: ['200, 200', '400, 200'] }));
