import { expect, test } from 'vitest';
import type { Caller } from '../api/caller.ts';
import { oauthEndpoints } from './oauth.ts';

const TOKENS = { access_token: 'a.b.c', token_type: 'Bearer', expires_in: 60, scope: 'calendar:read' };
const [DEVICE_CODE, CIBA] = [
  'urn:ietf:params:oauth:grant-type:device_code',
  'urn:openid:params:grant-type:ciba',
];

/** Endpoints that answer each request with the next of these: the code of an error, or tokens. */
function answering(...codes: readonly (string | undefined)[]) {
  const left = [...codes];
  const [sent, pauses]: [Record<string, string>[], number[]] = [[], []];
  const form = async (_path: string, { form: given }: { readonly form?: URLSearchParams }) => {
    sent.push(Object.fromEntries(given ?? []));
    const code = left.shift();
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    return TOKENS;
  };
  const caller = { form } as unknown as Caller; // the endpoints of OAuth call nothing else
  const pauseFor = async (milliseconds: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    pauses.push(milliseconds);
  };
  return { oauth: oauthEndpoints(caller, pauseFor), sent, pauses };
}

const backchannel = { auth_req_id: 'r1', expires_in: 300, interval: 5 };
const device = {
  ...{ device_code: 'd1', user_code: 'BCDF-GHJK', expires_in: 600, interval: 2 },
  ...{ verification_uri: 'https://auth.test/device', verification_uri_complete: 'https://auth.test/device' },
};
const client = { client_id: 'ag_1', client_secret: 's' };

test('polls as often as the service allows, and more slowly from each time on that it says so', async () => {
  const pending = 'authorization_pending';
  const { oauth, sent, pauses } = answering(pending, 'slow_down', pending, 'slow_down', undefined);

  const tokens = await oauth.poll(backchannel, client);

  expect(tokens).toEqual(TOKENS);
  expect(pauses).toEqual([5_000, 5_000, 10_000, 10_000, 15_000]);
  expect(sent).toEqual(Array(5).fill({ ...client, grant_type: CIBA, auth_req_id: 'r1' }));
});

test('polls for a device, and asks for a new assertion at each request', async () => {
  const { oauth, sent } = answering('authorization_pending', undefined);
  let made = 0;

  await oauth.poll(device, async () => {
    made += 1;
    return { client_id: 'ag_1', client_assertion: `jwt ${made}` };
  });

  expect(sent).toEqual(
    ['jwt 1', 'jwt 2'].map((assertion) => ({
      ...{ client_id: 'ag_1', client_assertion: assertion },
      ...{ grant_type: DEVICE_CODE, device_code: 'd1' },
    })),
  );
});

test.each(['access_denied', 'expired_token', 'invalid_client'])('polls no more after %s', async (code) => {
  const { oauth, sent } = answering('authorization_pending', code, undefined);

  await expect(oauth.poll(backchannel, client)).rejects.toMatchObject({ code });

  expect(sent).toHaveLength(2);
});

test('polls no more once its signal has ended', async () => {
  const ending = new AbortController();
  const { oauth, sent } = answering('authorization_pending', undefined);
  const polling = oauth.poll(
    backchannel,
    () => {
      ending.abort(new Error('enough'));
      return client;
    },
    { signal: ending.signal },
  );

  await expect(polling).rejects.toThrow('enough');

  expect(sent).toHaveLength(1);
});

test('a request by the backchannel is sent in the words of the standard', async () => {
  const { oauth, sent } = answering(undefined);

  await oauth.backchannel({
    ...{ ...client, scope: 'calendar:read', login_hint: 'user_42', resource: 'https://api.test' },
    ...{ binding_message: 'Order 4711', requested_expiry: 120 },
  });

  expect(sent).toEqual([
    {
      ...{ ...client, scope: 'calendar:read', login_hint: 'user_42', resource: 'https://api.test' },
      ...{ binding_message: 'Order 4711', requested_expiry: '120' },
    },
  ]);
});
