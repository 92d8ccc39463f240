import type { AccountsServer } from './accounts-server.ts';
import type { Call, Service, TestOptions } from './start-app.ts';

export const APP_BACK = 'https://app.test/sso';

/** Identity providers of tests are on this machine, and look at the real time. */
export const besideProvider = (env: Record<string, string> = {}): TestOptions => ({
  env: { SSO_ALLOW_PRIVATE_HOSTS: 'true', SSO_ALLOW_INSECURE_URLS: 'true', ...env },
  startsAt: new Date().toISOString(),
});

/** Registers the service at a provider that takes registrations. @returns the client, by the names of guides */
export async function registerAt({ issuer }: Pick<AccountsServer, 'issuer'>, base = 'https://auth.test') {
  const registered = await fetch(`${issuer}/reg`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [`${base}/sso/callback`, APP_BACK],
      token_endpoint_auth_method: 'client_secret_basic',
    }),
  });
  const client = Object(await registered.json());
  return { CLIENT_ID: String(client.client_id), CLIENT_SECRET: String(client.client_secret) };
}

/** Adds a connection to such a provider. @returns the record */
export async function addOidc(
  developer: Call,
  provider: Pick<AccountsServer, 'issuer'>,
  members: object = {},
  base?: string,
) {
  const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = await registerAt(provider, base);
  const answer = await developer('POST', '/v1/sso/connections', {
    name: 'Customer',
    protocol: 'oidc',
    issuerUrl: provider.issuer,
    clientId,
    clientSecret,
    redirectUris: [APP_BACK],
    ...members,
  });
  if (answer.statusCode !== 201) throw new Error(`connection: ${answer.body}`);
  return answer.json();
}

/** Provisions people as a customer's directory does: by the subjects of their provider, where connections are `scimManaged`. */
export async function provision(
  { calling }: Pick<Service, 'calling'>,
  developer: Call,
  subjects: readonly string[] = ['ada', 'grace'],
): Promise<void> {
  const { token } = (await developer('POST', '/v1/scim/tokens', { label: 'Directory' })).json();
  for (const subject of subjects) {
    const body = { userName: subject, externalId: subject };
    const answer = await calling(token)('POST', '/scim/v2/Users', body);
    if (answer.statusCode !== 201) throw new Error(`provisioning: ${answer.body}`);
  }
}

/** Begins a login as a program. @returns the answer */
export const startLogin = ({ app }: Service, query: Record<string, string>) =>
  app.inject({ url: `/sso/login?${new URLSearchParams(query)}` });

/** Brings the answer of a provider as a program. */
export const bringBack = ({ app }: Service, back: URL, members: object = {}) =>
  app.inject({
    method: 'POST',
    url: '/sso/callback/oidc',
    body: { ...Object.fromEntries(back.searchParams), ...members },
  });

/** A whole login by OpenID Connect, as a program. @returns the session */
export async function signOn(
  service: Service,
  provider: Pick<AccountsServer, 'visit'>,
  query: Record<string, string>,
) {
  const begun = await startLogin(service, query);
  if (begun.statusCode !== 200) throw new Error(`login: ${begun.body}`);
  const answer = await bringBack(service, await provider.visit(begun.json().authorizeUrl));
  if (answer.statusCode !== 200) throw new Error(`login: ${answer.body}`);
  return answer.json();
}
