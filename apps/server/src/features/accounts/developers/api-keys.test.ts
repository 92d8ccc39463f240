import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { actionsOf, entriesOf, pagesOf, registerAgent } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { listedTo } from '../../../../test/app/streams.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** The keys of an account, newest first. */
const keysOf = async (developer: Developer) => (await developer('GET', '/v1/keys')).json().keys;

async function makeKey(developer: Developer, key: object = {}) {
  const { apiKey, keyId, ...rest } = (
    await developer('POST', '/v1/keys', { name: 'backend', ...key })
  ).json();
  return { apiKey: String(apiKey), keyId: String(keyId), call: service.calling(String(apiKey)), ...rest };
}

const worksWith = async (apiKey: string) =>
  (await service.calling(apiKey)('GET', '/v1/me')).statusCode === 200;

describe('making an API key', () => {
  test('shows the key once, and its record at any time', async () => {
    const acme = await service.asDeveloper();

    const answer = await acme('POST', '/v1/keys', { name: ' CI ', role: 'runtime', expiresIn: '30d' });

    const { apiKey, ...record } = answer.json();
    expect(answer.statusCode).toBe(201);
    expect(apiKey).toMatch(/^bh_live_[\w-]{43}$/);
    expect(record).toEqual({
      id: record.keyId,
      keyId: expect.stringMatching(/^key_/),
      name: 'CI',
      role: 'runtime',
      prefix: apiKey.slice(0, 12),
      createdAt: service.clock().toISOString(),
      lastUsedAt: null,
      expiresAt: new Date(service.clock().getTime() + 30 * 86_400_000).toISOString(),
      status: 'active',
      agentIds: null,
    });
    expect((await keysOf(acme)).find(({ id }: { id: string }) => id === record.id)).toEqual(record);
    expect(await worksWith(apiKey)).toBe(true);
  });

  test('makes a `full` key without an end by default', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });

    const key = await makeKey(acme);

    expect(key).toMatchObject({ role: 'full', expiresAt: null });
    expect(key.apiKey).toMatch(/^bh_test_/);
  });

  test.each([
    ['no name', {}, 'name', 'required'],
    ['a name of blanks', { name: ' ' }, 'name', 'too_short'],
    ['too long a name', { name: 'x'.repeat(101) }, 'name', 'too_long'],
    ['an unknown role', { name: 'x', role: 'admin' }, 'role', 'not_allowed'],
    ['no duration', { name: 'x', expiresIn: 'soon' }, 'expiresIn', 'format'],
    ['too long a life', { name: 'x', expiresIn: '3651d' }, 'expiresIn', 'too_large'],
    ['a key of one’s own', { name: 'x', apiKey: 'bh_live_mine' }, 'apiKey', 'unknown'],
  ])('is refused with %s', async (_what, body, path, problem) => {
    const acme = await service.asDeveloper();

    const answer = await acme('POST', '/v1/keys', body);

    expect(answer.statusCode).toBe(400);
    expect(answer.json().details.fields).toEqual([{ path, problem }]);
    expect(await keysOf(acme)).toHaveLength(1);
  });

  test('stops at twenty active keys, also when several calls come at once', async () => {
    const acme = await service.asDeveloper();
    for (let count = 1; count < 18; count += 1) await makeKey(acme);

    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => acme('POST', '/v1/keys', { name: `last ${at}` })),
    );

    const codes = answers.map(({ statusCode }) => statusCode).sort();
    expect(codes).toEqual([201, 201, 409, 409, 409, 409]);
    expect(answers.find(({ statusCode }) => statusCode === 409)?.json().code).toBe('CONFLICT');
    const other = (await keysOf(acme)).find(({ current }: { current?: boolean }) => !current);
    await acme('DELETE', `/v1/keys/${other.id}`);
    expect((await acme('POST', '/v1/keys', { name: 'after all' })).statusCode).toBe(201);
  });

  test('does not count expired keys', async () => {
    const { advance, asDeveloper } = await startApp();
    const acme = await asDeveloper();
    for (let count = 1; count < 20; count += 1)
      await acme('POST', '/v1/keys', { name: 'x', expiresIn: '1h' });

    const full = await acme('POST', '/v1/keys', { name: 'one more' });
    advance(3600);
    const later = await acme('POST', '/v1/keys', { name: 'one more' });

    expect([full.statusCode, later.statusCode]).toEqual([409, 201]);
  });
});

