import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { entriesOf, partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askWith,
  discover,
  errorIn,
  follow,
  formOf,
  newClient,
  newResource,
  post,
  toPresent,
  victimOn,
  visit,
} from '../../../../test/app/oauth.ts';
import { newVoucher } from '../../../../test/app/person.ts';
import { newProver } from '../../../../test/app/prover.ts';
import { LISTENING } from '../../../../test/app/published.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const ONE = 'http://localhost/one';
const TWO = 'http://localhost/two';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  // In memory, so that the memory of what was used ends by the clock of the test.
  service = await startListening({
    isShared: true,
    store: 'memory',
    startsAt: new Date().toISOString(),
  });
});
afterAll(() => service.stop());

const at = (path: string) => `${service.url}/oauth/${path}`;
const basic = ({ clientId, clientSecret = '' }: { clientId: string; clientSecret?: string | undefined }) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
});

async function newPublic(acme: Developer) {
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  return { clientId, config: await discover(service.url, clientId) };
}
type Public = Awaited<ReturnType<typeof newPublic>>;

async function rootOf({ config }: Public, resources: readonly string[] = [], more = {}) {
  const { link, checks } = await askWith(config);
  for (const each of resources) link.searchParams.append('resource', each);
  return openid.authorizationCodeGrant(config, await follow(link), checks, undefined, more);
}

/** The status and the error of an exchange. */
async function exchanged(form: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await post(
    at('token'),
    { grant_type: EXCHANGE, subject_token_type: ACCESS, ...form },
    headers,
  );
  const body = Object(await answer.json());
  return answer.status === 200 ? body : [answer.status, body.error];
}
const REFUSED = [400, 'invalid_grant'];

test('a found token gives a public client nothing that lasts longer, and a client with a secret a grant of its own', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [owner, finder] = [await newPublic(acme), await newPublic(acme)];
  const secret = await newClient(acme, { authMethod: 'client_secret_basic' });
  const { access_token } = await rootOf(owner);
  const ends = Number(partsOf(access_token).payload.exp);
  const form = { subject_token: access_token, expires_in: '86400' };

  const found = await exchanged({ ...form, client_id: finder.clientId });
  const proved = await exchanged(form, basic(secret));

  expect(found.refresh_token).toBeUndefined();
  expect(Number(partsOf(found.access_token).payload.exp)).toBeLessThanOrEqual(ends);
  expect(proved.refresh_token).toEqual(expect.any(String));
});

test('O16 a client whose agent was suspended or revoked gets no part of the grants of others', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [asker, b, c] = [await newClient(acme), await newPublic(acme), await newPublic(acme)];
  const [actor, subject] = [await rootOf(b), await rootOf(c)];
  const form = {
    subject_token: subject.access_token,
    actor_token: actor.access_token,
    actor_token_type: ACCESS,
  };

  expect(await exchanged(form, basic(asker))).toMatchObject({ token_type: 'Bearer' });
  await acme('PATCH', `/v1/agents/${asker.clientId}`, { status: 'suspended' });
  expect(await exchanged(form, basic(asker))).toEqual(REFUSED);
  await acme('PATCH', `/v1/agents/${asker.clientId}`, { status: 'active' });
  expect(await exchanged(form, basic(asker))).toMatchObject({ token_type: 'Bearer' });
  await acme('DELETE', `/v1/agents/${asker.clientId}`);
  expect(await exchanged(form, basic(asker))).toEqual(REFUSED);
});

test('an actor token that is bound, was revoked, or whose grant ended names nobody', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [asker, b, c] = [await newClient(acme), await newPublic(acme), await newPublic(acme)];
  toPresent(service);
  const subject = await rootOf(c);
  const DPoP = openid.getDPoPHandle(b.config, await openid.randomDPoPKeyPair());
  const [bound, revoked, ended] = [await rootOf(b, [], { DPoP }), await rootOf(b), await rootOf(b)];
  const act = (token: string) =>
    exchanged(
      { subject_token: subject.access_token, actor_token: token, actor_token_type: ACCESS },
      basic(asker),
    );

  expect(await act(bound.access_token)).toEqual(REFUSED);
  for (const token of [revoked.access_token, ended.access_token]) {
    expect(await act(token)).toMatchObject({ token_type: 'Bearer' });
  }
  await acme('POST', '/v1/tokens/revoke', { token: revoked.access_token });
  const { grant_id: grantId } = partsOf(ended.access_token).payload['urn:service:grant'];
  await acme('DELETE', `/v1/grants/${grantId}`);
  expect(await act(revoked.access_token)).toEqual(REFUSED);
  expect(await act(ended.access_token)).toEqual(REFUSED);
});

