import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newClient, pkceLink, REDIRECT } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import {
  besideClients,
  LISTENING,
  newServer,
  publishClient,
  sendForm,
} from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ env: { ...besideClients, PLAN_FREE_OPEN_REQUESTS: '1' }, isShared: true });
});
afterAll(() => service.stop());

/** A public client, and the form of a request of it. */
async function asking() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  const { link } = await pkceLink(clientId, { state: 'kept', prompt: 'consent' });
  const form = Object.fromEntries(new URL(link).searchParams);
  return { acme, clientId, form };
}

const follow = async (parameters: Record<string, string>) => {
  const query = new URLSearchParams(parameters);
  const { statusCode, headers } = await service.app.inject(`/oauth/authorize?${query}`);
  return { statusCode, back: headers.location === undefined ? undefined : new URL(headers.location) };
};

describe('RFC 9126 §4: a link with a pushed request', () => {
  test.each<[string, Record<string, string>]>([
    ['another scope', { scope: 'mail:send' }],
    ['another state', { state: 'other' }],
    ['a resource that was not pushed', { resource: 'http://localhost/mcp' }],
    ['another challenge', { code_challenge: 'A'.repeat(43) }],
    ['a person', { principal_id: 'user_7' }],
  ])('is refused with %s beside it, and by itself it is followed', async (_, others) => {
    const { form, clientId } = await asking();
    const push = async () => String((await sendForm(service, 'par', form)).json().request_uri);
    const alone = { client_id: clientId, request_uri: await push() };

    const refused = await follow({ client_id: clientId, request_uri: await push(), ...others });
    const followed = await follow(alone);

    expect(refused.statusCode).toBe(303);
    const { searchParams, origin, pathname } = refused.back ?? new URL('about:blank');
    expect(`${origin}${pathname}`).toBe(REDIRECT);
    expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['invalid_request', 'kept']);
    expect(searchParams.get('error_description')).toContain(Object.keys(others)[0]);
    expect(followed.back?.pathname).toBe('/consent');
  });

  test('is followed with the same parameters beside it', async () => {
    const { form } = await asking();
    const { request_uri } = (await sendForm(service, 'par', form)).json();

    expect((await follow({ ...form, request_uri })).back?.pathname).toBe('/consent');
  });
});

describe('RFC 9126 §2.1: a pushed request', () => {
  const FULL = { error: 'access_denied', error_description: expect.stringMatching(/^PLAN_LIMIT_EXCEEDED/) };

  test('is refused at once where the plan has no room for another open request', async () => {
    const { form, clientId, acme } = await asking();
    const first = (await sendForm(service, 'par', form)).json();
    const second = (await sendForm(service, 'par', form)).json(); // nobody has followed the first, so it has no place
    const { back } = await follow({ client_id: clientId, request_uri: first.request_uri });

    const refused = await sendForm(service, 'par', form);
    const late = await follow({ client_id: clientId, request_uri: second.request_uri });

    expect([refused.statusCode, refused.json()]).toEqual([400, FULL]);
    expect(late.back?.searchParams.get('error')).toBe('access_denied');
    const { id } = linkParts(back?.href ?? '');
    await personOn(service).open(back?.href ?? '');
    await acme('DELETE', `/v1/authorize/${id}`);
    expect((await sendForm(service, 'par', form)).statusCode).toBe(201);
  });

  test('is held to the plan where its client describes itself, before anybody has approved it', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { resource } = await newServer(acme);
    const { clientId } = await publishClient();
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING, resource, prompt: 'consent' });
    const form = Object.fromEntries(new URL(link).searchParams);
    const early = await sendForm(service, 'par', form);
    await follow({ client_id: clientId, request_uri: early.json().request_uri });
    const { clientId: unseen } = await publishClient();

    const known = await sendForm(service, 'par', form);
    const unknown = await sendForm(service, 'par', { ...form, client_id: unseen });

    expect(early.statusCode).toBe(201);
    expect([known.json(), unknown.json()]).toEqual([FULL, FULL]);
    expect((await acme('GET', '/v1/agents')).json().agents).toEqual([]);
  });

  test('is refused where its agent is stopped', async () => {
    const { form, clientId, acme } = await asking();
    await acme('PATCH', `/v1/agents/${clientId}`, { status: 'suspended' });

    expect((await sendForm(service, 'par', form)).statusCode).toBeGreaterThanOrEqual(400);
  });
});

describe('the page of a client whose every address is on this machine', () => {
  test.each([
    [['http://127.0.0.1:8080/cb'], true],
    [['http://127.0.0.1:8080/cb', REDIRECT], false],
  ])('says so for an agent of a developer too: %j', async (redirectUris, isLocal) => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris });
    const [redirect_uri = ''] = redirectUris;
    const { link } = await pkceLink(clientId, { redirect_uri, prompt: 'consent' });
    const { back } = await follow(Object.fromEntries(new URL(link).searchParams));

    const { request } = (await personOn(service).open(back?.href ?? '')).json();

    expect(request.client).toMatchObject({ vouchedBy: 'developer', isLocal });
  });
});

describe('a path of OAuth that is not there', () => {
  test.each<['GET' | 'PUT', string, number, string | undefined]>([
    ['GET', '/oauth/nothing', 404, undefined],
    ['GET', '/oauth/token', 405, 'POST'],
    ['PUT', '/oauth/par', 405, 'POST'],
  ])('RFC 6749 §5.2: %s %s is answered by an error of OAuth', async (method, url, status, allow) => {
    const answer = await service.app.inject({ method, url });

    expect([answer.statusCode, answer.headers.allow]).toEqual([status, allow]);
    expect(answer.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
  });

  test('elsewhere the error is the service’s own', async () => {
    expect((await service.app.inject('/v1/nothing')).json()).toMatchObject({ code: 'NOT_FOUND' });
  });
});
