import { describe, expect, test } from 'vitest';
import { actionsOf, entriesOf, pagesOf, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';
import { storeCredential, upstream } from '../../../../test/app/vault.ts';

const sandbox = sharedSandbox();
const path = '/v1/vault/credentials';

const rowsOf = ({ db }: Service, { developerId }: Developer) =>
  db.selectFrom('vaultCredentials').selectAll().where('developerId', '=', developerId).execute();

describe('storing', () => {
  test('answers with the metadata, keeps the secrets, and is recorded', async () => {
    const { acme } = await sandbox();

    const answer = await acme('POST', path, {
      ...upstream,
      refreshToken: 'upstream-refresh-1',
      tokenExpiresAt: '2026-03-01T12:00:00+02:00',
      metadata: { login: 'ada', teams: ['core'] },
    });

    expect(answer.statusCode).toBe(201);
    const stored = answer.json();
    expect(stored).toEqual({
      id: expect.stringMatching(/^vault_[0-9A-HJKMNP-TV-Z]{26}$/),
      principalId: 'user_42',
      service: 'github',
      credentialType: 'oauth2',
      tokenExpiresAt: '2026-03-01T10:00:00.000Z',
      metadata: { login: 'ada', teams: ['core'] },
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
      hasRefreshToken: true,
      refreshStatus: 'none',
      proxy: null,
      replaced: false,
    });
    const [entry] = await entriesOf(acme, 'vault.credential.stored');
    expect(entry).toMatchObject({ status: 'success', principalId: 'user_42' });
    expect(entry?.metadata).toEqual({
      credentialId: stored.id,
      service: 'github',
      credentialType: 'oauth2',
      replaced: false,
      actor: expect.stringMatching(/^developer:key_/),
    });
  });

  test('again replaces every field, and keeps id and time of creation', async () => {
    const { acme, service } = await startSandbox();
    const first = await storeCredential(acme, { refreshToken: 'r', metadata: { a: 1 } });
    service.advance(60);

    const second = await storeCredential(acme, { credentialType: 'api_key' });

    expect(second).toMatchObject({
      id: first.id,
      createdAt: first.createdAt,
      updatedAt: '2026-01-01T00:01:00.000Z',
      credentialType: 'api_key',
      tokenExpiresAt: null,
      metadata: {},
      hasRefreshToken: false,
      replaced: true,
    });
    expect((await acme('GET', path)).json().total).toBe(1);
  });

  test('by many at once succeeds for all, and leaves one credential', async () => {
    const { acme } = await sandbox();

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, each) =>
        acme('POST', path, { ...upstream, accessToken: `upstream-${each}` }),
      ),
    );

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(201));
    expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
    expect(answers.filter((answer) => !answer.json().replaced)).toHaveLength(1);
  });

  test('by many at once in a plan with room for one succeeds for all', async () => {
    const { acme } = await startSandbox({ env: { PLAN_FREE_VAULT_CREDENTIALS: '1' } });

    const answers = await Promise.all(Array.from({ length: 6 }, () => acme('POST', path, upstream)));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(201));
    expect((await acme('POST', path, { ...upstream, service: 'gitlab' })).statusCode).toBe(402);
  });

  test('under a name that differs in case alone is a conflict', async () => {
    const { acme } = await sandbox();
    await storeCredential(acme, { service: 'GitHub' });

    const refused = await acme('POST', path, { ...upstream, service: 'github' });

    expect(refused.statusCode).toBe(409);
    expect(refused.json()).toMatchObject({ code: 'CONFLICT', details: { field: 'service' } });
    expect((await acme('POST', path, { ...upstream, principalId: 'user_43' })).statusCode).toBe(201);
  });

  test('more than the plan includes is refused, and deleting makes room', async () => {
    const { acme } = await startSandbox({ env: { PLAN_FREE_VAULT_CREDENTIALS: '1' } });
    const { id } = await storeCredential(acme);

    const refused = await acme('POST', path, { ...upstream, service: 'gitlab' });

    expect(refused.statusCode).toBe(402);
    expect(refused.json().details).toMatchObject({ resource: 'vault_credentials', limit: 1 });
    expect((await storeCredential(acme)).replaced).toBe(true);
    await acme('DELETE', `${path}/${id}`);
    expect((await storeCredential(acme, { service: 'gitlab' })).replaced).toBe(false);
  });

  test('needs a vault key, and nothing else does', async () => {
    const { acme } = await startSandbox({ env: { VAULT_ENCRYPTION_KEY: '' } });

    const refused = await acme('POST', path, upstream);

    expect(refused.statusCode).toBe(503);
    expect(refused.json()).toMatchObject({
      code: 'NOT_CONFIGURED',
      details: { setting: 'VAULT_ENCRYPTION_KEY' },
    });
    expect((await acme('GET', path)).json()).toMatchObject({ credentials: [], total: 0 });
    expect((await acme('GET', `${path}/vault_01K9Z3QW5M8T2V4X6Y7Z8A9B0C`)).statusCode).toBe(404);
    expect((await acme('DELETE', `${path}/vault_01K9Z3QW5M8T2V4X6Y7Z8A9B0C`)).statusCode).toBe(404);
  });

  const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });

  test.each([
    ['no principal', { principalId: undefined }, 'principalId'],
    ['a control character in the principal', { principalId: 'a\nb' }, 'principalId'],
    ['no service', { service: undefined }, 'service'],
    ['a blank in the service', { service: 'git hub' }, 'service'],
    ['an encoded service', { service: 'git%68ub' }, 'service'],
    ['a wildcard as the service', { service: '*' }, 'service'],
    ['a service of 65 characters', { service: 'a'.repeat(65) }, 'service'],
    ['V7 the service `vault`', { service: 'vault' }, 'service'],
    ['V7 the service `Credentials`', { service: 'Credentials' }, 'service'],
    ['V7 the service `Tool`', { service: 'Tool' }, 'service'],
    ['no token', { accessToken: undefined }, 'accessToken'],
    ['an empty token', { accessToken: '' }, 'accessToken'],
    ['a token of more bytes than 16 KiB', { accessToken: 'ü'.repeat(8193) }, 'accessToken'],
    ['a type in capitals', { credentialType: 'OAuth2' }, 'credentialType'],
    ['a time without its zone', { tokenExpiresAt: '2026-01-01T00:00:00' }, 'tokenExpiresAt'],
    ['metadata that is a list', { metadata: [] }, 'metadata'],
    ['metadata of more than 16 KiB', { metadata: { a: 'x'.repeat(16_384) } }, 'metadata'],
    ['metadata of six levels', { metadata: nested(6) }, 'metadata.a.a.a.a.a'],
    ['V7 a secret in the metadata', { metadata: { api_key: 'x' } }, 'metadata.api_key'],
    [
      'V7 a secret deep in the metadata',
      { metadata: { a: [{ 'Client-Secret': 1 }] } },
      'metadata.a.0.Client-Secret',
    ],
    ['an unknown field', { dev: 'dev_1' }, 'dev'],
  ])('is refused with %s', async (_, members, field) => {
    const { acme } = await sandbox();

    const refused = await acme('POST', path, { ...upstream, ...members });

    expect(refused.statusCode).toBe(400);
    expect(refused.json().details.fields[0].path).toBe(field);
    expect(refused.body).not.toContain(upstream.accessToken);
  });

  test('is refused by the size of a body over 64 KiB', async () => {
    const { acme } = await sandbox();

    const refused = await acme('POST', path, { ...upstream, accessToken: 'x'.repeat(65_536) });

    expect(refused.statusCode).toBe(413);
    expect(refused.json().details).toEqual({ limit: 65_536 });
  });
});

