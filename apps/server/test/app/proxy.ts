import { setTimeout } from 'node:timers/promises';
import type { InjectOptions } from 'fastify';
import { grantTo } from './flow.ts';
import { startReceiver } from './receiving.ts';
import type { Call, Developer, Service } from './start-app.ts';
import { storeCredential } from './vault.ts';

/** The settings under which profiles may name servers of this machine. */
export const onThisMachine = {
  VAULT_PROXY_ALLOW_PRIVATE_HOSTS: 'true',
  VAULT_REFRESH_ALLOW_PRIVATE_HOSTS: 'true',
};

/** Lets everything below `/repos` through. A test about rules sets its own. */
const rules = [
  {
    id: 'all',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: '/repos/{rest+}',
    unmapped: true,
  },
];

/** Puts a profile for the service `github`. @returns the answer */
export const putProfile = (developer: Call, origin: string, members: object = {}) =>
  developer('PUT', '/v1/vault/proxy-profiles/github', {
    upstreams: { api: origin },
    inject: { style: 'bearer' },
    rules,
    ...members,
  });

interface ProxiedOptions {
  readonly profile?: object;
  readonly credential?: object;
  readonly request?: object;
  /** The upstream, when tests share one. */
  readonly upstream?: Awaited<ReturnType<typeof startReceiver>>;
}

/** An upstream with a profile, a credential that was stored with it, and a grant for its proxy. */
export async function proxied(
  acme: Developer,
  { profile, credential, request, upstream }: ProxiedOptions = {},
) {
  const receiver = upstream ?? (await startReceiver());
  const origin = `http://127.0.0.1:${receiver.port}`;
  receiver.answer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"ok":true}');
  });
  const put = await putProfile(acme, origin, profile);
  if (put.statusCode !== 200) throw new Error(`profile: ${put.body}`);
  const stored = await storeCredential(acme, credential);
  const held = await grantTo(acme, { scopes: ['vault:github:proxy'], ...request });
  const { agentId, grantId, grantToken } = held; // the rest has no type
  return { receiver, origin, storedId: String(stored.id), agentId, grantId, grantToken };
}

/** Waits until the row of each call says what came of it, which is written after the answer. */
export async function untilWritten(
  { db }: Pick<Service, 'db'>,
  { developerId }: Pick<Developer, 'developerId'>,
): Promise<void> {
  const unwritten = db
    .selectFrom('vaultProxyCalls')
    .select('id')
    .where('developerId', '=', developerId)
    .where('outcome', 'is', null);
  while ((await unwritten.execute()).length > 0) await setTimeout(1);
}

/** Sends a request through the proxy. @param path at the upstream, with a slash at its beginning */
export const through = (
  { app }: Service,
  token: string,
  path: string,
  { headers = {}, ...options }: InjectOptions = {},
) =>
  app.inject({
    method: 'GET',
    url: `/v1/vault/proxy/github${path}`,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    ...options,
  });
