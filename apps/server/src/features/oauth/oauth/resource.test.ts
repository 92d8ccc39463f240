import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, partsOf } from '../../../../test/app/flow.ts';
import { newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { newProver } from '../../../../test/app/prover.ts';
import { besideClients, followLink, LISTENING, newServer, sendForm } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { exchange, storeCredential } from '../../../../test/app/vault.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const SCOPE = 'calendar:write vault:github:read vault:mail:*';

let service: Service;
beforeAll(async () => {
  const limits = { RATE_LIMIT_OAUTH_TOKEN: '1000', RATE_LIMIT_OAUTH_AUTHORIZE: '1000' };
  const env = { ...besideClients, ...limits, RESOURCES_ALLOW_UNVERIFIED: 'true' };
  service = await startApp({ env, isShared: true });
});
afterAll(() => service.stop());

type Server = Awaited<ReturnType<typeof newServer>>;

/** A developer whose server has received a token for itself, and whose person has stored a credential. */
async function startServer(parameters: Record<string, string> = {}) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const server = await newServer(acme);
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const tokens = async (more: Record<string, string> = {}) => {
    const asked = { scope: SCOPE, resource: server.resource, login_hint: 'user_42', ...parameters, ...more };
    const { back, verifier } = await followLink(service, clientId, asked);
    const answer = await sendForm(service, 'token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: back?.searchParams.get('code') ?? '',
      redirect_uri: LISTENING,
      code_verifier: verifier,
    });
    return answer.json();
  };
  await storeCredential(acme);
  return { acme, server, clientId, tokens, received: await tokens() };
}

function asResource({ credential }: Pick<Server, 'credential'>, subject: string, form = {}, headers = {}) {
  const sent = { grant_type: GRANT, subject_token: subject, subject_token_type: TYPE, ...form };
  return service.app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    payload: new URLSearchParams(sent).toString(),
  });
}

const errorOf = async (answer: ReturnType<typeof asResource>) => (await answer).json().error;