test('an assertion names an actor or proves a client, never both, and is remembered to its end', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const publicKeyJwk = await exportJWK(publicKey);
  const [asker, c] = [await newClient(acme), await newPublic(acme)];
  const { clientId } = await newClient(acme, { authMethod: 'private_key_jwt', publicKeyJwk });
  const subject = await rootOf(c);
  const signed = (typ?: string) =>
    new SignJWT({ iss: clientId, sub: clientId, aud: service.url, jti: crypto.randomUUID() })
      .setExpirationTime(Math.floor(service.clock().getTime() / 1000) + 300)
      .setProtectedHeader({ alg: 'ES256', ...(typ && { typ }) })
      .sign(privateKey);
  const prove = async (assertion: string) => {
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const proof = { client_assertion_type: type, client_assertion: assertion };
    return errorIn(
      await post(at('token'), { grant_type: 'refresh_token', refresh_token: 'ref_x', ...proof }),
    );
  };
  const act = (assertion: string) =>
    exchanged(
      { subject_token: subject.access_token, actor_token: assertion, actor_token_type: JWT },
      basic(asker),
    );

  const handed = await signed('actor+jwt');
  expect(await prove(handed)).toBe('invalid_client');
  expect(await prove(await signed('Actor+JWT'))).toBe('invalid_client');
  expect(await act(await signed())).toEqual(REFUSED);
  expect(await act(handed)).toMatchObject({ token_type: 'Bearer' });
  const used = await signed('JWT');
  expect(await prove(used)).toBe('invalid_grant'); // the client is proved
  for (const seconds of [61, 238]) {
    service.advance(seconds);
    expect(await prove(used)).toBe('invalid_client');
  }
  expect(await prove(await signed())).toBe('invalid_grant');
});

test('O26 a proof is used once as long as it can be timely', async () => {
  const { form } = await victimOn(service);
  const { proof } = await newProver(service, service.url);
  service.advance(1 - (service.clock().getTime() % 1000) / 1000); // to a whole second, as `iat` has it
  const dpop = await proof({ iat: Math.floor(service.clock().getTime() / 1000) + 60 });

  expect((await post(at('token'), form, { dpop })).status).toBe(200);
  service.advance(120);
  const next = await victimOn(service);
  expect(await errorIn(await post(at('token'), next.form, { dpop }))).toBe('invalid_dpop_proof');
  expect((await post(at('token'), next.form, { dpop: await proof() })).status).toBe(200);
});

test('a repeated resource counts once, and a part of the audiences is not given as the whole', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await newResource(acme, ONE);
  await newResource(acme, TWO);
  const [a, b] = [await newPublic(acme), await newPublic(acme)];
  const root = await rootOf(a, [ONE, TWO]);
  const ask = async (...resources: string[]) => {
    const form = new URLSearchParams({
      ...{ grant_type: EXCHANGE, client_id: b.clientId },
      ...{ subject_token: root.access_token, subject_token_type: ACCESS },
    });
    for (const each of resources) form.append('resource', each);
    const body = Object(await (await fetch(at('token'), { method: 'POST', body: form })).json());
    return body.access_token ? partsOf(body.access_token).payload.aud : body.error;
  };

  expect(await ask(ONE, ONE)).toBe('invalid_target');
  expect(await ask(ONE)).toBe('invalid_target');
  expect((await ask(TWO, ONE, ONE)).toSorted()).toEqual([ONE, TWO]);
  const { link, checks } = await askWith(a.config);
  for (const each of [ONE, TWO]) link.searchParams.append('resource', each);
  const form = new URLSearchParams(formOf(a.config, await follow(link), checks));
  for (const each of [ONE, ONE]) form.append('resource', each);
  const { access_token: token } = Object(
    await (await fetch(at('token'), { method: 'POST', body: form })).json(),
  );
  expect(partsOf(token).payload.aud).toBe(ONE);
});