describe('binding an API key to agents', () => {
  const bind = (developer: Developer, agentIds: unknown, role?: string) =>
    developer('POST', '/v1/keys', { name: 'host', ...(role && { role }), agentIds });

  test('shows the agents once each, in the record and in the acts, and keeps them through rotations', async () => {
    const acme = await service.asDeveloper();
    const [one, two] = [(await registerAgent(acme)).agentId, (await registerAgent(acme)).agentId];

    const made = (await bind(acme, [two, one, two], 'runtime')).json();
    const call = service.calling(made.apiKey);
    const rotated = (await call('POST', '/v1/keys/rotate', { name: 'renamed' })).json();
    await acme('DELETE', `/v1/keys/${rotated.keyId}`);

    expect(made).toMatchObject({ role: 'runtime', agentIds: [two, one] });
    const shown = (await keysOf(acme)).filter(({ role }: { role: string }) => role === 'runtime');
    expect(shown.map(({ agentIds }: { agentIds: string[] }) => agentIds)).toEqual([
      [two, one],
      [two, one],
    ]);
    const described = { role: 'runtime', agentIds: [two, one] };
    const told = (await listedTo(acme, 'types=apikey.*')).map(({ type, data }) => ({ type, data }));
    expect(told).toEqual([
      { type: 'apikey.created', data: { keyId: made.keyId, name: 'host', ...described } },
      { type: 'apikey.rotated', data: { keyId: rotated.keyId, name: 'renamed', ...described } },
      { type: 'apikey.revoked', data: { keyId: rotated.keyId, name: 'renamed', ...described } },
    ]);
    const [entry] = await entriesOf(acme, 'apikey.created');
    expect(entry?.metadata).toMatchObject({ keyId: made.keyId, ...described });
  });

  test.each([
    ['null', null],
    ['no list', undefined],
  ])('does not happen with %s', async (_what, agentIds) => {
    const acme = await service.asDeveloper();

    const { apiKey, ...record } = (await bind(acme, agentIds, 'runtime')).json();

    expect(record.agentIds).toBeNull();
    const { agentId } = await registerAgent(acme);
    expect((await service.calling(apiKey)('GET', `/v1/agents/${agentId}`)).statusCode).toBe(200);
    const [entry] = await entriesOf(acme, 'apikey.created');
    expect(entry?.metadata).not.toHaveProperty('agentIds');
  });

  test.each([
    ['a `full` key', (id: string) => bindingOf([id], 'full'), 'not_allowed'],
    ['no role, which means `full`', (id: string) => bindingOf([id]), 'not_allowed'],
    ['no agent', () => bindingOf([], 'runtime'), 'too_short'],
    ['51 agents', (id: string) => bindingOf(Array(51).fill(id), 'runtime'), 'too_long'],
  ])('is refused for %s', async (_what, binding, problem) => {
    const acme = await service.asDeveloper();
    const { agentId } = await registerAgent(acme);

    const answer = await acme('POST', '/v1/keys', binding(agentId));

    expect(answer.statusCode).toBe(400);
    expect(answer.json().details.fields).toContainEqual({ path: 'agentIds', problem });
    expect(await keysOf(acme)).toHaveLength(1);
  });
  const bindingOf = (agentIds: string[], role?: string) => ({
    name: 'host',
    ...(role && { role }),
    agentIds,
  });

  test('takes fifty agents, the most', async () => {
    const acme = await service.asDeveloper();
    const agentIds = Array(50).fill((await registerAgent(acme)).agentId);

    expect((await bind(acme, agentIds, 'runtime')).statusCode).toBe(201);
  });

  test('T3 is refused when one of the agents is unknown, revoked or another developer’s', async () => {
    const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
    const { agentId } = await registerAgent(acme);
    const revoked = (await registerAgent(acme)).agentId;
    await acme('DELETE', `/v1/agents/${revoked}`);
    const suspended = (await registerAgent(acme)).agentId;
    await acme('PATCH', `/v1/agents/${suspended}`, { status: 'suspended' });
    const foreign = (await registerAgent(other)).agentId;

    for (const unusable of [revoked, foreign, 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', '%']) {
      expect((await bind(acme, [agentId, unusable], 'runtime')).statusCode, unusable).toBe(404);
    }
    expect(await keysOf(acme)).toHaveLength(1);
    expect((await bind(acme, [agentId, suspended], 'runtime')).statusCode).toBe(201);
  });
});

describe('T10 a `runtime` key', () => {
  test.each([
    ['GET', '/v1/keys', undefined],
    ['POST', '/v1/keys', { name: 'mine' }],
    ['POST', '/v1/keys', {}],
    ['DELETE', '/v1/keys/key_00000000000000000000000000', undefined],
  ] as const)('may not %s %s', async (method, url, body) => {
    const acme = await service.asDeveloper();
    const runtime = await acme.asRuntime();

    const answer = await runtime(method, url, body);

    expect(answer.statusCode).toBe(403);
    expect(answer.json().code).toBe('FORBIDDEN');
    expect(await keysOf(acme)).toHaveLength(2);
  });

  test('rotates itself, and stays a `runtime` key', async () => {
    const acme = await service.asDeveloper();
    const runtime = await makeKey(acme, { role: 'runtime' });

    const greedy = await runtime.call('POST', '/v1/keys/rotate', { role: 'full' });
    const rotated = await runtime.call('POST', '/v1/keys/rotate');

    expect(greedy.statusCode).toBe(400);
    expect(greedy.json().details.fields).toEqual([{ path: 'role', problem: 'unknown' }]);
    const { apiKey, keyId } = rotated.json();
    expect((await keysOf(acme)).find(({ id }: { id: string }) => id === keyId)).toMatchObject({
      role: 'runtime',
      name: 'backend',
    });
    expect((await service.calling(apiKey)('PATCH', '/v1/me', { name: 'x' })).statusCode).toBe(403);
  });
});

describe('rotating an API key', () => {
  test('T7 ends the old key at once, on every instance', async () => {
    const acme = await service.asDeveloper();
    const other = await startApp(); // a second process of the same service
    await other.calling(acme.apiKey)('GET', '/v1/me');

    const answer = await acme('POST', '/v1/keys/rotate');

    const now = service.clock().toISOString();
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      apiKey: expect.stringMatching(/^bh_live_[\w-]{43}$/),
      keyId: expect.stringMatching(/^key_/),
      rotatedAt: now,
      previousKeyExpiresAt: now,
    });
    const refused = await other.calling(acme.apiKey)('GET', '/v1/me');
    expect(refused.statusCode).toBe(401);
    expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    const fresh = service.calling(answer.json().apiKey);
    expect((await other.calling(answer.json().apiKey)('GET', '/v1/me')).statusCode).toBe(200);
    const [entry] = (await fresh('GET', '/v1/audit/entries?action=apikey.rotated')).json().entries;
    expect(entry.metadata).toEqual({
      keyId: answer.json().keyId,
      name: 'first',
      role: 'full',
      actor: expect.stringMatching(/^developer:key_/),
    });
    const statuses = (await fresh('GET', '/v1/keys'))
      .json()
      .keys.map(({ status }: { status: string }) => status);
    expect(statuses.sort()).toEqual(['active', 'revoked']);
  });

  test('keeps the old key valid for the requested overlap, and no longer', async () => {
    const { advance, asDeveloper, calling } = await startApp();
    const acme = await asDeveloper();

    const answer = await acme('POST', '/v1/keys/rotate', { graceSeconds: 300, name: 'second' });

    const fresh = calling(answer.json().apiKey);
    expect(answer.json().previousKeyExpiresAt).toBe('2026-01-01T00:05:00.000Z');
    const inOverlap = (await fresh('GET', '/v1/keys')).json().keys;
    expect(inOverlap).toContainEqual(
      expect.objectContaining({ name: 'second', status: 'active', expiresAt: null, current: true }),
    );
    expect(inOverlap).toContainEqual(
      expect.objectContaining({ name: 'first', status: 'expiring', expiresAt: '2026-01-01T00:05:00.000Z' }),
    );
    advance(299);
    expect((await acme('GET', '/v1/me')).statusCode).toBe(200);
    advance(1);
    expect((await acme('GET', '/v1/me')).statusCode).toBe(401);
    expect((await fresh('GET', '/v1/keys')).json().keys).toContainEqual(
      expect.objectContaining({ name: 'first', status: 'expired' }),
    );
  });

  test('never extends the life of a key', async () => {
    const { advance, asDeveloper, calling } = await startApp();
    const acme = await asDeveloper();
    const { apiKey } = (await acme('POST', '/v1/keys', { name: 'short', expiresIn: '100s' })).json();

    const rotated = (await calling(apiKey)('POST', '/v1/keys/rotate', { graceSeconds: 604_800 })).json();

    expect(rotated.previousKeyExpiresAt).toBe('2026-01-01T00:01:40.000Z');
    advance(100);
    expect((await calling(apiKey)('GET', '/v1/me')).statusCode).toBe(401);
    expect((await calling(rotated.apiKey)('GET', '/v1/me')).statusCode).toBe(401);
  });

  test.each([0, 300])(
    'T7 happens once, when several calls come at once with a grace of %i s',
    async (graceSeconds) => {
      const acme = await service.asDeveloper();

      const answers = await Promise.all(
        Array.from({ length: 5 }, () => acme('POST', '/v1/keys/rotate', { graceSeconds })),
      );

      const codes = answers.map(({ statusCode }) => statusCode).sort();
      expect(codes).toEqual([200, 401, 401, 401, 401]);
      for (const answer of answers.filter(({ statusCode }) => statusCode === 401)) {
        expect(answer.json().code).toBe('UNAUTHORIZED');
        expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      }
      const { apiKey } = answers.find(({ statusCode }) => statusCode === 200)?.json() ?? {};
      const { keys } = (await service.calling(apiKey)('GET', '/v1/keys')).json();
      expect(keys).toHaveLength(2);
    },
  );

  test('is refused for a key that is already replaced', async () => {
    const acme = await service.asDeveloper();
    await acme('POST', '/v1/keys/rotate', { graceSeconds: 300 });

    const again = await acme('POST', '/v1/keys/rotate');

    expect(again.statusCode).toBe(401);
    expect(await worksWith(acme.apiKey)).toBe(true);
  });

  test.each([-1, 604_801, 1.5, '300', null])('is refused with a grace of %j', async (graceSeconds) => {
    const acme = await service.asDeveloper();

    const answer = await acme('POST', '/v1/keys/rotate', { graceSeconds });

    expect(answer.statusCode).toBe(400);
    expect(await worksWith(acme.apiKey)).toBe(true);
  });
});

