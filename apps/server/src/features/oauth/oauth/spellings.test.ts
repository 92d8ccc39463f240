import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partsOf } from '../../../../test/app/flow.ts';
import { basic, newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { followLink, LISTENING, newServer, sendForm } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { fieldsOf } from '../../../platform/http/bodies/bodies.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

let port = 20_000;

/** A server at an origin without a path, in the spelling that its developer chose, and other spellings of it. */
async function startServer(spell = (origin: string) => origin, members: object = {}) {
  port += 1;
  const origin = `http://localhost:${port}`;
  const resource = spell(origin);
  const others = [origin, `${origin}/`, `HTTP://LocalHost:${port}`, `http://LOCALHOST:${port}/`];
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const body = { resource, name: 'Calendar server', ...members };
  const { credential } = (await acme('POST', '/v1/resources', body)).json();
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const codeFor = async (named: string) => {
    const { back, verifier } = await followLink(service, clientId, { resource: named });
    const { code = '', error } = Object.fromEntries(back?.searchParams ?? []);
    const form = { code, client_id: clientId, redirect_uri: LISTENING, code_verifier: verifier };
    return { error, form: { ...form, grant_type: 'authorization_code' } };
  };
  return { acme, clientId, credential, resource, others, codeFor };
}

const tokenOf = (form: Record<string, string>) => sendForm(service, 'token', form);
const audienceOf = (answer: Awaited<ReturnType<typeof tokenOf>>) =>
  answer.statusCode === 200 ? partsOf(answer.json().access_token).payload.aud : answer.json();

describe('agents K5: an origin without a path is one resource', () => {
  test.each([
    ['without a slash', (origin: string) => origin],
    ['with a slash', (origin: string) => `${origin}/`],
    ['in capitals', (origin: string) => origin.replace('localhost', 'LocalHost')],
  ])('registered %s, at the link, the exchange, the refresh and the introspection', async (_name, spell) => {
    const { clientId, credential, resource, others, codeFor } = await startServer(spell);

    for (const named of others) {
      const { form } = await codeFor(named);
      const first = await tokenOf({ ...form, resource: others.at(-1) ?? '' });
      expect([named, audienceOf(first)]).toEqual([named, resource]);
      const { refresh_token } = first.json();
      const refreshed = { grant_type: 'refresh_token', refresh_token, client_id: clientId, resource: named };
      const second = await tokenOf(refreshed);
      expect([named, audienceOf(second)]).toEqual([named, resource]);
      const asked = { token: second.json().access_token };
      const headers = { authorization: `Bearer ${credential}` };
      const told = (await sendForm(service, 'introspect', asked, { headers })).json();
      expect(told).toMatchObject({ active: true, aud: resource });
    }
  });

  test('at a pushed request, whose link may spell it otherwise, and by the channels', async () => {
    const { acme, others, resource } = await startServer();
    const { clientId, clientSecret } = await newClient(acme, { redirectUris: [LISTENING] });
    const headers = basic(clientId, clientSecret);
    const [first = '', second = ''] = others;
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING, resource: second });
    const pushed = Object.fromEntries(new URL(link).searchParams);

    const { request_uri } = (await sendForm(service, 'par', pushed, { headers })).json();
    const query = new URLSearchParams({ client_id: clientId, request_uri, resource: first });
    const { location } = (await service.app.inject({ url: `/oauth/authorize?${query}` })).headers;
    const asked = { scope: 'calendar:read', resource: second, login_hint: 'user_42' };
    const device = await sendForm(service, 'device_authorization', asked, { headers });
    const backchannel = await sendForm(service, 'bc-authorize', asked, { headers });

    expect(new URL(String(location)).searchParams.get('code')).toMatch(/./);
    expect([device.statusCode, backchannel.statusCode]).toEqual([200, 200]);
    const { grants } = (await acme('GET', '/v1/grants')).json();
    const all = await Promise.all(
      grants.map(async ({ grantId }: { grantId: string }) =>
        (await acme('GET', `/v1/grants/${grantId}`)).json(),
      ),
    );
    expect(all.map(({ audience }) => audience)).toEqual(all.map(() => resource));
  });

  test('for the limits of the resource: a token for another spelling needs the proof as well', async () => {
    const { others, codeFor } = await startServer((origin) => origin, { dpopRequired: true });

    for (const named of others) {
      const { form } = await codeFor(named);
      expect((await tokenOf(form)).json()).toMatchObject({ error: 'invalid_dpop_proof' });
    }
  });

  test('for its registration: nobody registers another spelling', async () => {
    const { others } = await startServer((origin) => `${origin}/`);
    const other = await service.asDeveloper({ mode: 'sandbox' });

    for (const resource of others) {
      const uri = resource.replace('HTTP:', 'http:');
      const refused = await other('POST', '/v1/resources', { resource: uri, name: 'Another' });
      expect([uri, refused.statusCode]).toEqual([uri, 409]);
    }
  });

  test('for verification, and a part of it is none', async () => {
    const { acme, others, codeFor } = await startServer();
    const token = (await tokenOf((await codeFor(others[1] ?? '')).form)).json().access_token;
    const verify = async (audience: string) =>
      (await acme('POST', '/v1/tokens/verify', { token, audience })).json();

    for (const audience of others) expect((await verify(audience)).valid).toBe(true);
    for (const audience of [`${others[0]}/mcp`, `${others[0]}0`, 'http://localhost'])
      expect(await verify(audience)).toEqual({ valid: false, reason: 'audience' });
  });

  test('with a path it stays two', async () => {
    const { codeFor } = await startServer((origin) => `${origin}/mcp`);
    const at = `http://localhost:${port}`;

    expect((await codeFor(`${at}/mcp`)).error).toBeUndefined();
    expect((await codeFor(`HTTP://LOCALHOST:${port}/mcp`)).error).toBeUndefined();
    expect((await codeFor(`${at}/mcp/`)).error).toBe('invalid_target');
    expect((await codeFor(`${at}/MCP`)).error).toBe('invalid_target');
    expect((await codeFor(at)).error).toBe('invalid_target');
  });
});