test('RFC 9396 §6: a client that asks for narrower details with a code or refresh token is refused', async () => {
  const { form, clientId } = await victimOn(service);
  const details = { authorization_details: '[]' };

  expect(await errorIn(await post(at('token'), { ...form, ...details }))).toBe(
    'invalid_authorization_details',
  );
  const { refresh_token: sent } = Object(await (await post(at('token'), form)).json());
  const refresh = { grant_type: 'refresh_token', refresh_token: String(sent), client_id: clientId };
  expect(await errorIn(await post(at('token'), { ...refresh, ...details }))).toBe(
    'invalid_authorization_details',
  );
  expect((await post(at('token'), refresh)).status).toBe(200);
});

test('an unknown resource beside a known one is refused at each door', async () => {
  const [acme, other] = [
    await service.asDeveloper({ mode: 'sandbox' }),
    await service.asDeveloper({ mode: 'sandbox' }),
  ];
  const [known, foreign] = ['http://localhost/known', 'http://localhost/foreign'];
  await newResource(acme, known);
  await newResource(other, foreign);
  const client = await newClient(acme);
  const config = await discover(service.url, client.clientId, openid.ClientSecretBasic(client.clientSecret));
  const { link } = await askWith(config);
  const send = async (path: string, resources: readonly string[], more = {}) => {
    const form = new URLSearchParams({ scope: 'calendar:read', ...more });
    for (const each of resources) form.append('resource', each);
    const answer = await fetch(at(path), { method: 'POST', body: form, headers: basic(client) });
    return Object(await answer.json()).error;
  };
  const doors = [
    async (resources: readonly string[]) => {
      const changed = new URL(link);
      for (const each of resources) changed.searchParams.append('resource', each);
      const back = new URL((await visit(changed)).headers.get('location') ?? '');
      return back.searchParams.get('error') ?? undefined;
    },
    (resources: readonly string[]) => send('par', resources, Object.fromEntries(link.searchParams)),
    (resources: readonly string[]) => send('device_authorization', resources),
    (resources: readonly string[]) => send('bc-authorize', resources, { login_hint: 'ada' }),
  ];

  for (const ask of doors) {
    for (const unknown of ['http://localhost/unknown', foreign]) {
      expect(await ask([known, unknown])).toBe('invalid_target');
    }
    expect(await ask([known])).toBeUndefined();
  }
});

test('prompt=consent: a person is asked also where a policy of a live account would approve', async () => {
  const acme = await service.asDeveloper();
  const voucher = await newVoucher();
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk], policyAutoApproval: true });
  await acme('POST', '/v1/policies', { name: 'All', effect: 'allow', scopes: ['calendar:read'] });
  const client = await newClient(acme);
  const auth = openid.ClientSecretBasic(client.clientSecret);
  const config = await discover(service.url, client.clientId, auth);
  const pushed = async (more: Record<string, string> = {}) => {
    const { link } = await askWith(config, { principal_id: 'ada', ...more });
    return follow(await openid.buildAuthorizationUrlWithPAR(config, link.searchParams));
  };

  const asked = await pushed({ prompt: 'consent' });
  expect([asked.pathname, asked.searchParams.get('code')]).toEqual(['/consent', null]);
  expect((await pushed()).searchParams.get('code')).not.toBeNull();
});

test('a client that registered itself with a secret names nobody, and gets no delegation', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const resource = 'http://localhost/seat';
  await newResource(acme, resource);
  const registered = await service.app.inject({
    method: 'POST',
    url: '/oauth/register',
    payload: { redirect_uris: [LISTENING], token_endpoint_auth_method: 'client_secret_post' },
  });
  const { client_id, client_secret } = registered.json();
  const own = { client_id: String(client_id), client_secret: String(client_secret) };
  const config = await discover(service.url, own.client_id, openid.ClientSecretPost(own.client_secret));
  const { link, checks } = await askWith(config, { resource, redirect_uri: LISTENING });
  const tokens = await openid.authorizationCodeGrant(config, await follow(link), checks);
  const root = await rootOf(await newPublic(acme), [resource]);
  const ask = { ...own, scope: 'calendar:read', login_hint: 'ada', resource };
  const before = (await entriesOf(acme, 'authorization.requested')).length;

  expect(tokens.scope).toBe('calendar:read');
  expect(await errorIn(await post(at('bc-authorize'), ask))).toBe('unauthorized_client');
  expect((await entriesOf(acme, 'authorization.requested')).length).toBe(before);
  const subject = { subject_token: root.access_token, resource };
  expect(await exchanged({ ...own, ...subject })).toEqual([400, 'unauthorized_client']);
  const agent = await newClient(acme);
  expect(await exchanged(subject, basic(agent))).toMatchObject({ token_type: 'Bearer' });
});

