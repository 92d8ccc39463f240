import * as openid from 'openid-client';
import { startAccountsServer } from './accounts-server.ts';
import { personOn } from './person.ts';
import { addOidc, besideProvider, provision } from './signing-on.ts';
import { type Developer, type Service, startApp } from './start-app.ts';

type Listening = Service & { readonly url: string };

/** A public client of a new developer in the sandbox, as a television is. */
export async function newDevice({ url, asDeveloper }: Listening, developer?: Developer) {
  const acme = developer ?? (await asDeveloper({ mode: 'sandbox' }));
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  return { acme, clientId, config: await discover(url, clientId) };
}

type Device = Awaited<ReturnType<typeof newDevice>>;

/** The answer to a device that asks, as an independent client reads it. */
export const askDevice = ({ config }: Device, parameters: Record<string, string> = {}) =>
  openid.initiateDeviceAuthorization(config, { scope: 'calendar:read', ...parameters });

/** Enters a code as the page does. @param headers such as a cookie @param more of the body */
export const enter = (
  { url }: Listening,
  userCode: string,
  headers: Record<string, string> = {},
  more: object = {},
) =>
  fetch(`${url}/v1/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify({ userCode, ...more }),
  });

/** The person enters the code. @returns the id of the request that was made */
export async function entered(service: Listening, userCode: string): Promise<string> {
  const answer = await enter(service, userCode);
  if (answer.status !== 200) throw new Error(`entry: ${answer.status} ${await answer.text()}`);
  const { redirectTo } = Object(await answer.json());
  return new URL(redirectTo).searchParams.get('req') ?? '';
}

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const CIBA_GRANT = 'urn:openid:params:grant-type:ciba';

/** The answer to one poll, without the pauses of a library. */
export const polled = ({ url }: Listening, { clientId }: Pick<Device, 'clientId'>, deviceCode: string) =>
  post(`${url}/oauth/token`, {
    grant_type: DEVICE_GRANT,
    client_id: clientId,
    device_code: deviceCode,
  });

export const REDIRECT = 'https://client.test/cb';

interface Settings {
  readonly authMethod?: string;
  readonly redirectUris?: readonly string[];
  readonly dpopBound?: boolean;
  readonly publicKeyJwk?: object;
}

/** An agent that is an OAuth client. */
export async function newClient(developer: Developer, settings: Settings = {}) {
  const { authMethod = 'client_secret_basic', redirectUris = [REDIRECT], publicKeyJwk, ...others } = settings;
  const agent = { name: 'Assistant', ...(publicKeyJwk && { publicKeyJwk }) };
  const { agentId } = (await developer('POST', '/v1/agents', agent)).json();
  const body = { redirectUris, authMethod, ...others };
  const answer = await developer('PUT', `/v1/agents/${agentId}/oauth`, body);
  if (answer.statusCode !== 200) throw new Error(`oauth: ${answer.body}`);
  const { clientId, clientSecret } = answer.json();
  return { clientId: String(clientId), clientSecret: clientSecret as string | undefined };
}

/** The header by which a client shows its secret (RFC 6749 §2.3.1). */
export const basic = (clientId: string, clientSecret = '') => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
});

/** A registered server of the sandbox, with its credential. */
export async function newResource(developer: Developer, resource: string) {
  const answer = await developer('POST', '/v1/resources', { resource, name: 'Calendar server' });
  if (answer.statusCode !== 201) throw new Error(`resource: ${answer.body}`);
  const { id, credential } = answer.json();
  return { id: String(id), credential: String(credential) };
}

/** An independent client, which reads the metadata first. */
export function discover(url: string, clientId: string, auth: openid.ClientAuth = openid.None()) {
  return openid.discovery(new URL(url), clientId, undefined, auth, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

/** Follows the link of a client, as a browser does. @returns the address to which it is sent on */
export async function follow(link: URL): Promise<URL> {
  const answer = await fetch(link, { redirect: 'manual', headers: { accept: 'text/html' } });
  if (answer.status !== 303) throw new Error(`${answer.status} ${await answer.text()}`);
  return new URL(answer.headers.get('location') ?? '');
}

/** A link with PKCE and `state`, and what the client keeps of it. */
export async function askWith(config: openid.Configuration, parameters: Record<string, string> = {}) {
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedState = openid.randomState();
  const link = openid.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'calendar:read',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    ...parameters,
  });
  return { link, checks: { pkceCodeVerifier, expectedState } };
}

/** A token that a new client has bound to its key, and the client's way to show it with its proof. */
export async function boundToken(developer: Developer, url: string, parameters: Record<string, string>) {
  const { clientId } = await newClient(developer, { authMethod: 'none' });
  const config = await discover(url, clientId);
  const { link, checks } = await askWith(config, parameters);
  const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
  const back = await follow(link);
  const { access_token: token } = await openid.authorizationCodeGrant(config, back, checks, {}, { DPoP });
  const show = (address: string): Promise<Response> =>
    openid
      .fetchProtectedResource(config, token, new URL(address), 'GET', null, undefined, { DPoP })
      .catch((refusal: { response: Response }) => refusal.response);
  return { token, show };
}

/** Calls an endpoint with a form. */
export function post(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  return fetch(url, { method: 'POST', body: new URLSearchParams(form), headers });
}

/** The form by which a code is exchanged. */
export const formOf = (
  config: openid.Configuration,
  back: URL,
  { pkceCodeVerifier }: { readonly pkceCodeVerifier: string },
) => ({
  grant_type: 'authorization_code',
  client_id: config.clientMetadata().client_id,
  redirect_uri: REDIRECT,
  code: back.searchParams.get('code') ?? '',
  code_verifier: pkceCodeVerifier,
});

/** The name of an OAuth error. */
export const errorIn = async (answer: Response): Promise<unknown> => Object(await answer.json()).error;

/** A public client of a new developer, and a code of it. */
export async function victimOn(
  service: Service & { readonly url: string },
  parameters: Record<string, string> = {},
) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  const config = await discover(service.url, clientId);
  const { link, checks } = await askWith(config, parameters);
  const back = await follow(link);
  return { acme, clientId, config, link, checks, back, form: formOf(config, back, checks) };
}

/** The answer to a link whose parameters are changed; a null leaves one out. */
export function visit(link: URL, changes: Record<string, string | null> = {}) {
  const changed = new URL(link);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
  }
  return fetch(changed, { redirect: 'manual', headers: { accept: 'text/html' } });
}

/** A link of a client at `https://auth.test`, and the verifier of its code. */
export async function pkceLink(clientId: string, parameters: Record<string, string> = {}) {
  const verifier = openid.randomPKCECodeVerifier();
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    scope: 'calendar:read',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...parameters,
  });
  return { link: `https://auth.test/oauth/authorize?${query}`, verifier };
}

