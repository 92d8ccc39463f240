import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { AccountsServer } from './accounts-server.ts';
import type { Developer, Service } from './start-app.ts';

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