/** Members that clients write without a value, because they have not set them. */
const EMPTY = {
  ...{ client_secret: '', client_assertion: '', client_assertion_type: '', scope: '', resource: '' },
  ...{ login_hint: '', purpose: '', authorization_details: '', dpop_jkt: '', max_age: '', request: '' },
  ...{
    response_mode: '',
    prompt: '',
    acr_values: '',
    ui_locales: '',
    credential_format: '',
    principal_id: '',
  },
  ...{ audience: '', actor_token: '', actor_token_type: '', requested_token_type: '', expires_in: '' },
  ...{
    token_type_hint: '',
    binding_message: '',
    requested_expiry: '',
    login_hint_token: '',
    id_token_hint: '',
  },
};
const { scope: _, ...UNSCOPED } = EMPTY;
const { login_hint: __, ...UNHINTED } = UNSCOPED;

async function startClient(authMethod = 'none') {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const redirectUris = [LISTENING];
  return { acme, ...(await newClient(acme, { authMethod, redirectUris })), ...(await newServer(acme)) };
}

describe('agents K2: a parameter without a value counts as left out', () => {
  test('in a link, in the exchange of its code, in a refresh, an introspection and a revocation', async () => {
    const { clientId } = await startClient();
    const client = { client_id: clientId };

    const { back, verifier } = await followLink(service, clientId, { ...UNSCOPED, request_uri: '' });
    const code = back?.searchParams.get('code') ?? '';
    const byCode = { code, redirect_uri: LISTENING, code_verifier: verifier, ...client };
    const first = await sendForm(service, 'token', { ...EMPTY, ...byCode, grant_type: 'authorization_code' });
    const { refresh_token } = first.json();
    const again = { ...EMPTY, ...client, grant_type: 'refresh_token', refresh_token };
    const second = await sendForm(service, 'token', again);
    const asked = { ...EMPTY, ...client, token: second.json().access_token };
    const told = await sendForm(service, 'introspect', asked);
    const ended = await sendForm(service, 'revoke', asked);

    expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
    expect([first.json().scope, second.json().scope]).toEqual(['calendar:read', 'calendar:read']);
    expect([told.json().active, ended.statusCode]).toEqual([true, 200]);
    expect((await sendForm(service, 'introspect', asked)).json()).toEqual({ active: false });
  });

  test('in pushed requests, of devices and by backchannel, beside a header too', async () => {
    const { clientId, clientSecret } = await startClient('client_secret_basic');
    const headers = basic(clientId, clientSecret);
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING, ...UNSCOPED, request_uri: '' });
    const pushed = Object.fromEntries(new URL(link).searchParams);
    const scoped = { ...UNSCOPED, scope: 'calendar:read' };

    const par = await sendForm(service, 'par', { ...pushed, client_id: '' }, { headers });
    const device = await sendForm(service, 'device_authorization', scoped, { headers });
    const hinted = { ...UNHINTED, scope: 'calendar:read', login_hint: 'user_42', user_code: '' };
    const backchannel = await sendForm(service, 'bc-authorize', hinted, { headers });

    expect([par.statusCode, device.statusCode, backchannel.statusCode]).toEqual([201, 200, 200]);
  });

  test('in a token exchange', async () => {
    const { acme, clientId, clientSecret } = await startClient('client_secret_basic');
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'Parent' })).json();
    const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const { code } = (await acme('POST', '/v1/authorize', asked)).json();
    const { grantToken } = (await acme('POST', '/v1/token', { agentId, code })).json();
    const form = {
      ...EMPTY,
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: grantToken,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };

    const answer = await sendForm(service, 'token', form, { headers: basic(clientId, clientSecret) });

    expect([answer.statusCode, answer.json().scope]).toEqual([200, 'calendar:read']);
  });

  test('and is not there twice, nor a further resource', async () => {
    const { clientId, resource } = await startClient();
    const link = await pkceLink(clientId, { redirect_uri: LISTENING, resource });
    const url = new URL(link.link);
    for (const name of ['resource', 'scope', 'state']) url.searchParams.append(name, '');
    const visit = async () =>
      new URL(String((await service.app.inject({ url: url.pathname + url.search })).headers.location));

    const empty = (await visit()).searchParams;
    url.searchParams.append('scope', 'calendar:write');
    const twice = await service.app.inject({ url: url.pathname + url.search });

    expect([empty.get('error'), empty.get('state'), empty.get('code')?.length]).toEqual([
      null,
      null,
      expect.any(Number),
    ]);
    expect(twice.statusCode).toBe(400);
  });

  test('high 3: and a list of thousands is read in the time of one', () => {
    const body = new URLSearchParams('resource=a&'.repeat(5900));
    const began = performance.now();
    const { resource } = fieldsOf(body, ['resource']);
    expect(performance.now() - began).toBeLessThan(100); // copied for each, it is 18 million steps
    expect(resource).toHaveLength(5900);
  });

  test('where it is needed, it is missing', async () => {
    const { clientId } = await startClient();
    const errorOf = async (form: Record<string, string>) => (await sendForm(service, 'token', form)).json();

    expect(await errorOf({ grant_type: '', client_id: clientId })).toMatchObject({
      error_description: 'Send `grant_type`.',
    });
    expect(
      await errorOf({ grant_type: 'refresh_token', refresh_token: '', client_id: clientId }),
    ).toMatchObject({
      error_description: 'Send `refresh_token`.',
    });
    expect(await errorOf({ grant_type: 'refresh_token', client_id: '' })).toMatchObject({
      error: 'invalid_client',
    });
  });
});
