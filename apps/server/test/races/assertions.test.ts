import { beforeEach, describe, test, vi } from 'vitest';
import { type AssertingProvider, JWT_BEARER, startAssertingProvider, trustAt } from '../app/asserting.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { newClient } from '../app/oauth.ts';
import { besideClients, LISTENING, newServer, sendForm, tokensOf } from '../app/published.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer, Service } from '../app/start-app.ts';

const BASE = 'https://auth.test';
// Each run registers at a provider of its own developer, over the network.
vi.setConfig({ testTimeout: 120_000 });

const { race } = interleaving(besideProvider());

let provider: AssertingProvider | undefined;
beforeEach(() => {
  provider = undefined; // it ends with its test
});

/** A developer with a listed client, and an assertion that nobody has shown. */
async function asserted(acme: Developer, service: Service) {
  provider ??= await startAssertingProvider(service);
  const { client, path, rulePath } = await trustAt(acme, service, provider, { base: BASE });
  const [assertion, again] = [await assertionOf(client, 'first'), await assertionOf(client, 'second')];
  return { ...client, path, rulePath, assertion, again };
}
const assertionOf = async ({ clientId }: { readonly clientId: string }, jti: string) =>
  (await provider?.assert(BASE, clientId, { claims: { jti } })) ?? '';

type Held = Awaited<ReturnType<typeof asserted>>;

const show = ({ service }: Side, { clientId, clientSecret = '' }: Held, assertion: string) =>
  service.app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      ...{ grant_type: JWT_BEARER, client_id: clientId, client_secret: clientSecret, assertion },
    }).toString(),
  });

/** As `asserted`, after a first assertion has made the standing grant. */
async function standing(acme: Developer, service: Service) {
  const held = await asserted(acme, service);
  const first = await show({ service, acme }, held, await assertionOf(held, 'before'));
  return { ...held, grantId: String(first.json()['urn:service:grant'].grant_id) };
}

/** As `standing`, after its rule was narrowed: the grant has ended, and the next assertion makes another one. */
async function narrowed(acme: Developer, service: Service) {
  const held = await standing(acme, service);
  const { statusCode } = await narrow({ service, acme }, held);
  if (statusCode !== 200) throw new Error(`The rule stayed: ${statusCode}`);
  return held;
}
const narrow = ({ acme }: Side, { rulePath }: Held) => acme('PATCH', rulePath, { scopes: ['calendar:read'] });

test('M15 two uses of one assertion', () =>
  race({
    prepare: asserted,
    one: (side, held) => show(side, held, held.assertion),
    answers: ['200, 400', '400, 200'],
  }));

test('M15 two assertions for the same person, of which one makes the standing grant', () =>
  race({
    prepare: asserted,
    one: (side, held) => show(side, held, held.assertion),
    other: (side, held) => show(side, held, held.again),
    answers: ['200, 200'],
  }));

test('M15 an assertion, and the narrowing of its rule', () =>
  race({
    prepare: standing,
    one: (side, held) => show(side, held, held.assertion),
    other: narrow,
    answers: ['200, 200'],
  }));

test('M15 an assertion, and a shorter life of the tokens by its rule', () =>
  race({
    prepare: standing,
    one: (side, held) => show(side, held, held.assertion),
    other: ({ acme }, { rulePath }) => acme('PATCH', rulePath, { tokenTtlSeconds: 60 }),
    answers: ['200, 200'],
  }));

test('M15 two assertions for a person who is known, of which one makes the next standing grant', () =>
  race({
    prepare: narrowed,
    one: (side, held) => show(side, held, held.assertion),
    other: (side, held) => show(side, held, held.again),
    answers: ['200, 200'],
  }));

test('M15 an assertion, and the end of the grant by somebody here', () =>
  race({
    prepare: standing,
    one: (side, held) => show(side, held, held.assertion),
    other: ({ acme }, { grantId }) => acme('DELETE', `/v1/grants/${grantId}`),
    answers: ['200, 204', '400, 204'],
  }));

test('M15 an assertion, and the end of the trust in its provider', () =>
  race({
    prepare: asserted,
    one: (side, held) => show(side, held, held.assertion),
    other: ({ acme }, { path }) => acme('DELETE', `${path}/id-jag`),
    answers: ['200, 204', '400, 204'],
  }));

test('M15 an assertion, and another issuer at the connection', () =>
  race({
    prepare: asserted,
    one: (side, held) => show(side, held, held.assertion),
    other: ({ acme }, { path }) =>
      acme('PATCH', path, { issuerUrl: 'https://other.test', clientSecret: 'secret-of-the-other-provider' }),
    answers: ['200, 200', '400, 200'],
  }));

test('M15 an assertion, and another customer of its provider', () =>
  race({
    prepare: asserted,
    one: (side, held) => show(side, held, held.assertion),
    other: ({ acme }, { path }) => acme('PUT', `${path}/id-jag`, { enabled: true, tenant: 'other' }),
    answers: ['200, 200', '400, 200'],
  }));

describe('tokens of resources', () => {
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
});
