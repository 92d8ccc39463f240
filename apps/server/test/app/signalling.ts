import { startAccountsServer } from './accounts-server.ts';
import { BEARER, streamsAt } from './signal-streams.ts';
import { addOidc, besideProvider, signOn } from './signing-on.ts';
import { startApp, type TestOptions } from './start-app.ts';
import { CAEP, transmitterAt } from './transmitter.ts';

/** An account with a connection whose provider sends signals, and Ada, who has signed in there. */
export async function startSignalling(members: object = {}, options: TestOptions = {}) {
  const provider = await startAccountsServer();
  const service = await startApp({ ...besideProvider(), ...options });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const connection = await addOidc(acme, provider, { jitProvisioning: true, ...members });
  const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'test' })).json();
  const scim = service.calling(token);
  const { id: userId } = (await scim('POST', '/scim/v2/Users', { userName: 'ada' })).json();
  const signIn = () => signOn(service, provider, { org: acme.developerId, connection: connection.id });
  const transmitter = await transmitterAt(service, provider);
  return { provider, service, acme, connection, scim, userId: String(userId), signIn, transmitter };
}
export type Started = Awaited<ReturnType<typeof startSignalling>>;

/** Lets Ada sign in as the user whom SCIM provisioned. */
export async function linked(started: Started, body: object = {}) {
  const { service, acme, connection, userId } = started;
  const row = { connectionId: connection.id, subject: `${connection.issuerUrl}|ada`, userId };
  await service.db
    .insertInto('ssoIdentities')
    .values({ ...row, developerId: acme.developerId, createdAt: service.clock() })
    .execute();
  const signedIn = await started.signIn();
  const source = await started.transmitter.listen(acme, connection.id, body);
  return { ...started, source, sessionId: String(signedIn.sessionId) };
}

/** A stream that the service made, and polls. */
export async function polled(options: TestOptions = {}, authAt: (issuer: string) => object = () => BEARER) {
  const started = await startSignalling({}, options);
  const streams = streamsAt(started.provider);
  const made = await linked(started, { delivery: 'poll', auth: authAt(started.provider.issuer) });
  const poll = () => made.service.runJob('polling of signals');
  /** A signal about Ada that waits at the transmitter. */
  const wait = async (jti: string, claims: object = {}) => {
    const set = await made.transmitter.newSet(made.source, `${CAEP}/session-revoked`, {
      claims: { jti, ...claims },
    });
    streams.waiting.set(jti, set);
  };
  const record = async () =>
    (await made.acme('GET', `/v1/sso/connections/${made.connection.id}/signals`)).json();
  return { ...made, ...streams, poll, wait, record };
}
