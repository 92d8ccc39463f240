import { afterAll, beforeAll, expect, test } from 'vitest';
import { entriesOf } from '../../../../test/app/flow.ts';
import { newClient } from '../../../../test/app/oauth.ts';
import { personOn } from '../../../../test/app/person.ts';
import { followLink, LISTENING, newServer, sendForm } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const CIBA = 'urn:openid:params:grant-type:ciba';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS = 'urn:ietf:params:oauth:token-type:access_token';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** A client of a new developer, whose calls it counts. */
async function counted() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const client = async () => {
    const { clientId, clientSecret = '' } = await newClient(acme, {
      ...{ authMethod: 'client_secret_post', redirectUris: [LISTENING] },
    });
    return { client_id: clientId, client_secret: clientSecret };
  };
  const own = await client();
  /** Counts of the day. */
  const counts = async () => {
    const { tokenExchanges, verifications } = (await acme('GET', '/v1/usage')).json();
    return { tokenExchanges, verifications };
  };
  const codeForm = async () => {
    const { back, verifier } = await followLink(service, own.client_id, {});
    const code = back?.searchParams.get('code') ?? '';
    return { grant_type: 'authorization_code', redirect_uri: LISTENING, code, code_verifier: verifier };
  };
  return { acme, own, client, counts, codeForm };
}

async function send(path: string, form: Record<string, string>, bearer?: string) {
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const answer = await sendForm(service, path, form, { headers });
  return { status: answer.statusCode, ...answer.json() };
}

test('a new grant by OAuth counts as an exchange; a refresh, a delegation and a refusal do not', async () => {
  const { acme, own, client, counts, codeForm } = await counted();
  const exchanges = async () => (await counts()).tokenExchanges;
  const token = (form: Record<string, string>) => send('token', { ...form, ...own });

  const code = await codeForm();
  const tokens = await token(code);
  expect(await exchanges()).toBe(1);
  const refusals = [await token(code), await token({ grant_type: 'authorization_code' })];
  const refreshed = await token({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
  const subject = { subject_token: refreshed.access_token, subject_token_type: ACCESS };
  const part = await send('token', { grant_type: EXCHANGE, ...subject, ...(await client()) });
  expect([...refusals, refreshed, part].map(({ status }) => status)).toEqual([400, 400, 200, 200]);
  expect(await exchanges()).toBe(1);

  const asked = { scope: 'calendar:read', login_hint: 'ada', ...own };
  const device = await send('device_authorization', asked);
  const poll = () => token({ grant_type: DEVICE, device_code: device.device_code });
  const pending = await poll();
  const entry = { body: { userCode: device.user_code } };
  const { redirectTo } = (await personOn(service).call('POST', '/v1/device', entry)).json();
  await acme('POST', `/v1/authorize/${new URL(redirectTo).searchParams.get('req')}/approve`, {});
  service.advance(5);
  expect([pending.error, await exchanges(), (await poll()).status]).toEqual([
    'authorization_pending',
    1,
    200,
  ]);
  expect(await exchanges()).toBe(2);

  const backchannel = await send('bc-authorize', asked);
  const requested = await entriesOf(acme, 'authorization.requested');
  const { authRequestId } = requested.find(({ metadata }) => metadata.channel === 'ciba')?.metadata ?? {};
  await acme('POST', `/v1/authorize/${authRequestId}/approve`, {});
  const given = await token({ grant_type: CIBA, auth_req_id: backchannel.auth_req_id });
  expect([given.status, await exchanges()]).toEqual([200, 3]);
});

test('a question about a token counts for the account that asks, and for nobody where there is none', async () => {
  const { acme, own, counts, codeForm } = await counted();
  const verifications = async () => (await counts()).verifications;
  const { credential } = await newServer(acme);
  const { access_token: known } = await send('token', { ...(await codeForm()), ...own });
  const registered = await service.app.inject({
    ...{ method: 'POST', url: '/oauth/register', payload: { redirect_uris: [LISTENING] } },
  });
  const stranger = String(registered.json().client_id);

  expect((await send('introspect', { token: known, ...own })).active).toBe(true);
  expect(await verifications()).toBe(1);
  expect((await send('introspect', { token: 'unknown' }, credential)).active).toBe(false);
  expect((await send('introspect', { token: known }, acme.apiKey)).active).toBe(true);
  expect(await verifications()).toBe(3);
  const others = [
    await send('introspect', { token: 'unknown', client_id: stranger }),
    await send('introspect', { token: known }, 'bh_res_wrong'),
    await send('introspect', { ...own }),
  ];
  expect(others.map(({ status }) => status)).toEqual([200, 401, 400]);
  expect(await verifications()).toBe(3);
});
