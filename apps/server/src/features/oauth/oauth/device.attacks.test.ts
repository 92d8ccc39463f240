import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askDevice,
  enter,
  entered,
  errorIn,
  newClient,
  newDevice,
  polled,
  post,
  REDIRECT,
} from '../../../../test/app/oauth.ts';
import { unavailable } from '../../../platform/errors.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

async function approvedDevice() {
  const device = await newDevice(service);
  const shown = await askDevice(device);
  const id = await entered(service, shown.user_code);
  await device.acme('POST', `/v1/authorize/${id}/approve`, {});
  return { ...device, shown, id };
}

describe('RFC 8628 §5.1, O24: guesses of a code', () => {
  /** Other letters of the alphabet of codes. */
  const guess = (index: number) =>
    `BBBB-BB${'BCDFGHJKLM'[Math.floor(index / 10)]}${'BCDFGHJKLM'[index % 10]}`;

  test('lock the entry of their browser after five, and the right code too, until the window ends', async () => {
    service.advance(600 - ((service.clock().getTime() / 1000) % 600));
    const shown = await askDevice(await newDevice(service));
    const first = await enter(service, guess(0));
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
    for (const index of [1, 2, 3, 4]) {
      expect((await enter(service, guess(index), { cookie })).status).toBe(404);
    }

    const locked = await enter(service, shown.user_code, { cookie });

    expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '600']);
    expect((await enter(service, shown.user_code)).status).toBe(200); // another browser of the address
  });

  test('count as much where they only ask whose device waits', async () => {
    service.advance(600 - ((service.clock().getTime() / 1000) % 600));
    const device = await newDevice(service);
    const { user_code: right } = await askDevice(device);
    const ask = (userCode: string, cookie = '') =>
      fetch(`${service.url}/v1/device/brand`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', origin: service.url, 'sec-fetch-site': 'same-origin' },
          ...(cookie && { cookie }),
        },
        body: JSON.stringify({ userCode }),
      });

    const known = await ask(right);
    const cookie = known.headers.get('set-cookie')?.split(';')[0] ?? '';
    const guesses = [];
    for (const index of [0, 1, 2, 3, 4]) guesses.push((await ask(guess(index), cookie)).status);
    const locked = [(await ask(right, cookie)).status, (await enter(service, right, { cookie })).status];

    const { name } = (await device.acme('GET', '/v1/me')).json();
    expect(await known.json()).toEqual({ developerName: name });
    expect(guesses).toEqual([404, 404, 404, 404, 404]);
    expect(locked).toEqual([429, 429]);
  });

  test('lock the entry of their address after twenty, whatever browsers they claim to be', async () => {
    service.advance(600 - ((service.clock().getTime() / 1000) % 600));
    for (let index = 0; index < 20; index += 1) {
      if (index % 10 === 0) service.advance(60); // the rule of a minute is another
      expect((await enter(service, guess(index))).status).toBe(404);
    }
    service.advance(60);
    const shown = await askDevice(await newDevice(service));

    expect((await enter(service, shown.user_code)).status).toBe(429);
    service.advance(420);
    expect((await enter(service, shown.user_code)).status).toBe(200);
  });
});

describe('RFC 8628 §5.2, §5.3, O24: a device code', () => {
  test('is of use to its own client only', async () => {
    const { shown, clientId, acme } = await approvedDevice();
    const sibling = await newDevice(service, acme);
    const stranger = await newDevice(service);

    expect(await errorIn(await polled(service, sibling, shown.device_code))).toBe('invalid_grant');
    expect(await errorIn(await polled(service, stranger, shown.device_code))).toBe('invalid_grant');
    expect((await polled(service, { clientId }, shown.device_code)).status).toBe(200);
  });

  test('gives one grant to polls that come at once', async () => {
    const device = await approvedDevice();
    const codes = Array.from({ length: 8 }, () => device.shown.device_code);

    const answers = await Promise.all(codes.map((code) => polled(service, device, code)));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await device.acme('GET', '/v1/grants')).json().grants).toHaveLength(1);
  });

  test('ends its grant when it is used again after the grace', async () => {
    const device = await approvedDevice();
    expect((await polled(service, device, device.shown.device_code)).status).toBe(200);

    service.advance(60);
    expect(await errorIn(await polled(service, device, device.shown.device_code))).toBe('invalid_grant');

    const [grant] = (await device.acme('GET', '/v1/grants')).json().grants;
    expect(grant.status).toBe('revoked');
  });

  test('and a made-up code give nothing; neither is a code of authorization', async () => {
    const { clientId, shown, acme, id } = await approvedDevice();
    const form = { client_id: clientId, redirect_uri: REDIRECT };
    const asCode = { ...form, grant_type: 'authorization_code', code: shown.device_code };

    expect(await errorIn(await polled(service, { clientId }, 'x'.repeat(43)))).toBe('expired_token');
    expect(await errorIn(await polled(service, { clientId }, 'x'))).toBe('invalid_grant');
    expect(await errorIn(await post(`${service.url}/oauth/token`, asCode))).toBe('invalid_grant');
    expect((await acme('POST', `/v1/authorize/${id}/code`, {})).statusCode).toBe(409);
    expect((await polled(service, { clientId }, shown.device_code)).status).toBe(200);
  });
});

describe('RFC 8628 §5.4, O25: a code that a stranger sends to a person', () => {
  test('is entered once, so a second person is not led to the request of the first', async () => {
    const shown = await askDevice(await newDevice(service));
    const together = await Promise.all([1, 2, 3].map(() => enter(service, shown.user_code)));

    expect(together.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
    expect((await enter(service, shown.user_code)).status).toBe(404);
  });

  test('outlives a failure of the service: it is entered again, once', async () => {
    let isAway = false;
    const failing = await startListening({
      storeAs: (store) => ({
        ...store,
        put: (entries) => (isAway ? Promise.reject(unavailable('redis')) : store.put(entries)),
      }),
    });
    const shown = await askDevice(await newDevice(failing));

    isAway = true;
    const failed = await enter(failing, shown.user_code);
    isAway = false;

    expect(failed.status).toBe(503);
    expect((await enter(failing, shown.user_code)).status).toBe(200);
    expect((await enter(failing, shown.user_code)).status).toBe(404);
  });

  test('is taken from the page of the service only', async () => {
    const shown = await askDevice(await newDevice(service));
    const foreign = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };

    expect((await enter(service, shown.user_code, foreign)).status).toBe(403);
    expect((await enter(service, shown.user_code)).status).toBe(200);
  });

  test('is never approved without a person, even where policies approve the same request', async () => {
    const acme = await service.asDeveloper();
    await acme('PATCH', '/v1/me', { policyAutoApproval: true });
    const effect = { effect: 'allow', scopes: ['calendar:read'] };
    await acme('POST', '/v1/policies', { name: 'Calendars', ...effect });
    const { clientId, clientSecret = '' } = await newClient(acme);
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const form = { scope: 'calendar:read', principal_id: 'ada' };

    const answer = await post(`${service.url}/oauth/device_authorization`, form, { authorization: basic });
    const id = await entered(service, Object(await answer.json()).user_code);

    expect((await acme('GET', `/v1/authorize/${id}`)).json().status).toBe('pending');
    const request = { agentId: clientId, principalId: 'ada', scopes: ['calendar:read'] };
    expect((await acme('POST', '/v1/authorize', request)).json().status).toBe('approved');
  });
});
