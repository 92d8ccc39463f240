import { randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';
import pg from 'pg';

/**
 * The other service of `npm run bench -- oauth`: node-oidc-provider in a process of its own, over the same Postgres. Its
 * documentation leaves the storage to an adapter; this one has a table, a prepared statement for each method, and commits
 * each write.
 */

/** What this process says once it listens. */
export interface Peer {
  readonly port: number;
  readonly clients: readonly PeerClient[];
  /** By the format of their access tokens. */
  readonly resources: typeof RESOURCES;
  readonly scope: string;
}

/** What a client of this server sends. */
export interface PeerClient {
  readonly client_id: string;
  readonly client_secret: string;
  /** By the resource, which decides the format of the access token. */
  readonly refreshTokens: Readonly<Record<string, string>>;
  /** An opaque token of a person, which can be introspected. */
  readonly accessToken: string;
}

const RESOURCES = {
  /** Access tokens for it are JWT, signed with RS256. The server does not store them. */
  jwt: 'https://jwt.bench.test',
  /** Access tokens for it are opaque, as by default, and stored. */
  opaque: 'https://opaque.bench.test',
} as const;
const SCOPE = 'calendar:read email:send github:read tool:crm:read';
const PERSON = 'user_42';
const SECONDS = { ...{ AccessToken: 3600, ClientCredentials: 3600 }, RefreshToken: 86_400, Grant: 86_400 };

const TABLE = `
  create schema peer;
  create table peer.payloads (
    model text, id text, payload jsonb not null, grant_id text, uid text, user_code text, consumed_at timestamptz,
    expires_at timestamptz, primary key (model, id)
  );
  create index on peer.payloads (grant_id) where grant_id is not null;
  create index on peer.payloads (uid) where uid is not null;
  create index on peer.payloads (user_code) where user_code is not null`;
const FOUND = `select payload, consumed_at from peer.payloads where (expires_at is null or expires_at > now())`;
const STATEMENTS = {
  find: `${FOUND} and model = $1 and id = $2`,
  findByUid: `${FOUND} and model = $1 and uid = $2`,
  findByUserCode: `${FOUND} and model = $1 and user_code = $2`,
  upsert: `insert into peer.payloads (model, id, payload, grant_id, uid, user_code, expires_at)
    values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
    on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
      user_code = excluded.user_code, expires_at = excluded.expires_at`,
  consume: 'update peer.payloads set consumed_at = now() where model = $1 and id = $2',
  destroy: 'delete from peer.payloads where model = $1 and id = $2',
  revoke: 'delete from peer.payloads where model = $1 and grant_id = $2',
} as const;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(TABLE);

const ask = (name: keyof typeof STATEMENTS, values: readonly unknown[]) =>
  pool.query({ name, text: STATEMENTS[name], values: [...values] });

function adapterOf(model: string): Adapter {
  const find = async (by: 'find' | 'findByUid' | 'findByUserCode', key: string) => {
    const [row] = (await ask(by, [model, key])).rows;
    return row && { ...row.payload, ...(row.consumed_at && { consumed: row.consumed_at.getTime() / 1000 }) };
  };
  return {
    find: (id) => find('find', id),
    findByUid: (uid) => find('findByUid', uid),
    findByUserCode: (code) => find('findByUserCode', code),
    async upsert(id, payload, expiresIn) {
      const { grantId, uid, userCode } = payload;
      await ask('upsert', [model, id, payload, grantId, uid, userCode, expiresIn]);
    },
    consume: async (id) => void (await ask('consume', [model, id])),
    destroy: async (id) => void (await ask('destroy', [model, id])),
    revokeByGrantId: async (grantId) => void (await ask('revoke', [model, grantId])),
  };
}

const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const provider = new Provider('http://peer.bench.test', {
  adapter: adapterOf,
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'bench' }] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: async () => true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_, resource) => ({
        scope: SCOPE,
        audience: resource,
        accessTokenFormat: resource === RESOURCES.jwt ? 'jwt' : 'opaque',
      }),
    },
  },
  rotateRefreshToken: true,
  ttl: SECONDS,
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
});

/** Stores a client, which anybody could have registered since the start, and gives it tokens of a person. */
async function newClient(number: number): Promise<PeerClient> {
  const client_id = `client_${number}`;
  const client_secret = randomBytes(32).toString('base64url');
  const metadata: AdapterPayload = {
    ...{ client_id, client_secret, token_endpoint_auth_method: 'client_secret_post' },
    grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    redirect_uris: ['https://client.test/cb'],
  };
  await adapterOf('Client').upsert(client_id, metadata, SECONDS.Grant);
  const client = await provider.Client.find(client_id);
  if (!client) throw new Error('The client was not stored.');
  const refreshTokens: Record<string, string> = {};
  let accessToken = '';
  for (const resource of Object.values(RESOURCES)) {
    const grant = new provider.Grant({ accountId: PERSON, clientId: client_id });
    grant.addResourceScope(resource, SCOPE);
    const grantId = await grant.save();
    const given = { accountId: PERSON, client, grantId, gty: 'authorization_code', scope: SCOPE };
    refreshTokens[resource] = await new provider.RefreshToken({ ...given, resource }).save();
    if (resource === RESOURCES.opaque)
      accessToken = await new provider.AccessToken({ ...given, aud: resource }).save();
  }
  return { client_id, client_secret, refreshTokens, accessToken };
}

const clients: PeerClient[] = [];
while (clients.length < Number(process.env.CLIENTS)) clients.push(await newClient(clients.length));
await pool.query('analyze peer.payloads');
const server = provider.listen(0, '127.0.0.1', () => {
  const peer: Peer = { port: Object(server.address()).port, clients, resources: RESOURCES, scope: SCOPE };
  process.send?.(peer);
});
process.once('disconnect', () => process.exit());
