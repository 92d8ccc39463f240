import { describe, expect, test } from 'vitest';
import { actionsOf } from '../../../../test/app/flow.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const $schema = 'https://behest.dev/schemas/manifest-0.6.json';
const mail = {
  $schema,
  connector: 'acme_mail',
  version: '2.1.0',
  tools: { send: { permission: 'write', caps: { per_day: 100 } }, list: 'read' },
};
const HEX = /^[0-9a-f]{64}$/;

describe('the manifest of a connector', () => {
  test('is put, read as it was put, listed and removed, and each act is recorded', async () => {
    const { asDeveloper } = await startApp();
    const [acme, other] = [await asDeveloper(), await asDeveloper()];

    const first = await acme('PUT', '/v1/manifests/acme_mail', mail);

    expect(first.statusCode).toBe(201);
    expect(first.json()).toEqual({
      connector: 'acme_mail',
      version: '2.1.0',
      sha256: expect.stringMatching(HEX),
      pins: [],
      manifest: mail,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      warnings: [],
    });
    const { warnings: _, ...stored } = first.json();
    const read = await acme('GET', '/v1/manifests/acme_mail');
    expect(read.json()).toEqual(stored);
    expect(Object.keys(read.json().manifest.tools)).toEqual(['send', 'list']); // people are shown them in this order
    const { connector, version, sha256, updatedAt } = stored;
    expect((await acme('GET', '/v1/manifests')).json()).toEqual({
      manifests: [{ connector, version, sha256, updatedAt }],
      nextCursor: null,
    });
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await other(method, '/v1/manifests/acme_mail')).statusCode).toBe(404);
    }
    expect((await acme('DELETE', '/v1/manifests/acme_mail')).statusCode).toBe(204);
    expect((await acme('DELETE', '/v1/manifests/acme_mail')).statusCode).toBe(404);
    expect((await acme('GET', '/v1/manifests/acme_mail')).statusCode).toBe(404);
    expect(await actionsOf(acme)).toEqual(['developer.created', 'manifest.updated', 'manifest.deleted']);
  });

  test('has a new version with each change, and none with the same text', async () => {
    const { asDeveloper, advance } = await startApp();
    const acme = await asDeveloper();
    const first = (await acme('PUT', '/v1/manifests/acme_mail', mail)).json();
    advance(60);

    const same = await acme('PUT', '/v1/manifests/acme_mail', mail);
    const second = await acme('PUT', '/v1/manifests/acme_mail', { ...mail, version: '2.2.0' });

    expect([same.statusCode, same.json()]).toEqual([200, first]);
    expect(second.statusCode).toBe(200);
    const { version, sha256, createdAt, updatedAt, pins } = second.json();
    expect({ version, sha256, createdAt, pins }).toEqual({
      version: '2.2.0',
      sha256: first.sha256, // which leaves the word of the version out
      createdAt: first.createdAt,
      pins: [],
    });
    expect(updatedAt > first.updatedAt).toBe(true);
    expect(await actionsOf(acme)).toEqual(['developer.created', 'manifest.updated', 'manifest.updated']);
  });

  test('names the tools that are new or wider than in each of the versions before, also after a deletion', async () => {
    const { asDeveloper } = await startApp();
    const acme = await asDeveloper();
    const put = async (tools: object) =>
      (await acme('PUT', '/v1/manifests/acme_mail', { ...mail, tools })).json();
    const cap = (per_day: number) => ({ permission: 'write', caps: { per_day } });

    const first = await put({ send: cap(10), list: 'read' });
    const tighter = await put({ send: cap(5), list: 'read' });
    await acme('DELETE', '/v1/manifests/acme_mail');
    const wider = await put({ send: cap(7), list: 'read', purge: 'delete' });

    expect(first.pins).toEqual([]);
    expect(tighter.pins).toEqual([{ sha256: first.sha256, wider: [] }]);
    expect(wider.pins).toEqual([
      { sha256: tighter.sha256, wider: ['send', 'purge'] },
      { sha256: first.sha256, wider: ['purge'] },
    ]);
    expect((await acme('GET', '/v1/manifests/acme_mail')).json().pins).toEqual(wider.pins);
    const { events } = (await acme('GET', '/v1/events?types=manifest.updated')).json();
    expect(events.at(-1).data).toMatchObject({
      connector: 'acme_mail',
      previous: null,
      wider: ['send', 'purge'],
    });
    expect(events[1].data).toMatchObject({ previous: first.sha256, sha256: tighter.sha256, wider: [] });
  });

  test('is compared with the fifty versions before it, and those are kept', async () => {
    const { asDeveloper } = await startApp({ env: { RATE_LIMIT_PLAN_FREE: '1000' } });
    const acme = await asDeveloper();
    const hashes: string[] = [];
    for (let cap = 1; cap <= 52; cap += 1) {
      const tools = { send: { permission: 'write', caps: { per_day: cap } } };
      hashes.push((await acme('PUT', '/v1/manifests/acme_mail', { ...mail, tools })).json().sha256);
    }

    const { pins } = (await acme('GET', '/v1/manifests/acme_mail')).json();

    expect(pins.map(({ sha256 }: { sha256: string }) => sha256)).toEqual(hashes.slice(1, 51).reverse());
  });

  test('medium 7: keeps 4 MiB of versions, and those of the twenty connectors that were deleted last', async () => {
    const { asDeveloper, advance, db } = await startApp();
    const acme = await asDeveloper();
    const large = (version: number) => ({
      ...mail,
      version: `${version}.0.0`,
      tools: Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`${'t'.repeat(80)}${at}`, 'read'])),
    });
    for (let version = 1; version <= 6; version += 1)
      await acme('PUT', '/v1/manifests/acme_mail', large(version));
    const versionsOf = () =>
      db
        .selectFrom('manifestVersions')
        .select(['connector', 'revision'])
        .where('developerId', '=', acme.developerId)
        .orderBy('connector')
        .orderBy('revision')
        .execute();
    expect(await versionsOf()).toEqual(
      [3, 4, 5, 6].map((revision) => ({ connector: 'acme_mail', revision })),
    );

    for (let at = 10; at < 31; at += 1) {
      await acme('PUT', `/v1/manifests/tool${at}`, { ...mail, connector: `tool${at}` });
      await acme('DELETE', `/v1/manifests/tool${at}`);
      advance(1);
    }
    const kept = [...new Set((await versionsOf()).map(({ connector }) => connector))];
    expect(kept).toEqual(['acme_mail', ...Array.from({ length: 20 }, (_, at) => `tool${at + 11}`)]);
  });

  test.each([
    [
      'a legacy manifest with an unknown member',
      { connector: 'acme_mail', tools: { send: 'write' }, note: 'x' },
      'unknown_key',
      'note',
    ],
    ['no tools', { $schema, connector: 'acme_mail' }, 'missing_key', 'tools'],
    [
      'a permission that there is not',
      { ...mail, tools: { send: 'send' } },
      'invalid_permission',
      'tools.send',
    ],
    [
      'a cap that is no count',
      { ...mail, tools: { send: { permission: 'write', caps: { per_day: -1 } } } },
      'invalid_count',
      'tools.send.caps.per_day',
    ],
    ['a name in another script', { ...mail, tools: { sеnd: 'write' } }, 'invalid_name', 'tools.sеnd'],
  ])('with %s is refused, and the fault is named', async (_, manifest, code, path) => {
    const { asDeveloper } = await startApp();
    const acme = await asDeveloper();

    const refused = await acme('PUT', '/v1/manifests/acme_mail', manifest);

    expect([refused.statusCode, refused.json().code]).toEqual([400, 'INVALID_MANIFEST']);
    expect(refused.json().details).toEqual({ code, path });
    expect((await acme('GET', '/v1/manifests')).json().manifests).toEqual([]);
  });

  test('is refused under the name of another connector', async () => {
    const { asDeveloper } = await startApp();
    const acme = await asDeveloper();

    const refused = await acme('PUT', '/v1/manifests/acme_pay', mail);

    expect(refused.statusCode).toBe(400);
    expect(refused.json().details.fields).toEqual([{ path: 'connector', problem: 'not_allowed' }]);
  });

  test('comes with a warning when its connector looks like another one', async () => {
    const { asDeveloper } = await startApp();
    const acme = await asDeveloper();
    await acme('PUT', '/v1/manifests/acme_mail', mail);
    await acme('PUT', '/v1/manifests/acme_pay', { ...mail, connector: 'acme_pay' });

    const alike = await acme('PUT', '/v1/manifests/ACME-MA1L', { ...mail, connector: 'ACME-MA1L' });

    expect(alike.statusCode).toBe(201);
    expect(alike.json().warnings).toEqual([{ code: 'similar_connector', connector: 'acme_mail' }]);
  });

  test('keeps what it was, by whom, in versions that outlive its deletion', async () => {
    const { asDeveloper, advance } = await startApp();
    const [acme, other] = [await asDeveloper(), await asDeveloper()];
    await acme('PUT', '/v1/manifests/acme_mail', mail);
    advance(60);
    const second = { ...mail, version: '2.2.0', tools: { send: 'write' } };
    await acme('PUT', '/v1/manifests/acme_mail', second);
    const path = '/v1/manifests/acme_mail/versions';

    const { versions, nextCursor } = (await acme('GET', path)).json();
    const page = (await acme('GET', `${path}?limit=1`)).json();
    const rest = (await acme('GET', `${path}?limit=1&cursor=${page.nextCursor}`)).json();

    expect(nextCursor).toBeNull();
    expect(versions).toEqual([
      {
        revision: 2,
        version: '2.2.0',
        sha256: expect.stringMatching(HEX),
        actor: expect.stringMatching(/^developer:key_/),
        createdAt: expect.any(String),
        manifest: second,
      },
      expect.objectContaining({ revision: 1, version: '2.1.0', manifest: mail }),
    ]);
    expect([page.versions, rest.versions]).toEqual([[versions[0]], [versions[1]]]);
    expect((await other('GET', path)).statusCode).toBe(404);
    expect((await acme('GET', '/v1/manifests/acme_pay/versions')).statusCode).toBe(404);
    await acme('PUT', '/v1/manifests/acme_mail', versions[1].manifest);
    expect((await acme('GET', '/v1/manifests/acme_mail')).json().sha256).toBe(versions[1].sha256);
    await acme('DELETE', '/v1/manifests/acme_mail');
    expect((await acme('GET', path)).json().versions).toHaveLength(3);
  });

  test('is listed in pages, by connector', async () => {
    const { asDeveloper } = await startApp();
    const acme = await asDeveloper();
    for (const connector of ['b', 'C', 'a_1']) {
      await acme('PUT', `/v1/manifests/${connector}`, { ...mail, connector });
    }
    const page = async (query: string) => {
      const { manifests, nextCursor } = (await acme('GET', `/v1/manifests?${query}`)).json();
      return [manifests.map(({ connector }: { connector: string }) => connector), nextCursor];
    };

    expect(await page('limit=2')).toEqual([['C', 'a_1'], 'a_1']);
    expect(await page('limit=2&cursor=a_1')).toEqual([['b'], null]);
  });
});
