import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { addProvider, besideUpstream, connectAccount } from '../../../../test/app/connecting.ts';
import { entriesOf, grantTo, refusalOf, startSandbox } from '../../../../test/app/flow.ts';
import { onThisMachine, putProfile, through } from '../../../../test/app/proxy.ts';
import { startReceiver } from '../../../../test/app/receiver.ts';

/** A person with an account at an authorization server, and an agent that calls its upstream through the proxy. */
async function startProxied() {
  const upstream = await startAccountsServer();
  const { env, ...rest } = besideUpstream();
  const sandbox = await startSandbox({ ...rest, env: { ...env, ...onThisMachine } });
  await addProvider(sandbox.acme, upstream, { service: 'github' });
  const receiver = await startReceiver();
  const { grantToken } = await grantTo(sandbox.acme, { scopes: ['vault:github:proxy'] });
  const call = () => through(sandbox.service, grantToken, '/repos/a');
  const connect = () => connectAccount(sandbox.service, sandbox.acme, upstream, { service: 'github' });
  return { ...sandbox, upstream, receiver, call, connect };
}

test('a connected account goes through the proxy, and not to an upstream that was named later', async () => {
  const { acme, upstream, receiver, call, connect } = await startProxied();
  await putProfile(acme, `http://127.0.0.1:${receiver.port}`);
  const absent = await call();
  expect([refusalOf(absent), absent.json().details.connectable]).toEqual([
    '404 NOT_FOUND not_connected',
    true,
  ]);

  await connect();
  expect((await call()).statusCode).toBe(204);
  const token = String(receiver.received[0]?.headers.authorization).replace('Bearer ', '');
  expect(await upstream.accessTokenOf(token)).toMatchObject({ accountId: 'ada' });

  const other = await startReceiver();
  await putProfile(acme, `http://127.0.0.1:${other.port}`);
  const refused = await call();
  expect(refusalOf(refused)).toBe('403 PROXY_DENIED origin');
  expect(other.received).toEqual([]);
  await connect();
  expect((await call()).statusCode).toBe(204);
});

test('a token that its upstream refuses twice asks for the person, once', async () => {
  const { acme, advance, upstream, receiver, call, connect } = await startProxied();
  await putProfile(acme, `http://127.0.0.1:${receiver.port}`);
  await connect();
  advance(60);
  receiver.answerStatus(401);

  expect((await call()).statusCode).toBe(401);

  expect(refusalOf(await call())).toBe('409 REAUTHORIZATION_REQUIRED upstream_refused');
  expect(await entriesOf(acme, 'vault.connection.reauthorization_required')).toHaveLength(1);
  expect(upstream.tokenCalls()).toBe(2); // the code, and one refresh
});
