import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  entriesOf,
  grantTo,
  openSession,
  partsOf,
  refusalOf,
  sharedSandbox,
  signedBy,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { exchange, storeCredential } from '../../../../test/app/vault.ts';

const sandbox = sharedSandbox();

/** A stored credential, and a grant with these scopes. */
async function heldBy(acme: Developer, scopes: readonly string[], request: object = {}) {
  const stored = await storeCredential(acme);
  return { stored, ...(await grantTo(acme, { scopes, ...request })) };
}

describe('the exchange', () => {
  test('gives the credential, with exactly its members, and is recorded', async () => {
    const { acme, service } = await sandbox();
    const stored = await storeCredential(acme, {
      tokenExpiresAt: '2027-01-01T00:00:00Z',
      metadata: { login: 'ada' },
    });
    const held = await grantTo(acme, { scopes: ['github:read'] });

    const answer = await exchange(service, held.grantToken);

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      accessToken: 'upstream-access-1',
      service: 'github',
      credentialType: 'oauth2',
      tokenExpiresAt: '2027-01-01T00:00:00.000Z',
      metadata: { login: 'ada' },
    });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    const [entry] = await entriesOf(acme, 'vault.credential.exchanged');
    expect(entry).toMatchObject({
      status: 'success',
      agentId: held.agentId,
      agentDid: held.did,
      grantId: held.grantId,
      principalId: 'user_42',
      metadata: {
        credentialId: stored.id,
        service: 'github',
        jti: partsOf(held.grantToken).payload.jti,
        matchedScope: 'github:read',
        refreshed: false,
        actor: `agent:${held.agentId}`,
      },
    });
    const { events } = (await acme('GET', '/v1/events?types=vault.credential.exchanged')).json();
    expect(events.map(({ data }: { data: object }) => data)).toEqual([
      {
        credentialId: stored.id,
        service: 'github',
        grantId: held.grantId,
        agentId: held.agentId,
        principalId: 'user_42',
      },
    ]);
  });

  test('sets the time of the last exchange, once a minute', async () => {
    const { acme, service } = await startSandbox();
    const { stored, grantToken } = await heldBy(acme, ['github:read']);
    const lastOf = async () =>
      (await acme('GET', `/v1/vault/credentials/${stored.id}`)).json().lastExchangedAt;

    const seen = [await lastOf()];
    for (const seconds of [0, 59, 1]) {
      service.advance(seconds);
      await exchange(service, grantToken);
      seen.push(await lastOf());
    }

    expect(seen).toEqual([
      null,
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:01:00.000Z',
    ]);
  });

  test('does not wait for another change of the credential to set that time', async () => {
    const { acme, service } = await startSandbox();
    const { stored, grantToken } = await heldBy(acme, ['github:read']);

    await service.db.transaction().execute(async (tx) => {
      await tx
        .selectFrom('vaultCredentials')
        .select('id')
        .where('id', '=', stored.id)
        .forNoKeyUpdate()
        .execute();
      expect((await exchange(service, grantToken)).statusCode).toBe(200);
    });
  });

  test('does not count against the plan of the developer', async () => {
    // So low a limit is not leased, so what is left is exact.
    const { acme, service } = await startSandbox({ env: { RATE_LIMIT_PLAN_FREE: '39' } });
    const { grantToken } = await heldBy(acme, ['github:read']);
    const before = Number((await acme('GET', '/v1/me')).headers['x-ratelimit-remaining']);

    for (let each = 0; each < 5; each += 1) await exchange(service, grantToken);

    const after = Number((await acme('GET', '/v1/me')).headers['x-ratelimit-remaining']);
    expect(after).toBe(before - 1);
  });
});

