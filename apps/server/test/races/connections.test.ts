import { test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream, browserOf, connectAccount } from '../app/connecting.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving(besideUpstream());
/** Without ID tokens, because the clock of a race stands still while its upstream keeps the real time. */
const provider = { kind: 'oauth2', account: { source: 'userinfo', id: '/sub' } };

/** A connect session whose account came back, and the cookies of its browser. */
const withReturned = (upstream: AccountsServer) => async (acme: Developer, service: Service) => {
  await addProvider(acme, upstream, provider);
  const session = await askToConnect(acme);
  const browser = browserOf(service);
  await browser.open(session);
  await browser.callback(await upstream.visit((await browser.start(session.id)).json().redirectTo));
  return { id: session.id, browser };
};

/** A connected account. */
const withConnected = (upstream: AccountsServer) => async (acme: Developer, service: Service) => {
  await addProvider(acme, upstream, provider);
  const { credentialId } = await connectAccount(service, acme, upstream);
  return { credentialId };
};

type Returned = Awaited<ReturnType<ReturnType<typeof withReturned>>>;
type Connected = Awaited<ReturnType<ReturnType<typeof withConnected>>>;

const confirm = ({ service }: Side, { id, browser }: Returned) => browser.at(service).confirm(id);
const cancel = ({ service }: Side, { id, browser }: Returned) => browser.at(service).cancel(id);
const remove = ({ acme }: Side, { id }: Returned) => acme('DELETE', `/v1/vault/connect-sessions/${id}`);
const disconnect = ({ acme }: Side, { credentialId }: Connected) =>
  acme('DELETE', `/v1/vault/credentials/${credentialId}`);

const connections = ({ service, acme }: Side) =>
  service.db
    .selectFrom('vaultCredentials')
    .select('connectionStatus')
    .where('developerId', '=', acme.developerId)
    .execute();

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
test('two disconnections', async () =>
  race({
    prepare: withConnected(await startAccountsServer()),
    one: disconnect,
    answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'],
    look: connections,
  }));
