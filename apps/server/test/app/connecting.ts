import type { AccountsServer } from './accounts-server.ts';
import type { Call, Service, TestOptions } from './start-app.ts';

/** Upstreams of tests are on this machine, and look at the real time. */
export const besideUpstream = (): TestOptions => ({
  env: { CONNECT_ALLOW_PRIVATE_HOSTS: 'true' },
  startsAt: new Date().toISOString(),
});

/** Adds a provider at which the service registers itself. @returns the record */
export async function addProvider(
  developer: Call,
  { issuer }: Pick<AccountsServer, 'issuer'>,
  members: object = {},
) {
  const answer = await developer('POST', '/v1/vault/providers', {
    service: 'files',
    name: 'Files',
    kind: 'oidc',
    issuer,
    scopes: { required: ['openid', 'files:read', 'offline_access'], optional: ['files:write'] },
    account: { source: 'id_token', id: '/sub' },
    authorizeParams: { prompt: 'consent' },
    ...members,
  });
  if (answer.statusCode !== 201) throw new Error(`provider: ${answer.body}`);
  return answer.json();
}

/** Makes a connect session. @returns the record with the ticket of its link */
export async function askToConnect(developer: Call, members: object = {}) {
  const asked = { service: 'files', principalId: 'user_42', ...members };
  const answer = await developer('POST', '/v1/vault/connect-sessions', asked);
  if (answer.statusCode !== 201) throw new Error(`connect session: ${answer.body}`);
  const session = answer.json();
  return { ...session, id: String(session.id), ticket: String(session.connectUrl).split('#t=')[1] ?? '' };
}

/** A browser at the page of a connect session, with its cookies. */
export const browserOf = (service: Pick<Service, 'app'>) => browserAt(service, new Map(), { token: '' });

function browserAt({ app }: Pick<Service, 'app'>, cookies: Map<string, string>, csrf: { token: string }) {
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  async function send(path: string, body?: object, more: Record<string, string> = {}) {
    const answer = await app.inject({
      method: body ? 'POST' : 'GET',
      url: path,
      headers: { cookie: cookie(), 'x-csrf-token': csrf.token, ...more },
      ...(body && { body }),
    });
    for (const { name, value } of answer.cookies) cookies.set(name, value);
    const said = answer.headers['content-type']?.toString().includes('json') ? answer.json() : {};
    if (said.csrfToken) csrf.token = said.csrfToken;
    return answer;
  }

  return {
    cookies,
    /** The same browser, whose requests reach another process of the service. */
    at: (other: Pick<Service, 'app'>) => browserAt(other, cookies, csrf),
    open: ({ id, ticket }: { id: string; ticket: string }, hint?: string) =>
      send(`/v1/connect/${id}/session`, { ticket, ...(hint && { hint }) }),
    show: (id: string) => send(`/v1/connect/${id}`),
    /** The address at which the person signs in. */
    signOn: (id: string, query = '') => send(`/v1/connect/${id}/sso${query}`),
    /** Follows an address of the service itself. */
    follow: (url: string) => send(new URL(url).pathname + new URL(url).search),
    hint: (id: string, hint: string) => send(`/v1/connect/${id}/hint`, { hint }),
    start: (id: string, body: object = {}) => send(`/v1/connect/${id}/start`, body),
    confirm: (id: string, body: object = {}) => send(`/v1/connect/${id}/confirm`, body),
    cancel: (id: string) => send(`/v1/connect/${id}/cancel`, {}),
    code: (id: string, headers?: Record<string, string>) => send(`/v1/connect/${id}/email`, {}, headers),
    checkCode: (id: string, code: string) => send(`/v1/connect/${id}/email/verify`, { code }),
    passkeyOptions: (id: string) => send(`/v1/connect/${id}/passkey/options`, {}),
    passkey: (id: string, body: object) => send(`/v1/connect/${id}/passkey/verify`, body),
    callback: (back: URL) => send(back.pathname + back.search),
  };
}

/** The whole way of a person in the sandbox, where nobody has to prove anything. @returns the credential's id */
export async function connectAccount(
  service: Pick<Service, 'app'>,
  developer: Call,
  upstream: Pick<AccountsServer, 'visit'>,
  members: object = {},
) {
  const session = await askToConnect(developer, members);
  const browser = browserOf(service);
  await browser.open(session);
  const { redirectTo } = (await browser.start(session.id)).json();
  await browser.callback(await upstream.visit(redirectTo));
  const shown = (await developer('GET', `/v1/vault/connect-sessions/${session.id}`)).json();
  if (shown.status === 'connected') return { session, credentialId: String(shown.credentialId) };
  const answer = await browser.confirm(session.id);
  if (answer.statusCode !== 200) throw new Error(`confirm: ${answer.body}`);
  return { session, credentialId: String(answer.json().credentialId) };
}
