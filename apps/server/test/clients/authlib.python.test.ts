import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { entered } from '../app/device.ts';
import { startListening } from '../app/listening.ts';
import { newClient, post } from '../app/oauth.ts';

const run = promisify(execFile);
/** A Python that has Authlib. Without the variable, `vitest.config.ts` leaves this file out. */
const python = process.env.AUTHLIB_PYTHON ?? '';

test('Authlib, a client in Python, goes through the flows that it has', async () => {
  const service = await startListening();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId, clientSecret = '' } = await newClient(acme);
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const asked = await post(
    `${service.url}/oauth/device_authorization`,
    { scope: 'calendar:read' },
    { authorization },
  );
  const { device_code, user_code } = Object(await asked.json());
  const requestId = await entered(service, user_code);
  await acme('POST', `/v1/authorize/${requestId}/approve`, {});

  const program = join(import.meta.dirname, 'authlib-client.py');
  const { stdout } = await run(python, [program, service.url, clientId, clientSecret, device_code]);

  expect(JSON.parse(stdout)).toEqual({
    first: 'calendar:read mail:read',
    second: 'mail:read',
    told: true,
    ended: 200,
    after: { active: false },
    device: 'calendar:read',
    refused: 'invalid_grant',
  });
  await service.stop();
});
