import { test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream, browserOf, connectAccount } from '../app/connecting.ts';
import { grantTo } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer, Service } from '../app/start-app.ts';
import * as vault from '../app/vault.ts';

const { race } = interleaving(besideUpstream());
const files = { service: 'files' };

/** A connect session whose account came back, and the cookies of its browser. */
const withReturned = (upstream: AccountsServer) => async (acme: Developer, service: Service) => {
  await addProvider(acme, upstream);
  const session = await askToConnect(acme);
  const browser = browserOf(service);
  await browser.open(session);
  await browser.callback(await upstream.visit((await browser.start(session.id)).json().redirectTo));
  return { id: session.id, browser };
};

/** A connected account whose access token is due, and an agent that may have it. */
const withDue = (upstream: AccountsServer) => async (acme: Developer, service: Service) => {
  await addProvider(acme, upstream);
  const { credentialId } = await connectAccount(service, acme, upstream);
  const held = await grantTo(acme, { scopes: ['files:read'] });
  await service.db
    .updateTable('vaultCredentials')
    .set({ tokenExpiresAt: new Date(service.clock().getTime() + 10_000), lastExchangedAt: service.clock() })
    .where('developerId', '=', acme.developerId)
    .execute();
  return { ...held, credentialId };
};

type Returned = Awaited<ReturnType<ReturnType<typeof withReturned>>>;
type Due = Awaited<ReturnType<ReturnType<typeof withDue>>>;

const confirm = ({ service }: Side, { id, browser }: Returned) => browser.at(service).confirm(id);
const cancel = ({ service }: Side, { id, browser }: Returned) => browser.at(service).cancel(id);
const remove = ({ acme }: Side, { id }: Returned) => acme('DELETE', `/v1/vault/connect-sessions/${id}`);
const exchange = ({ service }: Side, { grantToken }: Due) => vault.exchange(service, grantToken, files);
const disconnect = ({ acme }: Side, { credentialId }: Due) =>
  acme('DELETE', `/v1/vault/credentials/${credentialId}`);

/** How many connections there are, since the ids of both orders differ. */
const connections = async ({ service, acme }: Side) =>
  (
    await service.db
      .selectFrom('vaultCredentials')
      .select(['connectionStatus', 'disconnectingAt'])
      .where('developerId', '=', acme.developerId)
      .execute()
  ).map(({ connectionStatus }) => connectionStatus);

test('two confirmations of one account', async () =>
  race({
    prepare: withReturned(await startAccountsServer()),
    one: confirm,
    answers: ['200, 410 GONE', '410 GONE, 200'],
    look: connections,
  }));
test('a confirmation and a cancellation', async () =>
  race({
    prepare: withReturned(await startAccountsServer()),
    one: confirm,
    other: cancel,
    answers: ['200, 410 GONE', '410 GONE, 200'],
    look: connections,
  }));
test('a confirmation and the end of its session by the developer', async () =>
  race({
    prepare: withReturned(await startAccountsServer()),
    one: confirm,
    other: remove,
    answers: ['200, 410 GONE'], // it came back: only its person ends it
    look: connections,
  }));
test('a refresh and a disconnection', async () =>
  race({
    prepare: withDue(await startAccountsServer()),
    one: exchange,
    other: disconnect,
    answers: ['200, 204', '404 NOT_FOUND not_connected, 204'],
    look: connections,
  }));
test('two disconnections', async () =>
  race({
    prepare: withDue(await startAccountsServer()),
    one: disconnect,
    answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'],
    look: connections,
  }));
