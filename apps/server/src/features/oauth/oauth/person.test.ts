import { expect, test } from 'vitest';
import { partsOf } from '../../../../test/app/flow.ts';
import { DEVICE_GRANT, pkceLink, REDIRECT, startCustomer } from '../../../../test/app/oauth.ts';
import { linkParts } from '../../../../test/app/person.ts';
import { besideClients, newServer, publishClient, sendForm } from '../../../../test/app/published.ts';

test('a person signs in at their provider, is asked, and the client learns who it was', async () => {
  const { service, clientId, clientSecret, person, visit, signIn } = await startCustomer();
  const { link, verifier } = await pkceLink(clientId);

  const login = await visit(link);
  const back = await signIn(login);
  const page = await visit(back);
  const { id } = linkParts(page);
  await person.open(page);
  const { redirectTo } = (await person.approve(id)).json();

  expect(login).toContain('https://auth.test/sso/login?org=');
  expect(back).toMatch(/^\/oauth\/authorize\?client_id=ag_\w+&request_uri=/);
  expect(new URL(page, 'https://auth.test').pathname).toBe('/consent');
  const code = new URL(redirectTo).searchParams.get('code') ?? '';
  const answer = await service.app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    }).toString(),
  });
  expect(partsOf(answer.json().access_token).payload.sub).toBe('ada');
  expect(await visit((await pkceLink(clientId)).link)).toContain('/consent?req='); // the browser is signed in now
  expect(await visit((await pkceLink(clientId, { prompt: 'login' })).link)).toContain('prompt=login');
});

test('a browser that comes back without a session is not sent away again', async () => {
  const { clientId, person, visit, signIn } = await startCustomer();
  const back = await signIn(await visit((await pkceLink(clientId)).link));
  person.cookies.clear();

  const refused = new URL(await visit(back));

  expect(`${refused.origin}${refused.pathname}`).toBe(REDIRECT);
  expect(refused.searchParams.get('error')).toBe('access_denied');
});

test('a person who enters the code of a device signs in first, and comes back with the code', async () => {
  const { service, clientId, clientSecret, person, signIn } = await startCustomer();
  const { user_code: userCode } = (
    await service.app.inject({
      method: 'POST',
      url: '/oauth/device_authorization',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: new URLSearchParams({ scope: 'calendar:read' }).toString(),
    })
  ).json();
  const uiLocales = 'de-AT ja';
  const enter = async () =>
    String((await person.call('POST', '/v1/device', { body: { userCode, uiLocales } })).json().redirectTo);

  const login = await enter();
  const back = await signIn(login);
  const page = await enter();
  const { request } = (await person.open(page)).json();

  expect(login).toContain('https://auth.test/sso/login?org=');
  expect(new URL(login).searchParams.get('ui_locales')).toBe(uiLocales);
  expect(back).toBe(`/device?user_code=${userCode}&ui_locales=de-AT+ja`);
  expect(page).toMatch(/\/consent\?req=\w+&ui_locales=de-AT\+ja#ticket=/);
  expect(request).toMatchObject({ channel: 'device', comparedText: userCode, principalId: 'ada' });
  expect((await person.approve(linkParts(page).id)).json()).toEqual({ status: 'approved' });
});

test('a device gets no code where nobody can sign in, also of a client that asks for the first time', async () => {
  const env = { ...besideClients, RESOURCES_ALLOW_UNVERIFIED: 'true' };
  const { service, acme, connectionId } = await startCustomer(env);
  const { resource } = await newServer(acme);
  const { clientId } = await publishClient({ grant_types: ['authorization_code', DEVICE_GRANT] });
  const ask = () =>
    sendForm(service, 'device_authorization', { client_id: clientId, scope: 'calendar:read', resource });
  expect((await ask()).statusCode).toBe(200); // the control

  await acme('PATCH', `/v1/sso/connections/${connectionId}`, { status: 'inactive' });

  expect((await ask()).json()).toMatchObject({
    error: 'access_denied',
    error_description: expect.stringContaining('needs an active connection'),
  });
});
