import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import programs from '../../../../test/app/mcp-programs.json' with { type: 'json' };
import { linkParts, personOn } from '../../../../test/app/person.ts';
import {
  besideClients,
  followLink,
  newServer,
  publishClient,
  sendForm,
} from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  const env = { ...besideClients, RATE_LIMIT_OAUTH_REGISTER: '1000', RATE_LIMIT_OAUTH_CLIENT_FETCH: '1000' };
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
