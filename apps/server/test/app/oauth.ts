import * as openid from 'openid-client';
import type { Developer, Service } from './start-app.ts';

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