/** Moves the clock of the service to the real time, by which independent clients make their proofs. */
export const toPresent = (service: Pick<Service, 'clock' | 'advance'>) =>
  service.advance((Date.now() - service.clock().getTime()) / 1000);

/** A live account whose people sign in at their own provider. */
export async function startCustomer(env: Record<string, string> = {}) {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider(env));
  const acme = await service.asDeveloper();
  const { id: connectionId } = await addOidc(acme, provider, { scimManaged: true });
  await provision(service, acme);
  await acme('PATCH', '/v1/me', { consentMode: 'sso' });
  const { clientId, clientSecret = '' } = await newClient(acme);
  const person = personOn(service);
  const visit = async (address: string) => {
    const { pathname, search } = new URL(address, 'https://auth.test');
    // The callback answers others than browsers at once, without the page that posts its parameters.
    const accept = pathname === '/sso/callback' ? '*/*' : 'text/html';
    const answer = await person.call('GET', pathname + search, { headers: { accept } });
    return String(answer.headers.location);
  };
  const signIn = async (login: string) => visit((await provider.visit(await visit(login))).href);
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  /** Calls an endpoint as the client. */
  const send = (path: string, form: Record<string, string>) =>
    service.app.inject({
      method: 'POST',
      url: `/oauth/${path}`,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
    });
  return { service, provider, acme, connectionId, clientId, clientSecret, person, visit, signIn, send };
}
