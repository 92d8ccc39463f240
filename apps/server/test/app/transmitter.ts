import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type AccountsServer, startAccountsServer } from './accounts-server.ts';
import { BEARER, streamsAt } from './signal-streams.ts';
import { addOidc, besideProvider, signOn } from './signing-on.ts';
import { type Developer, type Service, startApp, type TestOptions } from './start-app.ts';

export const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';
export const RISC = 'https://schemas.openid.net/secevent/risc/event-type';

export type Source = Readonly<{
  endpointUrl: string;
  authorizationHeader: string;
  audience: string;
}>;

interface Changes {
  readonly header?: object;
  readonly claims?: object;
  readonly signedBy?: 'stranger';
  readonly type?: string;
  /** Null sends none. */
  readonly authorization?: string | null;
  readonly to?: string;
  /** The token itself, in place of a new one. */
  readonly set?: string;
}

/** Makes an OpenID provider of a test a transmitter of signals too, with keys of its own. */
export async function transmitterAt(service: Service, provider: AccountsServer) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const stranger = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'signals', alg: 'ES256', use: 'sig' }];
  const { issuer, behaviour } = provider;
  const before = behaviour.instead;
  const metadata = {
    ...{ issuer, jwks_uri: `${issuer}/signal-keys`, spec_version: '1_0' },
    ...{ configuration_endpoint: `${issuer}/streams`, verification_endpoint: `${issuer}/verify` },
  };
  behaviour.instead = (request, respond) => {
    if (request.url === '/.well-known/ssf-configuration') respond(200, metadata);
    else if (request.url === '/signal-keys') respond(200, { keys });
    else return before(request, respond);
    return true;
  };
  let sent = 0;
  const seconds = () => Math.floor(service.clock().getTime() / 1000);

  async function newSet(
    source: Source,
    event: string,
    { header, claims, signedBy }: Changes = {},
    said: object = {},
  ) {
    sent += 1;
    const payload = {
      iss: issuer,
      aud: source.audience,
      iat: seconds(),
      jti: `signal-${sent}`,
      sub_id: { format: 'iss_sub', iss: issuer, sub: 'ada' },
      events: { [event]: { event_timestamp: seconds(), ...said } },
      ...claims,
    };
    const signing = new SignJWT(payload);
    signing.setProtectedHeader({ alg: 'ES256', kid: 'signals', typ: 'secevent+jwt', ...header });
    return signing.sign(signedBy ? stranger.privateKey : privateKey);
  }

  return {
    issuer,
    metadata,
    seconds,
    newSet,
    /** Makes the source of a connection. */
    async listen(developer: Developer, connectionId: string, body: object = {}): Promise<Source> {
      const answer = await developer('PUT', `/v1/sso/connections/${connectionId}/signals`, body);
      if (answer.statusCode !== 200) throw new Error(`signals: ${answer.body}`);
      return answer.json();
    },
    /** Sends a signal about Ada, unless the claims say otherwise. */
    async send(source: Source, event: string, changes: Changes = {}, said: object = {}) {
      const { authorization = source.authorizationHeader, type = 'application/secevent+jwt' } = changes;
      return service.app.inject({
        method: 'POST',
        url: changes.to ?? new URL(source.endpointUrl).pathname,
        headers: { 'content-type': type, ...(authorization !== null && { authorization }) },
        payload: changes.set ?? (await newSet(source, event, changes, said)),
      });
    },
  };
}

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
