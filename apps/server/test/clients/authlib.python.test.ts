import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exportJWK, generateKeyPair } from 'jose';
import { expect, test } from 'vitest';
import { startAsserting, trustingDeveloper } from '../app/asserting.ts';
import { entered, newClient, post, toPresent } from '../app/oauth.ts';

const run = promisify(execFile);
/** A Python that has Authlib. Without the variable, `vitest.config.ts` leaves this file out. */
const python = process.env.AUTHLIB_PYTHON ?? '';

test('Authlib, a client in Python, goes through the flows that it has', async () => {
  const { service, provider } = await startAsserting();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId, clientSecret = '' } = await newClient(acme);
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const asked = await post(
    `${service.url}/oauth/device_authorization`,
    { scope: 'calendar:read' },
    { authorization },
  );
  const { device_code: deviceCode, user_code } = Object(await asked.json());
  const requestId = await entered(service, user_code);
  await acme('POST', `/v1/authorize/${requestId}/approve`, {});
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const signing = await newClient(acme, {
    ...{ authMethod: 'private_key_jwt', publicKeyJwk: { kty, crv, x, y } },
  });
  const receiver = (await acme('POST', '/v1/ssf/receivers', { name: 'SIEM' })).json();
  const client = { authMethod: 'client_secret_basic' };
  const trusting = await trustingDeveloper(service, provider, { client });
  toPresent(service);
  const given = {
    ...{ issuer: service.url, clientId, clientSecret, deviceCode, signingId: signing.clientId },
    ...{ receiverId: receiver.receiverId, receiverSecret: receiver.clientSecret },
    ...{ trustedId: trusting.client.clientId, trustedSecret: trusting.client.clientSecret },
    ...{ key: await exportJWK(privateKey), assertion: await trusting.assertion() },
  };

  const program = join(import.meta.dirname, 'authlib-client.py');
  const { stdout } = await run(python, [program, JSON.stringify(given)]);

  expect(JSON.parse(stdout)).toEqual({
    first: 'calendar:read mail:read',
    second: 'mail:read',
    told: true,
    ended: 200,
    after: { active: false },
    device: 'calendar:read',
    refused: 'invalid_grant',
    detailed: true,
    signed: 'calendar:read mail:read',
    part: 'mail:read',
    hour: 'invalid_client',
    own: 'ssf.read',
    asserted: 'calendar:read',
  });
  await service.stop();
});
