import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failingStatements, gone } from '../../../../test/app/failing-statements.ts';
import { newClient, pkceLink, REDIRECT, startCustomer } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import {
  besideClients,
  followLink,
  LISTENING,
  newServer,
  publishClient,
  sendForm,
  tokensOf,
} from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const SITE = 'https://phish.example/callback';
const redirectUris = [SITE, LISTENING, 'com.example.editor:/callback'];

let service: Service;
beforeAll(async () => {
  const env = { ...besideClients, RATE_LIMIT_OAUTH_REGISTER: '1000', RESOURCES_ALLOW_UNVERIFIED: 'true' };
  service = await startApp({ env, isShared: true });
});
afterAll(() => service.stop());

/** A client that nobody here knows, by each of its two ways. */
const strangers: Readonly<Record<string, () => Promise<string>>> = {
  'registered itself': async () => {
    const body = { client_name: 'Your bank', redirect_uris: redirectUris };
    const answer = await service.app.inject({ method: 'POST', url: '/oauth/register', payload: body });
    return String(answer.json().client_id);
  },
  'published a document': async () =>
    (await publishClient({ client_name: 'Your bank', redirect_uris: redirectUris })).clientId,
};

const sent = async (clientId: string, parameters: Record<string, string>) => {
  const { answer } = await followLink(service, clientId, {
    redirect_uri: SITE,
    state: 'kept',
    ...parameters,
  });
  return answer;
};

describe('O1, RFC 9700 §4.11.2: a link that only fails leads to no site of a client that', () => {
  test.each(Object.keys(strangers))('%s', async (way) => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { resource } = await newServer(acme);
    const clientId = (await strangers[way]?.()) ?? '';
    const faults: Readonly<Record<string, Record<string, string>>> = {
      invalid_target: {},
      'invalid_target ': { resource: 'https://nobody.test/mcp' },
      unsupported_response_type: { resource, response_type: 'token' },
      invalid_request: { resource, code_challenge_method: 'plain' },
      invalid_scope: { resource, scope: 'call-0800"now' },
      'invalid_scope ': { resource, scope: '' },
    };

    for (const [name, parameters] of Object.entries(faults)) {
      const { statusCode, headers, body } = await sent(clientId, parameters);
      expect([name, statusCode, headers.location]).toEqual([name, 400, undefined]);
      expect(headers['content-type']).toContain('text/html');
      expect(body).toContain(
        `phish.example sent you here with a request that the service refuses (${name.trim()})`,
      );
      const href = /<a href="([^"]*)" rel="noreferrer">Go back to phish.example</.exec(body)?.[1] ?? '';
      const back = new URL(href.replaceAll('&amp;', '&'));
      expect(`${back.origin}${back.pathname}`).toBe(SITE);
      expect([back.searchParams.get('error'), back.searchParams.get('state')]).toEqual([name.trim(), 'kept']);
      expect(body.replace(/<a .*<\/a>/, '')).not.toMatch(/0800|<script|http-equiv|Your bank/);
    }

    const { searchParams } = new URL((await pkceLink(clientId, { redirect_uri: SITE })).link);
    const program = await service.app.inject({ url: `/oauth/authorize?${searchParams}` });
    expect([program.statusCode, program.json().error, program.headers.location]).toEqual([
      400,
      'invalid_target',
      undefined,
    ]);
    const form = Object.fromEntries(searchParams);
    expect((await sendForm(service, 'authorize', form)).statusCode).toBe(400);

    for (const redirect_uri of [LISTENING, 'com.example.editor:/callback']) {
      const { statusCode, headers } = await sent(clientId, { redirect_uri });
      expect([redirect_uri, statusCode]).toEqual([redirect_uri, 303]);
      expect(headers.location).toContain(`${redirect_uri}?error=invalid_target`);
    }
    const good = await sent(clientId, { resource }); // the sandbox approves by itself for other clients
    expect([good.statusCode, String(good.headers.location)]).toEqual([
      303,
      expect.stringContaining('/consent?req='),
    ]);
  });

  test('sends a browser to the site of a client that a developer has registered', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [SITE] });

    const { statusCode, headers } = await sent(clientId, { response_type: 'token' });

    expect([statusCode, String(headers.location)]).toEqual([
      303,
      expect.stringMatching(/^https:\/\/phish\.example\/callback\?error=unsupported_response_type/),
    ]);
  });

  test('sends a person who has decided to the site of a client', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { resource } = await newServer(acme);
    const clientId = (await strangers['registered itself']?.()) ?? '';
    const { headers } = await sent(clientId, { resource });
    const person = personOn(service);
    await person.open(String(headers.location));

    const denied = await person.deny(linkParts(String(headers.location)).id);

    expect(denied.json().redirectTo).toMatch(/^https:\/\/phish\.example\/callback\?error=access_denied/);
  });
});

