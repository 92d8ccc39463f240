import { expect, test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream, browserOf, connectAccount } from '../app/connecting.ts';
import { grantTo, refusalOf } from '../app/flow.ts';
import { interleaving, type Side, untilWaiting } from '../app/interleaving.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';
import { stepping } from '../app/steps.ts';
import { exchange } from '../app/vault.ts';

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

/** A connected account whose token is due to be refreshed, and an agent that may have it. */
const withDue = (upstream: AccountsServer) => async (acme: Developer, service: Service) => {
  const { credentialId } = await withConnected(upstream)(acme, service);
  const { grantToken } = await grantTo(acme, { scopes: ['files:read'] });
  await exchange(service, grantToken, { service: 'files' }); // sets the times of a last use
  const due = new Date(service.clock().getTime() + 30_000);
  await service.db
    .updateTable('vaultCredentials')
    .set({ tokenExpiresAt: due })
    .where('developerId', '=', acme.developerId)
    .execute();
  return { credentialId, grantToken };
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

// No race as above: the refresh may stand while the exchange that it was for is refused, which no order of the two leaves.
test('V17: a disconnection after each step of a refresh leaves no credential, and nothing is handed out after its entry', async () => {
  const steps = stepping();
  const upstream = await startAccountsServer();
  const service = await startApp({ ...besideUpstream(), dbAs: steps.dbAs, storeAs: steps.storeAs });
  const before = ['vault.credential.exchanged', 'vault.credential.refreshed'];
  const seen = new Set<string>();
  for (let at = 1, isMet = true; isMet; at += 1) {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const held = await withDue(upstream)(acme, service);
    let ended: ReturnType<typeof disconnect> | undefined;
    const { outcome, steps: taken } = await steps.walk(
      async () => await exchange(service, held.grantToken, { service: 'files' }), // begins when it is awaited
      at,
      async () => {
        ended = disconnect({ service, acme }, held);
        await untilWaiting(service.db, ended);
      },
    );
    isMet = ended !== undefined;
    if (!ended) break;
    const when = `after ${taken[at - 1]}`;
    const said = outcome.statusCode === 200 ? '200' : refusalOf(outcome);
    seen.add(said);
    expect((await ended).statusCode, when).toBe(204);
    expect(['200', '404 NOT_FOUND not_connected'], when).toContain(said);
    expect((await acme('GET', '/v1/vault/credentials')).json().total, when).toBe(0);
    const told = await service.db
      .selectFrom('auditEntries')
      .select('action')
      .where('developerId', '=', acme.developerId)
      .orderBy('seq')
      .execute();
    const deletion = told.findIndex(({ action }) => action === 'vault.credential.deleted');
    const later = told.slice(deletion).filter(({ action }) => before.includes(action));
    expect([deletion > 0, later], when).toEqual([true, []]);
  }
  expect(seen).toEqual(new Set(['200', '404 NOT_FOUND not_connected']));
});