describe('V4: the scopes', () => {
  test.each([
    '*',
    'github:*',
    'github:read',
    'github:credentials:read',
    'vault:github:*',
    'vault:github:read',
    'vault:credentials:exchange',
  ])('%s allows it', async (scope) => {
    const { acme, service } = await sandbox();
    const { grantToken } = await heldBy(acme, ['calendar:read', scope]);

    expect((await exchange(service, grantToken)).statusCode).toBe(200);
    const [entry] = await entriesOf(acme, 'vault.credential.exchanged');
    expect(entry?.metadata.matchedScope).toBe(scope);
  });

  test.each([
    'github:write',
    'vault:*',
    'vault:github:write',
    'vault:github:proxy',
    'vault:credentials:proxy',
    'vault:gitlab:read',
    'tool:github:read',
    'tool:*:*',
    'git:*',
    'githubx:read',
    'GitHub:read',
    'github:credentials:*',
    'github:credentials:read:all',
    'vault:credentials:*',
    '*:*',
    '*:read',
  ])('%s does not', async (scope) => {
    const { acme, service } = await sandbox();
    const { grantToken } = await heldBy(acme, [scope]);

    const refused = await exchange(service, grantToken);

    expect(refusalOf(refused)).toBe('403 FORBIDDEN');
    const [entry] = await entriesOf(acme, 'vault.exchange_blocked');
    expect(entry).toMatchObject({ status: 'blocked', metadata: { service: 'github', reason: 'scope' } });
  });
});