test('O1, RFC 9700 §4.11.2: a browser that has signed in is sent to the site, and one that has only the link is not', async () => {
  const { service, acme, person, visit, signIn } = await startCustomer({
    RESOURCES_ALLOW_UNVERIFIED: 'true',
  });
  const { resource } = await newServer(acme);
  const body = { redirect_uris: [SITE] };
  const { client_id: clientId } = (
    await service.app.inject({ method: 'POST', url: '/oauth/register', payload: body })
  ).json();
  const asked = { redirect_uri: SITE, resource, scope: '' };
  const login = await visit((await pkceLink(clientId, asked)).link);
  const stolen = new URL(login).searchParams.get('return_to') ?? '';

  const refused = await person.call('GET', stolen, { headers: { accept: 'text/html' } });
  const back = await visit(await signIn(await visit((await pkceLink(clientId, asked)).link)));

  expect(stolen).toMatch(/^\/oauth\/authorize\?client_id=dcr_\w+&request_uri=/);
  expect([refused.statusCode, refused.headers.location]).toEqual([400, undefined]);
  expect(back).toMatch(/^https:\/\/phish\.example\/callback\?error=invalid_scope/);
});

describe('14 §3: a failure of the service once the address is known to be the client’s', () => {
  test.each([
    ['server_error', undefined],
    ['temporarily_unavailable', gone],
  ] as const)('goes to the client as %s', async (name, failure) => {
    const { dbAs, failEach } = failingStatements(failure);
    const failing = await startApp({ dbAs });
    const acme = await failing.asDeveloper({ mode: 'sandbox' });
    const { clientId } = await newClient(acme, { authMethod: 'none' });
    const { pathname, search } = new URL((await pkceLink(clientId, { state: 'kept' })).link);
    const told = new Set<string>();

    const { answer } = await failEach(
      () => failing.app.inject(pathname + search),
      async ({ statusCode, headers }) => {
        const back = headers.location === undefined ? undefined : new URL(headers.location).searchParams;
        told.add([statusCode, back?.get('error'), back?.get('state')].join(' '));
      },
    );

    expect(told).toContain(`303 ${name} kept`);
    expect([...told].filter((each) => !each.startsWith('303'))).toHaveLength(1); // until the client is found
    expect(String(answer.headers.location)).toMatch(new RegExp(`^${REDIRECT}\\?code=`));
  });
});

test('RFC 7009 §2.2.1: an end that could not be written is no success, and the token lives', async () => {
  const { dbAs, failEach } = failingStatements(gone);
  const failing = await startApp({ dbAs });
  const acme = await failing.asDeveloper({ mode: 'sandbox' });
  const { resource } = await newServer(acme);
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const { access_token: token } = (await tokensOf(failing, clientId, resource)).json();
  const isValid = async () => (await acme('POST', '/v1/tokens/verify', { token })).json().valid;

  const { answer, failures } = await failEach(
    () => sendForm(failing, 'revoke', { client_id: clientId, token }),
    async ({ statusCode, body }) => {
      expect([statusCode, JSON.parse(body).error]).toEqual([503, 'temporarily_unavailable']);
      expect(await isValid()).toBe(true);
    },
  );

  expect([answer.statusCode, await isValid()]).toEqual([200, false]);
  expect(failures).toBeGreaterThan(1);
});
