import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { actionsOf, entriesOf } from '../../../../test/app/flow.ts';
import { newDatabase, startApp } from '../../../../test/app/start-app.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const digest = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const source = 'package behest.authz\nallow := true\n';
const first = { format: 'rego', version: '1.0.0', content: base64(source) };

test('a bundle is stored, served and replaced, and an earlier one is activated again', async () => {
  const { advance, asDeveloper } = await startApp();
  const [acme, other] = [await asDeveloper(), await asDeveloper()];

  const stored = await acme('POST', '/v1/policies/sync', first);
  const { bundleId } = stored.json();
  advance(1);
  const next = await acme('POST', '/v1/policies/sync', {
    ...first,
    version: '2',
    content: base64('2'),
    fileCount: 3,
  });

  expect(stored.statusCode).toBe(201);
  const synced = {
    bundleId,
    format: 'rego',
    version: '1.0.0',
    sha256: digest(source),
    fileCount: 1,
    activated: true,
  };
  expect(stored.json()).toEqual(synced);
  const active = () => acme('GET', '/v1/policies/bundles/active?format=rego');
  expect((await active()).json()).toMatchObject({ id: next.json().bundleId, active: true, fileCount: 3 });
  expect((await acme('GET', '/v1/policies/bundles/active?format=cedar')).statusCode).toBe(404);
  expect((await acme('GET', '/v1/policies/bundles/active')).statusCode).toBe(400);

  const back = await acme('POST', `/v1/policies/bundles/${bundleId}/activate`);
  expect(back.statusCode).toBe(200);
  expect((await active()).json()).toEqual(back.json());
  expect((await acme('GET', '/v1/policies/bundles?format=rego')).json()).toMatchObject({
    bundles: [
      { id: next.json().bundleId, active: false },
      { id: bundleId, active: true },
    ],
    nextCursor: null,
  });
  expect((await acme('GET', '/v1/policies/bundles?format=cedar')).json().bundles).toEqual([]);

  const content = await acme('GET', `/v1/policies/bundles/${bundleId}/content`);
  expect(content.rawPayload.toString()).toBe(source);
  expect(content.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    etag: `"${digest(source)}"`,
  });
  expect((await other('GET', `/v1/policies/bundles/${bundleId}/content`)).statusCode).toBe(404);
  expect((await other('POST', `/v1/policies/bundles/${bundleId}/activate`)).statusCode).toBe(404);

  await acme('POST', `/v1/policies/bundles/${bundleId}/activate`);
  const activated = await entriesOf(acme, 'policy.bundle_activated');
  expect(activated).toHaveLength(3);
  expect(activated.map(({ metadata }) => metadata?.previousBundleId)).toContain(bundleId);
});

test('P3: a bundle with another digest than stated is refused, and so is the same version with other content', async () => {
  const { asDeveloper } = await startApp();
  const acme = await asDeveloper();
  const send = async (change: object) =>
    (await acme('POST', '/v1/policies/sync', { ...first, activate: false, ...change })).statusCode;

  expect(await send({ sha256: digest('other') })).toBe(400);
  expect(await send({ content: 'YQ' })).toBe(400);
  expect(await send({ content: 'YR==' })).toBe(400);
  expect(await send({ content: 'Y Q==' })).toBe(400);
  expect(await send({ content: '_w==' })).toBe(400);
  expect((await acme('GET', '/v1/policies/bundles')).json().bundles).toEqual([]);

  expect(await send({ sha256: digest(source) })).toBe(201);
  expect(await send({})).toBe(200);
  expect(await send({ content: base64('other') })).toBe(409);
  expect(await send({ format: 'cedar', content: base64('other') })).toBe(201);
  const { bundles } = (await acme('GET', '/v1/policies/bundles')).json();
  expect(bundles.map(({ active }: { active: boolean }) => active)).toEqual([false, false]);
});

test('a bundle may have five MiB, and no byte more', async () => {
  const { asDeveloper } = await startApp();
  const acme = await asDeveloper();
  const send = (size: number) =>
    acme('POST', '/v1/policies/sync', { ...first, content: Buffer.alloc(size, 7).toString('base64') });

  expect((await send(5_242_881)).statusCode).toBe(400);
  const { bundleId } = (await send(5_242_880)).json();
  const { rawPayload } = await acme('GET', `/v1/policies/bundles/${bundleId}/content`);
  expect(digest(rawPayload)).toBe(digest(Buffer.alloc(5_242_880, 7)));
});