describe('14 §5 a resource exchanges a token that it received', () => {
  test('for one by which it gets the credential of the person, in the name of the agent', async () => {
    const { acme, server, clientId, received } = await startServer();

    const answer = (await asResource(server, received.access_token)).json();
    const { header, payload } = partsOf(answer.access_token);
    const given = await exchange(service, answer.access_token);

    expect(answer).toEqual({
      access_token: expect.any(String),
      issued_token_type: TYPE,
      token_type: 'Bearer',
      expires_in: 300,
      scope: 'vault:github:read vault:mail:*',
      'urn:service:grant': received['urn:service:grant'],
    });
    expect(header).toMatchObject({ typ: 'resource-exchange+jwt' });
    const inbound = partsOf(received.access_token).payload;
    expect(payload).toMatchObject({ aud: 'https://auth.test', sub: 'user_42', client_id: clientId });
    expect(payload.act).toEqual({ sub: server.resource, act: inbound.act });
    expect(given.json()).toMatchObject({ accessToken: 'upstream-access-1' });
    const [entry] = await entriesOf(acme, 'token.exchanged');
    expect(entry).toMatchObject({
      agentId: clientId,
      grantId: received['urn:service:grant'].grant_id,
      metadata: { resource: server.resource, subjectTokenId: inbound.jti, actor: `resource:${server.id}` },
    });
    const [used] = await entriesOf(acme, 'vault.credential.exchanged');
    expect(used).toMatchObject({ agentId: clientId, metadata: { actor: `resource:${server.id}` } });
    expect((await acme('GET', '/v1/grants')).json().grants).toHaveLength(1);
  });

  test('and may ask for less: fewer scopes, a shorter life', async () => {
    const { server, received } = await startServer();
    const form = { scope: 'vault:mail:read', expires_in: '60', audience: 'https://auth.test' };

    const answer = (await asResource(server, received.access_token, form)).json();

    expect(answer).toMatchObject({ scope: 'vault:mail:read', expires_in: 60 });
    expect((await exchange(service, answer.access_token)).statusCode).toBe(403);
    expect((await asResource(server, received.access_token, { expires_in: '9999' })).json().expires_in).toBe(
      300,
    );
  });

  test('O28 is taken by the exchange of the vault, and nowhere else', async () => {
    const { acme, server, received } = await startServer();
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'Helper' })).json();
    const { access_token: token } = (await asResource(server, received.access_token)).json();
    const bearer = { authorization: `Bearer ${token}` };

    expect((await acme('POST', '/v1/tokens/verify', { token })).json()).toEqual({ valid: false });
    expect((await acme('POST', '/v1/tokens/introspect', { token })).json()).toEqual({ active: false });
    const delegation = { parentGrantToken: token, subAgentId: agentId, scopes: ['vault:github:read'] };
    expect((await acme('POST', '/v1/grants/delegate', delegation)).statusCode).toBe(400);
    expect(await errorOf(asResource(server, token))).toBe('invalid_grant');
    const proxied = await service.app.inject({ url: '/v1/vault/proxy/github/user', headers: bearer });
    expect(proxied.statusCode).toBe(401);
    const connecting = { method: 'POST', url: '/v1/vault/connections', headers: bearer, body: {} } as const;
    expect([401, 404]).toContain((await service.app.inject(connecting)).statusCode);
    expect((await exchange(service, token)).statusCode).toBe(200);
  });

  test('O28 is refused for a token of another audience, developer or resource, and for one of the service itself', async () => {
    const { acme, server, received, tokens } = await startServer();
    const [other, stranger] = [await newServer(acme), await startServer()];
    const own = await tokens({ resource: '' });
    const both = await tokens({ resource: server.resource });

    expect(await errorOf(asResource(other, received.access_token))).toBe('invalid_grant');
    expect(await errorOf(asResource(stranger.server, received.access_token))).toBe('invalid_grant');
    expect(await errorOf(asResource(server, own.access_token ?? 'x.y.z'))).toBe('invalid_grant');
    expect(await errorOf(asResource({ credential: 'bh_res_unknown' }, both.access_token))).toBe(
      'invalid_client',
    );
    expect((await asResource(server, both.access_token)).statusCode).toBe(200);
  });

  test('O28 is refused for a token that is good at the service itself too', async () => {
    const { acme, server, clientId } = await startServer();
    const itself = await newServer(acme, { resource: 'https://auth.test' });
    const { link, verifier } = await pkceLink(clientId, {
      ...{ scope: SCOPE, redirect_uri: LISTENING, login_hint: 'user_42', resource: server.resource },
    });
    const asked = new URL(link);
    asked.searchParams.append('resource', 'https://auth.test');
    const { headers } = await service.app.inject({ url: asked.pathname + asked.search });
    const form = {
      ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: LISTENING },
      code: new URL(String(headers.location)).searchParams.get('code') ?? '',
      code_verifier: verifier,
    };
    const both = (await sendForm(service, 'token', form)).json();
    const { refresh_token: refreshToken } = both;
    const again = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
    const one = (await sendForm(service, 'token', { ...again, resource: server.resource })).json();

    expect(partsOf(both.access_token).payload.aud).toEqual([server.resource, 'https://auth.test']);
    expect(await errorOf(asResource(server, both.access_token))).toBe('invalid_grant');
    expect(await errorOf(asResource(itself, both.access_token))).toBe('invalid_grant');
    expect((await asResource(server, one.access_token)).statusCode).toBe(200); // the control
  });

  test('O28 gets no wider scope, no other audience, and nobody else as its actor', async () => {
    const { server, received } = await startServer();
    const { access_token: token } = received;

    for (const scope of ['vault:slack:read', 'calendar:write', '*', 'vault:credentials:exchange']) {
      expect([scope, await errorOf(asResource(server, token, { scope }))]).toEqual([scope, 'invalid_scope']);
    }
    expect(await errorOf(asResource(server, token, { resource: server.resource }))).toBe('invalid_target');
    expect(await errorOf(asResource(server, token, { actor_token: token }))).toBe('invalid_request');
    expect(await errorOf(asResource(server, token, { authorization_details: '[]' }))).toBe('invalid_request');
    const saml = { requested_token_type: 'urn:ietf:params:oauth:token-type:saml2' };
    expect(await errorOf(asResource(server, token, saml))).toBe('invalid_request');
    const withoutVault = await startServer({ scope: 'calendar:write' });
    expect(await errorOf(asResource(withoutVault.server, withoutVault.received.access_token))).toBe(
      'invalid_scope',
    );
    const wanted = { scope: 'vault:github:read', requested_token_type: TYPE };
    expect((await asResource(server, token, wanted)).statusCode).toBe(200);
  });

  test('O28 ends with the token that the resource received, with the grant, and by itself', async () => {
    const ended = async (end: (server: Awaited<ReturnType<typeof startServer>>) => Promise<unknown>) => {
      const started = await startServer();
      const { access_token: token } = (
        await asResource(started.server, started.received.access_token)
      ).json();
      expect((await exchange(service, token)).statusCode).toBe(200);
      await end(started);
      const again = await asResource(started.server, started.received.access_token);
      return [(await exchange(service, token)).statusCode, again.statusCode];
    };

    expect(
      await ended(({ acme, received }) =>
        acme('POST', '/v1/tokens/revoke', { token: received.access_token }),
      ),
    ).toEqual([401, 400]);
    expect(
      await ended(({ acme, received }) =>
        acme('DELETE', `/v1/grants/${received['urn:service:grant'].grant_id}`),
      ),
    ).toEqual([401, 400]);
    expect(
      await ended(({ acme, clientId }) => acme('PATCH', `/v1/agents/${clientId}`, { status: 'suspended' })),
    ).toEqual([401, 400]);
    expect(await ended(async () => service.advance(300))).toEqual([401, 200]);
  });

  test('is bound to the key of the resource, where it sends a proof', async () => {
    const { server, received } = await startServer();
    const prover = await newProver(service, 'https://auth.test');
    const proof = await prover.proof();

    const answer = (await asResource(server, received.access_token, {}, { dpop: proof })).json();

    expect(answer.token_type).toBe('DPoP');
    expect((await exchange(service, answer.access_token)).statusCode).toBe(401);
    const path = '/v1/vault/credentials/exchange';
    const dpop = await prover.proofAt(path, answer.access_token);
    const headers = { authorization: `DPoP ${answer.access_token}`, dpop };
    const shown = await service.app.inject({
      method: 'POST',
      url: path,
      headers,
      body: { service: 'github' },
    });
    expect(shown.statusCode).toBe(200);
  });
});

describe('a token with fewer scopes than its grant', () => {
  test('O28 is held at the vault to the limits of its grant', async () => {
    const details = [{ type: 'urn:service:tools:v1', connector: 'github', caps: { merge: { per_day: 1 } } }];
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
    await storeCredential(acme);
    const { back, verifier } = await followLink(service, clientId, {
      ...{ scope: 'tool:github:write vault:github:read', login_hint: 'user_42' },
      authorization_details: JSON.stringify(details),
    });
    const first = (
      await sendForm(service, 'token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        code: back?.searchParams.get('code') ?? '',
        redirect_uri: LISTENING,
        code_verifier: verifier,
      })
    ).json();

    const fewer = (
      await sendForm(service, 'token', {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: first.refresh_token,
        scope: 'vault:github:read',
      })
    ).json();

    expect((await exchange(service, first.access_token)).json().details).toEqual({ reason: 'proxy_only' });
    expect(fewer.scope).toBe('vault:github:read');
    expect((await exchange(service, fewer.access_token)).json().details).toEqual({ reason: 'proxy_only' });
  });
});