describe('the credential', () => {
  test('is that of the token’s own developer, principal and service', async () => {
    const { acme, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    await storeCredential(other);
    await storeCredential(acme, { principalId: 'user_43' });
    await storeCredential(acme, { service: 'gitlab' });
    const { grantToken } = await grantTo(acme, { scopes: ['*'] });

    const refused = await exchange(service, grantToken);

    expect(refusalOf(refused)).toBe('404 NOT_FOUND');
    const [entry] = await entriesOf(acme, 'vault.exchange_blocked');
    expect(entry?.metadata).toMatchObject({ service: 'github', reason: 'not_found' });
    expect((await exchange(service, grantToken, { service: 'GITLAB' })).statusCode).toBe(404);
    expect((await exchange(service, grantToken, { service: 'gitlab' })).statusCode).toBe(200);
  });

  test.each([
    ['is absent', {}],
    ['is empty', { service: '' }],
    ['is a wildcard', { service: '*' }],
    ['is encoded', { service: 'git%68ub' }],
    ['holds NUL', { service: 'github\u0000' }],
    ['is a list', { service: ['github'] }],
    ['is null', { service: null }],
    ['comes with a developer', { service: 'github', dev: 'dev_1' }],
    ['comes with a principal', { service: 'github', sub: 'user_43' }],
  ])('V3: a service that %s is a bad request', async (_, body) => {
    const { acme, service } = await sandbox();
    const { grantToken } = await heldBy(acme, ['*']);

    expect(refusalOf(await exchange(service, grantToken, body))).toBe('400 BAD_REQUEST');
  });

  test('needs the vault key, and a refusal does not', async () => {
    const { acme, service } = await sandbox();
    const { grantToken } = await heldBy(acme, ['github:read', 'gitlab:read']);
    const { databaseUrl } = service;
    const without = await startApp({ databaseUrl, env: { VAULT_ENCRYPTION_KEY: '' } });

    expect((await exchange(without, grantToken)).json()).toMatchObject({
      code: 'NOT_CONFIGURED',
      details: { setting: 'VAULT_ENCRYPTION_KEY' },
    });
    expect((await exchange(without, grantToken, { service: 'gitlab' })).statusCode).toBe(404);
    expect((await exchange(without, grantToken, { service: 'slack' })).statusCode).toBe(403);
    expect((await exchange(without, grantToken, {})).statusCode).toBe(400);
    expect((await exchange(without, 'nonsense')).statusCode).toBe(401);
  });
});

describe('V1: a sealed text that was moved', () => {
  test.each(['principal_id', 'service', 'access_token', 'data_key'])(
    'by its %s does not open, is no 404, and is reported',
    async (column) => {
      const { acme, service } = await startSandbox({ logLevel: 'info' });
      const { stored, grantToken } = await heldBy(acme, ['*']);
      const other = await storeCredential(acme, { principalId: 'user_43', service: 'gitlab' });
      const moved = column.endsWith('_id') || column === 'service' ? other.id : stored.id;
      const set =
        column === 'principal_id'
          ? sql`principal_id = 'user_42'`
          : column === 'service'
            ? sql`service = 'slack', principal_id = 'user_42'`
            : sql`${sql.ref(column)} = (select ${sql.ref(column)} from vault_credentials where id = ${other.id})`;
      await sql`update vault_credentials set ${set} where id = ${moved}`.execute(service.db);
      const name = { principal_id: 'gitlab', service: 'slack' }[column] ?? 'github';

      const refused = await exchange(service, grantToken, { service: name });

      expect(refusalOf(refused)).toBe('500 INTERNAL_ERROR');
      expect(refused.body).not.toContain('upstream');
      const [entry] = await entriesOf(acme, 'vault.exchange_blocked');
      expect(entry).toMatchObject({ status: 'failure', metadata: { reason: 'decrypt' } });
      const lines = service.logLines.map((line) => JSON.parse(line));
      expect(lines.find(({ level }) => level === 'fatal')).toMatchObject({
        credentialId: moved,
        keyId: service.keyRing.vault.current?.id,
      });
    },
  );
});

describe('the token', () => {
  let service: Service;
  let acme: Developer;
  beforeAll(async () => {
    service = await startApp({ isShared: true });
    acme = await service.asDeveloper({ mode: 'sandbox' });
    await storeCredential(acme);
    return service.stop;
  });
  const held = (request: object = {}) => grantTo(acme, { scopes: ['*'], ...request });

  const ends: Record<string, () => Promise<string>> = {
    'none at all': async () => '',
    'an API key': async () => acme.apiKey,
    'the session of a person': async () => {
      await held();
      return (await openSession(acme)).json().sessionToken;
    },
    'a refresh token': async () => (await held()).refreshToken,
    'a token whose signature is altered': async () => {
      const { grantToken } = await held();
      return grantToken.slice(0, -4) + (grantToken.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    },
    'a token with another principal, signed by the service': async () => {
      const { payload } = partsOf((await held()).grantToken);
      return signedBy(service, { ...payload, sub: 'user_43' });
    },
    'a token with more scopes, signed by the service': async () => {
      const { grantToken } = await held({ scopes: ['calendar:read'] });
      const { payload } = partsOf(grantToken);
      return signedBy(service, { ...payload, scp: ['*'], scope: '*' });
    },
    'a token that was never stored': async () => {
      const { payload } = partsOf((await held()).grantToken);
      return signedBy(service, { ...payload, jti: 'tok_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' });
    },
    'a token that is bound to a key, without its proof': async () => {
      const { payload } = partsOf((await held()).grantToken);
      return signedBy(service, { ...payload, cnf: { jkt: 'A'.repeat(43) } });
    },
    'a revoked token': async () => {
      const { grantToken } = await held();
      await acme('POST', '/v1/tokens/revoke', { token: grantToken });
      return grantToken;
    },
    'a token of a revoked grant': async () => {
      const { grantToken, grantId } = await held();
      await acme('DELETE', `/v1/grants/${grantId}`);
      return grantToken;
    },
    'a token of a suspended agent': async () => {
      const { grantToken, agentId } = await held();
      await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
      return grantToken;
    },
    'a token of a revoked agent': async () => {
      const { grantToken, agentId } = await held();
      await acme('DELETE', `/v1/agents/${agentId}`);
      return grantToken;
    },
    'a token of a child of a revoked grant': async () => {
      const { grantToken, grantId, agentId } = await held();
      const part = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['github:read'] };
      const child = (await acme('POST', '/v1/grants/delegate', part)).json().grantToken;
      expect((await exchange(service, child)).statusCode).toBe(200);
      await acme('DELETE', `/v1/grants/${grantId}`);
      return child;
    },
    'a token for another resource server': async () =>
      (await held({ audience: 'https://tools.test' })).grantToken,
    'a token of a closed account': async () => {
      const closed = await service.asDeveloper({ mode: 'sandbox' });
      const { grantToken } = await grantTo(closed, { scopes: ['*'] });
      await closed('POST', '/v1/me/close', { confirm: closed.developerId });
      return grantToken;
    },
  };

  test.each(Object.keys(ends))('V3: %s is refused, in the words of every refusal', async (kind) => {
    const token = String(await ends[kind]?.());

    const refused = await exchange(service, token);

    expect(refused.statusCode).toBe(401);
    const { requestId: _, ...body } = refused.json();
    expect(body).toEqual({
      code: 'UNAUTHORIZED',
      message: 'Send `Authorization: Bearer <grant token>` with a live token.',
    });
    expect(refused.headers['www-authenticate']).toBe(token ? 'Bearer error="invalid_token"' : 'Bearer');
  });

  test('is refused when it has expired, before its body is looked at', async () => {
    const late = await startSandbox();
    const { grantToken } = await heldBy(late.acme, ['*']);
    late.advance(86_401);

    expect((await exchange(late.service, grantToken)).statusCode).toBe(401);
    const broken = await late.service.app.inject({
      method: 'POST',
      url: '/v1/vault/credentials/exchange',
      headers: { authorization: `Bearer ${grantToken}`, 'content-type': 'text/plain' },
      payload: '{',
    });
    expect(broken.statusCode).toBe(401);
  });

  test.each([
    ['another scheme', (token: string) => ({ authorization: `Basic ${token}` })],
    ['the scheme of bound tokens', (token: string) => ({ authorization: `DPoP ${token}` })],
    ['two headers', (token: string) => ({ authorization: [`Bearer ${token}`, `Bearer ${token}`] })],
    ['a header that is not `Authorization`', (token: string) => ({ 'x-api-key': token })],
  ])('is refused in %s', async (_, headersOf) => {
    const { grantToken } = await held();
    const headers = headersOf(grantToken);

    const refused = await service.app.inject({
      method: 'POST',
      url: '/v1/vault/credentials/exchange',
      headers: Object(headers),
      body: { service: 'github' },
    });

    expect(refused.statusCode).toBe(401);
  });

  test('passes when the service is its audience', async () => {
    const { grantToken } = await held({ audience: service.settings.tokens.issuer });

    expect((await exchange(service, grantToken)).statusCode).toBe(200);
  });
});

describe('the rate', () => {
  test('is twenty a minute for each token, whatever came of them', async () => {
    const { acme, service } = await startSandbox({ env: { RATE_LIMIT_VAULT_EXCHANGE: '20' } });
    const { grantToken, refreshToken, agentId } = await heldBy(acme, ['github:read']);
    const second = (await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).json().grantToken;

    const statuses: number[] = [];
    for (let each = 0; each < 20; each += 1) {
      const body = each % 2 === 0 ? { service: 'github' } : {};
      statuses.push((await exchange(service, grantToken, body)).statusCode);
    }
    const refused = await exchange(service, grantToken);

    expect(statuses).toEqual(Array.from({ length: 20 }, (_, each) => (each % 2 === 0 ? 200 : 400)));
    expect(refused.statusCode).toBe(429);
    expect(refused.headers).toMatchObject({
      'retry-after': expect.any(String),
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '0',
    });
    expect((await exchange(service, second)).statusCode).toBe(200);
    service.advance(60);
    expect((await exchange(service, grantToken)).headers['x-ratelimit-remaining']).toBe('19');
  });

  test('is not that of a token for those who only guess, who are counted by address', async () => {
    const { service } = await startSandbox({ store: 'memory', env: { RATE_LIMIT_DEFAULT: '30' } });

    const left = async () => Number((await exchange(service, 'guess')).headers['x-ratelimit-remaining']);

    expect((await left()) - (await left())).toBe(1);
  });
});

describe('a grant that limits calls', () => {
  const entry = { type: 'urn:service:tools:v1', connector: 'github' };
  const scopes = ['github:read', 'tool:github:read'];

  test.each([
    ['counts the calls of the connector', { caps: { issues: { per_day: 5 } } }, 403],
    ['counts its cost', { caps: { cost_units: { per_day: 5 } } }, 403],
    ['has rules for arguments', { tools: ['pay'], arguments: { pay: { '/amount': { max: '5' } } } }, 403],
    ['names tools', { tools: ['issues'] }, 200],
    ['names a region', { data_region: 'eu' }, 200],
    ['counts the calls of another connector', { connector: 'slack', caps: { a: { per_day: 5 } } }, 200],
    ['counts those of its name in capitals', { connector: 'GITHUB', caps: { a: { per_day: 5 } } }, 403],
  ])('and %s', async (_, members, status) => {
    const { acme, service } = await sandbox();
    const authorizationDetails = [{ ...entry, ...members }];
    const tools = authorizationDetails.map(({ connector }) => `tool:${connector}:read`);
    const { grantToken } = await heldBy(acme, [...scopes, ...tools], { authorizationDetails });

    const answer = await exchange(service, grantToken);

    expect(answer.statusCode).toBe(status);
    if (status === 200) return;
    expect(refusalOf(answer)).toBe('403 FORBIDDEN proxy_only');
    const [blocked] = await entriesOf(acme, 'vault.exchange_blocked');
    expect(blocked?.metadata).toMatchObject({ service: 'github', reason: 'proxy_only' });
  });

  test('passes its limits on to the grants below it', async () => {
    const { acme, service } = await sandbox();
    const authorizationDetails = [{ ...entry, caps: { issues: { per_day: 5 } } }];
    const { grantToken, agentId } = await heldBy(acme, scopes, { authorizationDetails });
    const part = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['github:read'] };
    const child = (await acme('POST', '/v1/grants/delegate', part)).json().grantToken;

    expect(refusalOf(await exchange(service, child))).toBe('403 FORBIDDEN proxy_only');
  });
});

