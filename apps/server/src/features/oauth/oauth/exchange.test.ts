import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JWT_BEARER } from '../../../../test/app/asserting.ts';
import { actionsOf, entriesOf, partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askDevice,
  askWith,
  CIBA_GRANT,
  discover,
  entered,
  errorIn,
  follow,
  newClient,
  newDevice,
  newResource,
  post,
  REDIRECT,
  toPresent,
  victimOn,
} from '../../../../test/app/oauth.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const SAML = 'urn:ietf:params:oauth:token-type:saml2';
const RESOURCE = 'http://localhost/exchange';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

async function clientOf(developer: Developer) {
  const { clientId } = await newClient(developer, { authMethod: 'none' });
  return { clientId, config: await discover(service.url, clientId) };
}

type Client = Awaited<ReturnType<typeof clientOf>>;

const rootOf = async ({ config }: Client, parameters: Record<string, string> = {}, more = {}) => {
  const { link, checks } = await askWith(config, { scope: 'calendar:read mail:read', ...parameters });
  return openid.authorizationCodeGrant(config, await follow(link), checks, undefined, more);
};

const exchange = ({ config }: Client, subject: string, parameters: Record<string, string> = {}) =>
  openid.genericGrantRequest(config, GRANT, {
    subject_token: subject,
    subject_token_type: TYPE,
    ...parameters,
  });

/** The name of the error with which an exchange is refused. */
async function refusal({ clientId }: Client, subject: string, parameters: Record<string, string> = {}) {
  const form = { grant_type: GRANT, client_id: clientId, subject_token: subject, subject_token_type: TYPE };
  return errorIn(await post(`${service.url}/oauth/token`, { ...form, ...parameters }));
}

test('a client passes a part of its grant on, and the chain of actors is in the token', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await newResource(acme, RESOURCE);
  const [a, b, c] = [await clientOf(acme), await clientOf(acme), await clientOf(acme)];
  const root = await rootOf(a, { resource: RESOURCE });

  const second = await exchange(b, root.access_token, { scope: 'calendar:read', resource: RESOURCE });
  const third = await exchange(c, second.access_token);

  expect(second).toMatchObject({ issued_token_type: TYPE, scope: 'calendar:read', expires_in: 3600 });
  const [didA, didB] = [root, second].map(({ access_token }) => partsOf(access_token).payload.act.sub);
  const { payload } = partsOf(third.access_token);
  expect(payload.act).toEqual({ sub: expect.any(String), act: { sub: didB, act: { sub: didA } } });
  expect(payload).toMatchObject({ client_id: c.clientId, aud: RESOURCE, scope: 'calendar:read' });
  expect(payload['urn:service:grant']).toMatchObject({ delegation_depth: 2 });
  await openid.tokenRevocation(a.config, root.access_token);
  expect((await openid.tokenIntrospection(c.config, third.access_token)).active).toBe(false);
});

test('a part is never more than the whole', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [a, b, foreign] = [
    await clientOf(acme),
    await clientOf(acme),
    await clientOf(await service.asDeveloper()),
  ];
  const { access_token: subject, refresh_token: refreshToken = '' } = await rootOf(a);
  const fewer = await openid.refreshTokenGrant(a.config, refreshToken, { scope: 'mail:read' });

  expect(await refusal(b, subject, { scope: 'calendar:write' })).toBe('invalid_scope');
  expect(await refusal(b, fewer.access_token, { scope: 'calendar:read' })).toBe('invalid_scope');
  expect(await refusal(b, subject, { resource: RESOURCE })).toBe('invalid_target');
  expect(await refusal(b, subject, { audience: 'https://evil.test' })).toBe('invalid_target');
  expect(await refusal(a, subject)).toBe('invalid_request');
  expect(await refusal(foreign, subject)).toBe('invalid_grant');
  expect(await refusal(b, 'x.y.z')).toBe('invalid_grant');
  expect(await refusal(b, subject, { subject_token_type: SAML })).toBe('invalid_request');
  expect(await refusal(b, subject, { requested_token_type: SAML })).toBe('invalid_request');
  expect(await refusal(b, subject, { expires_in: '-1' })).toBe('invalid_request');
  expect(await refusal(b, subject, { authorization_details: '{}' })).toBe('invalid_authorization_details');
  const child = await exchange(b, fewer.access_token, {
    ...{ audience: service.url, expires_in: '60', requested_token_type: TYPE },
  });
  expect(child).toMatchObject({ scope: 'mail:read', expires_in: 60 });
  expect(await refusal(a, child.access_token)).toBe('invalid_request'); // it would come round to its first agent
});