test('P3: a push counts when its bytes are signed with the newest secret, and is announced', async () => {
  const { asDeveloper, app } = await startApp();
  const acme = await asDeveloper();
  const body = '{ "ref":"refs/heads/main", "repository":{"full_name":"acme/policies"}, "after":"1" }';
  const push = (secret: string | undefined, dev = acme.developerId, sent = body) =>
    app.inject({
      method: 'POST',
      url: `/v1/policies/sync/webhook?dev=${dev}`,
      headers: {
        'content-type': 'application/json',
        ...(secret !== undefined && {
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        }),
      },
      payload: sent,
    });
  const rotate = async (): Promise<string> => (await acme('POST', '/v1/policies/sync/secret')).json().secret;

  expect((await push('guess')).statusCode).toBe(401);
  const [former, secret] = [await rotate(), await rotate()];
  const taken = await push(secret);

  expect(taken.statusCode).toBe(202);
  expect(taken.json()).toMatchObject({ ref: 'refs/heads/main', repository: 'acme/policies' });
  const nobody = 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';
  for (const refused of [
    push(former),
    push(undefined),
    push(secret, nobody),
    push(secret, undefined, `${body} `),
  ]) {
    expect((await refused).statusCode).toBe(401);
  }
  expect(await actionsOf(acme)).toEqual([
    'developer.created',
    'policy.secret_rotated',
    'policy.secret_rotated',
    'policy.sync_requested',
  ]);
});

test('the secret is sealed again at the start under the next vault key, and a lost key stops production', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = ['a1'.repeat(32), 'b2'.repeat(32)];
  const before = await startApp({ databaseUrl, env: { VAULT_ENCRYPTION_KEY: former } });
  const acme = await before.asDeveloper();
  const { secret } = (await acme('POST', '/v1/policies/sync/secret')).json();
  const sealed = () => before.db.selectFrom('policySyncSecrets').select('secret').executeTakeFirstOrThrow();
  const warnings: string[] = [];
  const prepare = async (env: Record<string, string>, isProduction = true) => {
    const service = await startApp({ databaseUrl, env });
    await service.prepare(isProduction, (message) => void warnings.push(message));
    return service;
  };

  await prepare({ VAULT_ENCRYPTION_KEY: current, VAULT_ENCRYPTION_KEYS_PREVIOUS: former });
  const renewed = await sealed();
  const { app } = await prepare({ VAULT_ENCRYPTION_KEY: current });
  expect(await sealed()).toEqual(renewed);
  const pushed = await app.inject({
    method: 'POST',
    url: `/v1/policies/sync/webhook?dev=${acme.developerId}`,
    headers: { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}` },
    payload: {},
  });
  expect(pushed.statusCode).toBe(202);

  await expect(prepare({ VAULT_ENCRYPTION_KEY: 'c3'.repeat(32) })).rejects.toThrow(/VAULT_ENCRYPTION_KEY/);
  await prepare({ VAULT_ENCRYPTION_KEY: 'c3'.repeat(32) }, false);
  expect(warnings).toEqual([expect.stringMatching(/1 developers/)]);
});

test('medium 7: a bundle is deleted, and makes room for another, unless it is active', async () => {
  const { asDeveloper } = await startApp({ env: { PLAN_FREE_BUNDLES: '2' } });
  const [acme, other] = [await asDeveloper(), await asDeveloper()];
  const store = (version: string, activate: boolean) =>
    acme('POST', '/v1/policies/sync', { ...first, version, activate });
  const [{ bundleId: active }, { bundleId }] = [
    (await store('1', true)).json(),
    (await store('2', false)).json(),
  ];
  const remove = (caller: typeof acme, id: string) => caller('DELETE', `/v1/policies/bundles/${id}`);

  expect((await store('3', false)).statusCode).toBe(402);
  expect((await remove(acme, active)).statusCode).toBe(409);
  expect((await remove(other, bundleId)).statusCode).toBe(404);
  expect((await remove(acme, bundleId)).statusCode).toBe(204);
  expect((await remove(acme, bundleId)).statusCode).toBe(404);
  expect((await store('3', false)).statusCode).toBe(201);
  expect((await store('4', false)).statusCode).toBe(402);
  const [deleted, second] = await entriesOf(acme, 'policy.bundle_deleted');
  expect(deleted?.metadata).toMatchObject({ bundleId, format: 'rego', version: '2', sha256: digest(source) });
  expect(second).toBeUndefined();
});