test('a public client is counted with its address, and a resource or key by itself', async () => {
  const env = { RATE_LIMIT_OAUTH_TOKEN: '2', RATE_LIMIT_OAUTH_INTROSPECT: '2' };
  const limited = await startApp({ env });
  const acme = await limited.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  const [one, two] = [
    await newResource(acme, 'http://localhost/1'),
    await newResource(acme, 'http://localhost/2'),
  ];
  const send = async (path: string, form: Record<string, string>, more: object) => {
    const { statusCode } = await limited.app.inject({
      ...{ method: 'POST', url: `/oauth/${path}`, payload: new URLSearchParams(form).toString() },
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...Object(more).headers },
      remoteAddress: Object(more).remoteAddress ?? '127.0.0.1',
    });
    return statusCode;
  };
  const refresh = { grant_type: 'refresh_token', refresh_token: 'ref_x', client_id: clientId };
  const from = (remoteAddress: string) => send('token', refresh, { remoteAddress });
  const by = (bearer: string) =>
    send('introspect', { token: 'x' }, { headers: { authorization: `Bearer ${bearer}` } });

  expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')]).toEqual([
    400, 400, 429,
  ]);
  expect(await from('192.0.2.2')).toBe(400);
  expect([await by(one.credential), await by(one.credential), await by(one.credential)]).toEqual([
    200, 200, 429,
  ]);
  expect([await by(acme.apiKey), await by(acme.apiKey), await by(acme.apiKey)]).toEqual([200, 200, 429]);
  expect(await by(two.credential)).toBe(200);
});

test('a bound key is told of the tokens of its own agents by OAuth too', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [a, b] = [await newPublic(acme), await newPublic(acme)];
  const { apiKey } = await acme.asRuntime(a.clientId);
  const told = async ({ access_token: token }: { access_token: string }) => {
    const answer = await post(at('introspect'), { token }, { authorization: `Bearer ${apiKey}` });
    return Object(await answer.json()).active;
  };

  expect([await told(await rootOf(a)), await told(await rootOf(b))]).toEqual([true, false]);
});

test('RFC 9449 §10.1: a push whose proof and `dpop_jkt` differ is refused', async () => {
  const { clientId, link } = await victimOn(service);
  const [own, other] = [await newProver(service, service.url), await newProver(service, service.url)];
  const form = { ...Object.fromEntries(link.searchParams), client_id: clientId };
  const push = async ({ jwk }: typeof own) => {
    const dpop = await own.proof({ htu: at('par') });
    const answer = await post(at('par'), { ...form, dpop_jkt: await calculateJwkThumbprint(jwk) }, { dpop });
    return [answer.status, await errorIn(answer)];
  };

  expect(await push(other)).toEqual([400, 'invalid_dpop_proof']);
  expect(await push(own)).toEqual([201, undefined]);
});

test('a receiver of signals is counted by itself, and a stranger who knows its id by the address', async () => {
  const limited = await startApp({ env: { RATE_LIMIT_OAUTH_TOKEN: '2' } });
  const acme = await limited.asDeveloper();
  const { receiverId: clientId, clientSecret } = (
    await acme('POST', '/v1/ssf/receivers', { name: 'SIEM' })
  ).json();
  const ask = async (secret: string) => {
    const { statusCode } = await limited.app.inject({
      ...{ method: 'POST', url: '/oauth/token', payload: 'grant_type=client_credentials' },
      headers: {
        ...basic({ clientId, clientSecret: secret }),
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    return statusCode;
  };

  expect([await ask('x'), await ask('x'), await ask('x')]).toEqual([401, 401, 429]);
  const right = [await ask(clientSecret), await ask(clientSecret), await ask(clientSecret)];
  expect(right).toEqual([200, 200, 429]);
});