test('a bound token is passed on only with the proof of its key', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [a, b] = [await clientOf(acme), await clientOf(acme)];
  toPresent(service);
  const keys = await openid.randomDPoPKeyPair();
  const root = await rootOf(a, {}, { DPoP: openid.getDPoPHandle(a.config, keys) });
  const form = { subject_token: root.access_token, subject_token_type: TYPE };
  const withKey = async (pair: openid.CryptoKeyPair) =>
    openid.genericGrantRequest(b.config, GRANT, form, { DPoP: openid.getDPoPHandle(b.config, pair) });

  expect(await refusal(b, root.access_token)).toBe('invalid_grant');
  await expect(withKey(await openid.randomDPoPKeyPair())).rejects.toMatchObject({ error: 'invalid_grant' });
  expect((await withKey(keys)).token_type).toBe('dpop');
});

test('an actor token says for which agent the part is', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [a, b, backend] = [await clientOf(acme), await clientOf(acme), await clientOf(acme)];
  const [root, other] = [await rootOf(a), await rootOf(b)];
  const actor = { actor_token: other.access_token, actor_token_type: TYPE };

  const child = await exchange(backend, root.access_token, actor);

  expect(partsOf(child.access_token).payload.client_id).toBe(b.clientId);
  const foreign = await rootOf(await clientOf(await service.asDeveloper({ mode: 'sandbox' })));
  expect(await refusal(backend, root.access_token, { ...actor, actor_token: foreign.access_token })).toBe(
    'invalid_grant',
  );
  expect(await refusal(backend, root.access_token, { actor_token: other.access_token })).toBe(
    'invalid_request',
  );
});

test('an assertion by the key of another agent says for which agent the part is', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [a, backend] = [await clientOf(acme), await clientOf(acme)];
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const publicKeyJwk = await exportJWK(publicKey);
  const { clientId } = await newClient(acme, { authMethod: 'private_key_jwt', publicKeyJwk });
  const root = await rootOf(a);
  const now = Math.floor(service.clock().getTime() / 1000);
  const good = { iss: clientId, sub: clientId, aud: service.url, exp: now + 300 };
  const type = 'urn:ietf:params:oauth:token-type:jwt';
  const signed = (claims: object = {}, key = privateKey) =>
    new SignJWT({ ...good, jti: crypto.randomUUID(), ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'actor+jwt' })
      .sign(key);
  const actor = (token: string) => ({ actor_token: token, actor_token_type: type });
  const assertion = await signed();

  const child = await exchange(backend, root.access_token, actor(assertion));

  expect(partsOf(child.access_token).payload.client_id).toBe(clientId);
  const stranger = await generateKeyPair('ES256');
  const refused = [
    assertion, // it was used
    await signed({}, stranger.privateKey),
    await signed({ aud: 'https://elsewhere.test' }),
    await signed({ exp: now + 301 }),
    await signed({ sub: a.clientId, iss: a.clientId }),
    'x.y.z',
  ];
  for (const token of refused) {
    expect(await refusal(backend, root.access_token, actor(token))).toBe('invalid_grant');
  }
  const foreign = await clientOf(await service.asDeveloper({ mode: 'sandbox' }));
  expect(await refusal(foreign, root.access_token, actor(await signed()))).toBe('invalid_grant');
  const settings = { redirectUris: [REDIRECT], authMethod: 'client_secret_post' };
  await acme('PUT', `/v1/agents/${clientId}/oauth`, settings); // it still has the key, and is no client by it
  expect(await refusal(backend, root.access_token, actor(await signed()))).toBe('invalid_grant');
  await acme('PUT', `/v1/agents/${clientId}/oauth`, { ...settings, authMethod: 'private_key_jwt' });
  expect((await exchange(backend, root.access_token, actor(await signed()))).token_type).toBe('bearer');
});

beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

/** A form of the token endpoint that issues a grant, for a client that has done all that comes before it. */
interface Door {
  readonly acme: Developer;
  readonly form: Record<string, string>;
  readonly headers?: Record<string, string>;
}

async function byCode(): Promise<Door> {
  const { acme, form } = await victimOn(service);
  return { acme, form: { ...form, client_id: String(form.client_id) } };
}

async function byDevice(): Promise<Door> {
  const device = await newDevice(service);
  const shown = await askDevice(device);
  const id = await entered(service, shown.user_code);
  await device.acme('POST', `/v1/authorize/${id}/approve`, {});
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  return {
    acme: device.acme,
    form: { grant_type, client_id: device.clientId, device_code: shown.device_code },
  };
}