describe('V8: an exchange whose entry cannot be written', () => {
  test('gives no secret', async () => {
    const { acme, service } = await startSandbox();
    const { grantToken } = await heldBy(acme, ['*']);
    await sql`create function no_entry() returns trigger language plpgsql as $$ begin
      if new.action = 'vault.credential.exchanged' then raise 'no room'; end if; return new; end $$`.execute(
      service.db,
    );
    await sql`create trigger no_entry before insert on audit_entries for each row execute function no_entry()`.execute(
      service.db,
    );

    const refused = await exchange(service, grantToken);

    await sql`drop trigger no_entry on audit_entries`.execute(service.db);
    expect(refusalOf(refused)).toBe('503 SERVICE_UNAVAILABLE');
    expect(refused.body).not.toContain('upstream');
    expect((await exchange(service, grantToken)).statusCode).toBe(200);
  });
});

test('an exchange after a change of the vault key seals the data key under the new one', async () => {
  const { acme, service } = await sandbox();
  const { stored, grantToken } = await heldBy(acme, ['*']);
  const env = { VAULT_ENCRYPTION_KEY: 'cd'.repeat(32), VAULT_ENCRYPTION_KEYS_PREVIOUS: 'ab'.repeat(32) };
  const later = await startApp({ databaseUrl: service.databaseUrl, env });

  const answer = await exchange(later, grantToken);

  expect(answer.json().accessToken).toBe('upstream-access-1');
  const { keyId } = (await acme('GET', `/v1/vault/credentials/${stored.id}`)).json();
  expect(keyId).toBe(later.keyRing.vault.current?.id);
  const alone = await startApp({
    databaseUrl: service.databaseUrl,
    env: { VAULT_ENCRYPTION_KEY: 'cd'.repeat(32) },
  });
  expect((await exchange(alone, grantToken)).statusCode).toBe(200);
});
