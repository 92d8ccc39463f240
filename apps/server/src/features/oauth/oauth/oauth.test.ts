import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import programs from '../../../../test/app/mcp-programs.json' with { type: 'json' };
import { askWith, discover, follow, newClient, newResource, REDIRECT } from '../../../../test/app/oauth.ts';
import { hintClaims, linkParts, newVoucher, personOn } from '../../../../test/app/person.ts';
import {
  besideClients,
  followLink,
  newServer,
  publishClient,
  sendForm,
} from '../../../../test/app/published.ts';
import { statementsOf } from '../../../../test/app/round-trips.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const RESOURCE = 'http://localhost/mcp';
let service: Awaited<ReturnType<typeof startListening>>;

beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

async function confidential() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId, clientSecret } = await newClient(acme);
  const config = await discover(service.url, clientId, openid.ClientSecretBasic(clientSecret));
  return { acme, clientId, config };
}

test('an independent client gets tokens by a code, refreshes, introspects and revokes them', async () => {
  const { acme, clientId, config } = await confidential();
  await newResource(acme, RESOURCE);
  const { link, checks } = await askWith(config, { resource: RESOURCE });

  const back = await follow(link);
  const tokens = await openid.authorizationCodeGrant(config, back, checks);

  expect(`${back.origin}${back.pathname}`).toBe(REDIRECT);
  expect(back.searchParams.get('iss')).toBe(service.url);
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'calendar:read', expires_in: 86_400 });
  const { header, payload } = partsOf(tokens.access_token);
  expect(header).toMatchObject({ typ: 'at+jwt' });
  expect(payload).toMatchObject({
    iss: service.url,
    aud: RESOURCE,
    client_id: clientId,
    sub: 'sandbox-user',
  });

  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
  expect(partsOf(refreshed.access_token).payload).toMatchObject({ aud: RESOURCE, scope: 'calendar:read' });

  const told = await openid.tokenIntrospection(config, refreshed.access_token);
  expect(told).toMatchObject({ active: true, client_id: clientId, aud: RESOURCE, token_type: 'Bearer' });
  await openid.tokenRevocation(config, refreshed.refresh_token ?? '');
  expect(await openid.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
  expect(await openid.tokenIntrospection(config, refreshed.access_token)).toEqual({ active: false });
});

test('a person decides for the principal that a client has pushed, and the client gets the code', async () => {
  const voucher = await newVoucher();
  const acme = await service.asDeveloper();
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  const { clientId, clientSecret } = await newClient(acme);
  const config = await discover(service.url, clientId, openid.ClientSecretBasic(clientSecret));
  const { link, checks } = await askWith(config, { principal_id: 'user_42' });
  const unnamed = await askWith(config);

  const page = await follow(await openid.buildAuthorizationUrlWithPAR(config, link.searchParams));
  const { id } = linkParts(page.href);
  const person = personOn(service);
  const asked = { id, principalId: 'user_42' };
  await person.open(page.href, await voucher.hint(hintClaims(service, acme.developerId, asked)));
  const { redirectTo } = (await person.approve(id)).json();

  expect(page.pathname).toBe('/consent');
  const tokens = await openid.authorizationCodeGrant(config, new URL(redirectTo), checks);
  expect(partsOf(tokens.access_token).payload).toMatchObject({ sub: 'user_42', aud: service.url });
  const back = await follow(unnamed.link);
  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: 'access_denied',
    error_description: 'no sign-in method',
  });
});

test('a token by OAuth takes the trips of the native call, and one to find the client', async () => {
  const { config } = await confidential();
  const { link, checks } = await askWith(config);
  const back = await follow(link);
  let refreshToken = '';

  const byCode = await statementsOf(async () => {
    refreshToken = (await openid.authorizationCodeGrant(config, back, checks)).refresh_token ?? '';
  });
  const byRefreshToken = await statementsOf(() => openid.refreshTokenGrant(config, refreshToken));

  expect(byCode).toEqual(['find_oauth_client', 'find_redeemable', 'write_together']);
  expect(byRefreshToken).toEqual(['find_oauth_client', 'find_refreshable', 'write_together']);
});

describe('programs of others', () => {
  let service: Service;
  beforeAll(async () => {
    const env = {
      ...besideClients,
      RATE_LIMIT_OAUTH_REGISTER: '1000',
      RATE_LIMIT_OAUTH_CLIENT_FETCH: '1000',
    };
    service = await startApp({ env, isShared: true });
  });
  afterAll(() => service.stop());

  type Program = (typeof programs)[number];

  async function clientIdOf({ program, how, redirectUris }: Program): Promise<string> {
    const metadata = { client_name: program, redirect_uris: redirectUris };
    if (how === 'cimd') return (await publishClient(metadata)).clientId;
    const answer = await service.app.inject({ method: 'POST', url: '/oauth/register', body: metadata });
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json().client_id;
  }

  /** The forms of addresses that editors, terminals and assistants register; each case names where it was seen. */
  describe.each(programs)('$program', (program) => {
    test.each(program.asks)('gets its tokens at %s', async (redirectUri) => {
      const acme = await service.asDeveloper({ mode: 'sandbox' });
      const { resource } = await newServer(acme, { scopes: ['calendar:read'] });
      const clientId = await clientIdOf(program);
      const asked = { resource, redirect_uri: redirectUri, prompt: 'consent' };

      const { back, verifier } = await followLink(service, clientId, asked);
      const person = personOn(service);
      const { request } = (await person.open(back?.href ?? '')).json();
      const { redirectTo } = (await person.approve(linkParts(back?.href ?? '').id)).json();
      const tokens = await sendForm(service, 'token', {
        ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri },
        ...{ code: new URL(redirectTo).searchParams.get('code') ?? '', code_verifier: verifier },
      });

      expect(redirectTo.startsWith(`${redirectUri}?code=`)).toBe(true);
      expect(tokens.statusCode, tokens.body).toBe(200);
      expect(request.client.isLocal).toBe(program.redirectUris.every((uri) => !uri.startsWith('https:')));
      const changed = redirectUri.replace(/(.)$/, '$1x');
      const elsewhere = await followLink(service, clientId, { ...asked, redirect_uri: changed });
      expect(elsewhere.answer.statusCode).toBe(400);
    });
  });
});
