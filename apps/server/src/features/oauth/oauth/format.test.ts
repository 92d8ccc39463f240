import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JWT_BEARER } from '../../../../test/app/asserting.ts';
import { askDevice, CIBA_GRANT, entered, newDevice } from '../../../../test/app/device.ts';
import { actionsOf, entriesOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { newClient, post, victimOn } from '../../../../test/app/oauth.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

let service: Awaited<ReturnType<typeof startListening>>;
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
