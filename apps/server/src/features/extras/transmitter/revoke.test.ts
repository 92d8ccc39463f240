import { expect, test } from 'vitest';
import { entriesOf } from '../../../../test/app/flow.ts';
import { newClient } from '../../../../test/app/oauth.ts';
import { askForToken, newReceiver } from '../../../../test/app/receiving.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

/** Asks for the end of a token, as a receiver does (RFC 7009). */
function revokeToken(
  { app }: Service,
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
  form: Record<string, string>,
) {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  return app.inject({
    method: 'POST',
    url: '/oauth/revoke',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  });
}

test("M19: a receiver ends its own access tokens, and not another's, whose tokens are answered like unknown ones", async () => {
  const service = await startApp();
  const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
  const receiver = await newReceiver(service, acme);
  const beside = await newReceiver(service, acme, { staticToken: true });
  const foreign = await newReceiver(service, other);
  const statusesOf = (...tokens: string[]) =>
    Promise.all(
      tokens.map(async (token) => (await service.calling(token)('GET', '/ssf/streams')).statusCode),
    );
  const kept = (await askForToken(service, receiver)).json().access_token;
  const revoke = async (client: typeof receiver, form: Record<string, string>) => {
    const answer = await revokeToken(service, client, form);
    return [answer.statusCode, answer.body];
  };

  for (const token of [beside.token, beside.accessToken, foreign.token, 'unknown']) {
    expect(await revoke(receiver, { token })).toEqual([200, '']);
  }
  expect(await statusesOf(beside.token, beside.accessToken, foreign.token)).toEqual([200, 200, 200]);
  expect(await revoke(receiver, { token: receiver.token, token_type_hint: 'access_token' })).toEqual([
    200,
    '',
  ]);
  expect(await revoke(receiver, { token: receiver.token })).toEqual([200, '']);

  expect(await statusesOf(receiver.token, kept)).toEqual([401, 200]);
  expect(await entriesOf(acme, 'ssf.receiver.updated')).toEqual([]);
  expect(await revoke(beside, { token: beside.accessToken })).toEqual([200, '']);
  expect(await statusesOf(beside.accessToken, beside.token)).toEqual([401, 200]);
  expect(await entriesOf(acme, 'ssf.receiver.updated')).toMatchObject([
    {
      metadata: {
        ...{ receiverId: beside.receiverId, changed: ['accessToken'] },
        actor: `receiver:${beside.receiverId}`,
      },
    },
  ]);
});

test('M19: a token of a receiver is ended by its receiver alone, which proves itself and is counted', async () => {
  const service = await startApp({ env: { RATE_LIMIT_OAUTH_REVOKE: '3' } });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const receiver = await newReceiver(service, acme);
  const agent = await newClient(acme);
  const { token } = receiver;
  const revoke = async (clientId: string, clientSecret = '') => {
    const answer = await revokeToken(service, { clientId, clientSecret }, { token });
    return answer.statusCode;
  };
  const wrong = () => revoke(receiver.clientId, 'bhs_wrong');

  expect([await wrong(), await wrong(), await wrong(), await wrong()]).toEqual([401, 401, 401, 429]);
  expect(await revoke(agent.clientId, agent.clientSecret)).toBe(200);
  const unproved = await service.app.inject({
    ...{ method: 'POST', url: '/oauth/revoke', remoteAddress: '192.0.2.7' },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ token, client_id: receiver.clientId }).toString(),
  });
  expect([unproved.statusCode, unproved.json().error]).toEqual([401, 'invalid_client']);
  expect((await receiver.call('GET', '/ssf/streams')).statusCode).toBe(200);

  const { clientId, clientSecret } = receiver;
  const empty = await revokeToken(service, receiver, { token: '' });
  expect([empty.statusCode, empty.json().error]).toEqual([400, 'invalid_request']);
  expect([await revoke(clientId, clientSecret), await revoke(clientId, clientSecret)]).toEqual([200, 200]);
  expect(await revoke(clientId, clientSecret)).toBe(429);
  expect((await receiver.call('GET', '/ssf/streams')).statusCode).toBe(401);
});