async function byBackchannel(): Promise<Door> {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId, clientSecret = '' } = await newClient(acme);
  const headers = {
    authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
  };
  const asked = { scope: 'calendar:read', login_hint: 'ada' };
  const answer = await post(`${service.url}/oauth/bc-authorize`, asked, headers);
  const { auth_req_id } = Object(await answer.json());
  const [entry] = await entriesOf(acme, 'authorization.requested');
  await acme('POST', `/v1/authorize/${Object(entry?.metadata).authRequestId}/approve`, {});
  return { acme, headers, form: { grant_type: CIBA_GRANT, auth_req_id } };
}

/** The client passes a part of another client's grant on to itself. */
async function byExchange(): Promise<Door> {
  const { acme, config, link: _, ...victim } = await victimOn(service);
  const root = await openid.authorizationCodeGrant(config, victim.back, victim.checks);
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  return {
    acme,
    form: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      client_id: clientId,
      subject_token: root.access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    },
  };
}

async function ask({ form, headers }: Door, credential_format?: string) {
  const asked = { ...form, ...(credential_format !== undefined && { credential_format }) };
  const answer = await post(`${service.url}/oauth/token`, asked, headers);
  return { status: answer.status, body: Object(await answer.json()) };
}

const verify = async (credential: string) =>
  (await service.app.inject({ method: 'POST', url: '/v1/credentials/verify', body: { credential } })).json();
const present = async (sdJwt: string) =>
  (await service.app.inject({ method: 'POST', url: '/v1/credentials/present', body: { sdJwt } })).json();

const DOORS = {
  'the code of an authorization': byCode,
  'a device': byDevice,
  'the backchannel': byBackchannel,
  'a token exchange': byExchange,
};

describe.each(Object.entries(DOORS))('a grant by %s', (name, open) => {
  test.each(['vc-jwt', 'both'])('has a credential of the format %s, which ends with it', async (format) => {
    const door = await open();

    const { status, body } = await ask(door, format);

    expect(status, JSON.stringify(body)).toBe(200);
    const { verifiableCredential, 'urn:service:grant': grant } = body;
    expect(body).not.toHaveProperty('sdJwtCredential');
    expect(await verify(verifiableCredential)).toMatchObject({ valid: true });
    expect(decodeJwt(verifiableCredential)).toMatchObject({ credentialSubject: { grantId: grant.grant_id } });
    expect((await actionsOf(door.acme)).slice(-1)).toEqual(['vc.issued']);
    await door.acme('DELETE', `/v1/grants/${grant.grant_id}`);
    expect(await verify(verifiableCredential)).toMatchObject({ valid: false, code: 'revoked' });
  });

  test('has an SD-JWT, unless it is a part of another grant', async () => {
    const door = await open();

    const { status, body } = await ask(door, 'sd-jwt');

    if (name === 'a token exchange') {
      expect([status, body.error]).toEqual([400, 'invalid_request']);
      expect((await ask(door)).status).toBe(200);
      return;
    }
    expect(status, JSON.stringify(body)).toBe(200);
    expect(await present(body.sdJwtCredential)).toMatchObject({
      valid: true,
      disclosedClaims: { grantId: body['urn:service:grant'].grant_id },
    });
  });

  test('has none that was not asked, and an unknown format leaves it for the next try', async () => {
    const door = await open();

    const refused = await ask(door, 'jwp');
    service.advance(5); // a device that polls again sooner has to slow down
    const { status, body } = await ask(door, 'jwt');

    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request']);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).not.toHaveProperty('verifiableCredential');
    expect(body).not.toHaveProperty('sdJwtCredential');
    expect((await door.acme('GET', '/v1/credentials')).json().credentials).toEqual([]);
  });
});

test('a refresh and an assertion give no credential, and say so', async () => {
  const door = await byCode();
  const { body } = await ask(door);
  const { client_id = '' } = door.form;
  const refresh = {
    acme: door.acme,
    form: { grant_type: 'refresh_token', client_id, refresh_token: body.refresh_token },
  };
  const assertion = { acme: door.acme, form: { grant_type: JWT_BEARER, client_id, assertion: 'x' } };

  for (const asking of [refresh, assertion]) {
    const { status, body: refusal } = await ask(asking, 'vc-jwt');
    expect([status, refusal.error, refusal.error_description]).toEqual([
      ...[400, 'invalid_request', expect.stringContaining('`credential_format`')],
    ]);
  }
  expect((await ask(refresh, 'jwt')).status).toBe(200);
});