describe('revoking an API key', () => {
  test('ends it at once, and does no more when repeated', async () => {
    const acme = await service.asDeveloper();
    const { apiKey, keyId } = await makeKey(acme);
    expect(await worksWith(apiKey)).toBe(true);

    const answers = [await acme('DELETE', `/v1/keys/${keyId}`), await acme('DELETE', `/v1/keys/${keyId}`)];

    expect(answers.map(({ statusCode, body }) => [statusCode, body])).toEqual([
      [204, ''],
      [204, ''],
    ]);
    expect(await worksWith(apiKey)).toBe(false);
    const told = await entriesOf(acme, 'apikey.revoked');
    expect(told.map(({ metadata }) => metadata)).toEqual([
      { keyId, name: 'backend', role: 'full', actor: expect.any(String) },
    ]);
  });

  test('is one revocation when several calls come at once', async () => {
    const acme = await service.asDeveloper();
    const { keyId } = await makeKey(acme);

    const answers = await Promise.all(Array.from({ length: 5 }, () => acme('DELETE', `/v1/keys/${keyId}`)));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(5).fill(204));
    expect(await entriesOf(acme, 'apikey.revoked')).toHaveLength(1);
  });

  test('leaves one `full` key, even when two keys revoke each other at once', async () => {
    const acme = await service.asDeveloper();
    await makeKey(acme, { role: 'runtime' });
    const [first] = (await keysOf(acme)).filter(({ current }: { current?: boolean }) => current);

    const alone = await acme('DELETE', `/v1/keys/${first.id}`);
    const { keyId, call } = await makeKey(acme);
    const answers = await Promise.all([
      acme('DELETE', `/v1/keys/${keyId}`),
      call('DELETE', `/v1/keys/${first.id}`),
    ]);

    expect(alone.statusCode).toBe(409);
    expect(alone.json().code).toBe('CONFLICT');
    const codes = answers.map(({ statusCode }) => statusCode).sort();
    expect([
      [204, 409],
      [204, 401],
    ]).toContainEqual(codes); // 401: the key was revoked before its own call
    expect(
      Number(await worksWith(acme.apiKey)) + Number((await call('GET', '/v1/me')).statusCode === 200),
    ).toBe(1);
  });

  test('does not count a replaced key as the remaining `full` key', async () => {
    const acme = await service.asDeveloper();
    const { keyId } = (await acme('POST', '/v1/keys/rotate', { graceSeconds: 300 })).json();

    const answer = await acme('DELETE', `/v1/keys/${keyId}`);

    expect(answer.statusCode).toBe(409);
  });

  test('ends the overlap of a rotation early', async () => {
    const acme = await service.asDeveloper();
    const { apiKey } = (await acme('POST', '/v1/keys/rotate', { graceSeconds: 300 })).json();
    const fresh = service.calling(apiKey);
    const old = (await fresh('GET', '/v1/keys'))
      .json()
      .keys.find(({ current }: { current?: boolean }) => !current);

    const answer = await fresh('DELETE', `/v1/keys/${old.id}`);

    expect(answer.statusCode).toBe(204);
    expect(await worksWith(acme.apiKey)).toBe(false);
  });

  test('T3 does not reach another developer’s key', async () => {
    const [acme, eve] = [await service.asDeveloper(), await service.asDeveloper()];
    const { keyId, apiKey } = await makeKey(acme);

    const foreign = await eve('DELETE', `/v1/keys/${keyId}`);
    const unknown = await eve('DELETE', '/v1/keys/key_00000000000000000000000000');

    const { requestId: _, ...said } = foreign.json();
    expect(foreign.statusCode).toBe(404);
    expect(unknown.json()).toMatchObject(said);
    expect(await worksWith(apiKey)).toBe(true);
    expect(await actionsOf(acme)).not.toContain('apikey.revoked');
  });
});