describe('the list', () => {
  test('is newest first, by principal and service, in both styles of pages', async () => {
    const { acme, service } = await startSandbox();
    const ids: string[] = [];
    for (const [principalId, name] of [
      ['user_1', 'github'],
      ['user_1', 'gitlab'],
      ['user_2', 'github'],
    ]) {
      ids.unshift((await storeCredential(acme, { principalId, service: name })).id);
      service.advance(1);
    }
    const listed = async (query: string) =>
      (await acme('GET', `${path}?${query}`)).json().credentials.map(({ id }: { id: string }) => id);

    expect(await listed('')).toEqual(ids);
    expect(await listed('principalId=user_1')).toEqual(ids.slice(1));
    expect(await listed('service=github')).toEqual([ids[0], ids[2]]);
    expect(await listed('service=GITHUB')).toEqual([]);
    expect((await acme('GET', `${path}?page=2&pageSize=2`)).json()).toMatchObject({
      credentials: [{ id: ids[2] }],
      total: 3,
      page: 2,
      pageSize: 2,
      nextCursor: null,
    });
    expect((await pagesOf(acme, `${path}?limit=2`, 'credentials')).flat().map(({ id }) => id)).toEqual(ids);
  });

  test('V5: and a single credential show no secret and no sealed text', async () => {
    const { acme } = await sandbox();
    const { id } = await storeCredential(acme, { refreshToken: 'upstream-refresh-1' });

    const [one, all] = [await acme('GET', `${path}/${id}`), await acme('GET', path)];

    expect(one.json()).toEqual({
      id,
      principalId: 'user_42',
      service: 'github',
      credentialType: 'oauth2',
      tokenExpiresAt: null,
      metadata: {},
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      hasRefreshToken: true,
      refreshStatus: 'none',
      proxy: null,
      lastExchangedAt: null,
      keyId: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(all.json().credentials).toEqual([one.json()]);
  });
});

describe('deleting', () => {
  test('erases the credential with its data key, and is recorded', async () => {
    const { acme, service } = await startSandbox();
    const { id } = await storeCredential(acme);

    const answer = await acme('DELETE', `${path}/${id}`);

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect((await acme('DELETE', `${path}/${id}`)).statusCode).toBe(404);
    expect((await acme('GET', `${path}/${id}`)).statusCode).toBe(404);
    expect(await rowsOf(service, acme)).toEqual([]);
    const [entry] = await entriesOf(acme, 'vault.credential.deleted');
    expect(entry?.metadata).toMatchObject({ credentialId: id, service: 'github', reason: 'api' });
  });

  test('comes for all credentials with the end of the account', async () => {
    const { acme, service } = await startSandbox();
    await storeCredential(acme);
    await storeCredential(acme, { service: 'gitlab' });

    await acme('POST', '/v1/me/close', { confirm: acme.developerId });

    expect(await rowsOf(service, acme)).toEqual([]);
    const deleted = await service.db
      .selectFrom('auditEntries')
      .select('metadata')
      .where('action', '=', 'vault.credential.deleted')
      .where('developerId', '=', acme.developerId)
      .execute();
    expect(deleted.map(({ metadata }) => Object(metadata).reason)).toEqual([
      'developer_deleted',
      'developer_deleted',
    ]);
  });
});

test('a refused store records nothing', async () => {
  const { acme } = await sandbox();

  await acme('POST', path, { ...upstream, service: 'vault' });

  expect(await actionsOf(acme)).toEqual(['developer.created']);
});