describe('an API key', () => {
  test('is valid until its end, and no longer at its end', async () => {
    const { advance, asDeveloper, calling } = await startApp();
    const acme = await asDeveloper();
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'short', expiresIn: '1m' })).json();

    advance(59);
    const before = await calling(apiKey)('GET', '/v1/me');
    advance(1);
    const after = await calling(apiKey)('GET', '/v1/me');

    expect([before.statusCode, after.statusCode]).toEqual([200, 401]);
    const { keys } = (await acme('GET', '/v1/keys')).json();
    expect(keys).toContainEqual(expect.objectContaining({ id: keyId, status: 'expired' }));
    expect((await acme('DELETE', `/v1/keys/${keyId}`)).statusCode).toBe(204);
  });

  test('shows its last use, to the minute', async () => {
    const { advance, asDeveloper } = await startApp();
    const acme = await asDeveloper();
    const lastUsed = async () => {
      const { keys } = (await acme('GET', '/v1/keys')).json(); // this call uses the key too
      return keys[0].lastUsedAt;
    };

    const seen = [];
    for (const seconds of [0, 30, 29, 1, 59]) {
      advance(seconds);
      seen.push(await lastUsed());
    }

    const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z'];
    expect(seen).toEqual([first, first, first, second, second]);
  });

  test('is listed once, newest first, page by page', async () => {
    const { advance, asDeveloper } = await startApp();
    const acme = await asDeveloper();
    for (const name of ['second', 'third', 'fourth', 'fifth']) {
      advance(1);
      await acme('POST', '/v1/keys', { name });
    }

    const pages = await pagesOf(acme, '/v1/keys?limit=2', 'keys');

    const names = pages.map((page) => page.map(({ name }) => name));
    expect(names).toEqual([['fifth', 'fourth'], ['third', 'second'], ['first']]);
  });

  test.each([
    'limit=0',
    'limit=501',
    'limit=-1',
    'limit=0x10',
    'limit=1e2',
    'cursor=first',
    'cursor=ag_00000000000000000000000000',
  ])('is not listed with the query %s', async (query) => {
    const acme = await service.asDeveloper();

    expect((await acme('GET', `/v1/keys?${query}`)).statusCode).toBe(400);
  });

  test('T2 T1 works only when it is complete and exact', async () => {
    const { apiKey } = await service.asDeveloper();
    const wrong = [
      apiKey.slice(0, -1),
      `${apiKey}x`,
      `${apiKey.slice(0, -4)}AAAA`,
      apiKey.toUpperCase(),
      apiKey.slice(0, 12),
      `bh_live_${'A'.repeat(43)}`,
    ];

    const answers = await Promise.all(wrong.map((key) => service.calling(key)('GET', '/v1/me')));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(wrong.map(() => 401));
    expect(await worksWith(apiKey)).toBe(true);
  });

  test('R8 is nowhere in the database, not even in audit entries and events', async () => {
    const acme = await service.asDeveloper();
    const { apiKey } = await makeKey(acme);
    const rotated = (await service.calling(apiKey)('POST', '/v1/keys/rotate')).json().apiKey;

    const tables = ['developers', 'apiKeys', 'auditEntries', 'outboxEvents'] as const;
    const rows = await Promise.all(tables.map((table) => service.db.selectFrom(table).selectAll().execute()));
    const index = await service.db.selectFrom('apiKeyIndex').select('hash').execute();

    const dump = JSON.stringify(rows) + index.map(({ hash }) => hash.toString('latin1')).join();
    for (const key of [acme.apiKey, apiKey, rotated]) {
      expect(dump).not.toContain(key);
      expect(dump).not.toContain(key.slice(13));
    }
  });
});

/** Counts the comparisons in constant time in the whole process. */
function watchComparisons() {
  const compare = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  onTestFinished(() => {
    compare.mockRestore();
    syncBuiltinESMExports();
  });
  return compare.mock.calls;
}

test('T2 a key is compared in constant time, even when no stored key matches', async () => {
  const { asDeveloper, calling } = await startApp();
  const { apiKey } = await asDeveloper();
  const comparisons = watchComparisons();
  const compared = async (key: string) => {
    comparisons.length = 0;
    const { statusCode } = await calling(key)('GET', '/v1/me');
    return [statusCode, comparisons.length];
  };

  // The first comparison is with the cache of this process, the second with the database after a miss.
  expect(await compared(apiKey)).toEqual([200, 2]);
  expect(await compared(apiKey)).toEqual([200, 2]);
  expect(await compared(apiKey)).toEqual([200, 1]);
  expect(await compared(`${apiKey.slice(0, -4)}AAAA`)).toEqual([401, 2]);
  expect(await compared('nothing-like-a-key')).toEqual([401, 2]);
});
