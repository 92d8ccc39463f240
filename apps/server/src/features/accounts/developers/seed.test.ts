import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { actionsOf, entriesOf } from '../../../../test/app/flow.ts';
import { newDatabase, startApp } from '../../../../test/app/start-app.ts';
import { openDatabase } from '../../../platform/db/open-database.ts';
import { changePublisher } from '../../../platform/http/callers/known-callers.ts';
import { type Seed, seedDevelopers } from './seed.ts';

const [keyA, keyB] = ['seed-key-number-1', 'seed-key-number-2'];
const sandboxKey = 'sandbox-key-number-1';
const nothing: Seed = { apiKey: undefined, sandboxKey: undefined, consentKey: undefined };

/** A service with a database of its own, because a database has one seeded developer of each mode. */
async function startSeeding() {
  const service = await startApp({ databaseUrl: await newDatabase() });
  const warn = vi.fn();
  const { db, clock, store } = service;
  const publishChange = changePublisher(store, warn);
  const deps = { db, clock, publishChange, signupMode: 'open', defaultPlan: 'pro' } as const;
  /** Starts a process with these settings. */
  const seed = (settings: Partial<Seed>) => seedDevelopers(deps, { ...nothing, ...settings }, warn);
  const as = (apiKey: string) => {
    const call = service.calling(apiKey);
    const asRuntime = async () => Object.assign(call, { apiKey, keyId: '' });
    return Object.assign(call, { developerId: '', apiKey, asRuntime, withToken: service.calling });
  };
  const isGood = async (apiKey: string) => (await as(apiKey)('GET', '/v1/me')).statusCode === 200;
  const consentKeysOf = async (apiKey: string) => (await as(apiKey)('GET', '/v1/me')).json().consentKeys;
  return { ...service, deps, warn, seed, as, isGood, consentKeysOf };
}

const newConsentKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const publicHalf = (key: KeyObject) => createPublicKey(key).export({ format: 'jwk' });

test('seeding makes a live and a sandbox developer with the keys of the settings', async () => {
  const { seed, as, warn } = await startSeeding();
  const consentKey = newConsentKey();

  await seed({ apiKey: keyA, sandboxKey, consentKey });

  const live = (await as(keyA)('GET', '/v1/me')).json();
  const common = {
    email: null,
    emailVerified: false,
    plan: 'pro',
    consentMode: 'developer',
    redirectUris: [],
  };
  expect(live).toMatchObject({ ...common, name: 'Development', mode: 'live' });
  expect(live.consentKeys).toEqual([{ ...publicHalf(consentKey), kid: expect.stringMatching(/^seeded-/) }]);
  const sandbox = (await as(sandboxKey)('GET', '/v1/me')).json();
  expect(sandbox).toMatchObject({ ...common, name: 'Sandbox', mode: 'sandbox', consentKeys: [] });
  const { keys } = (await as(keyA)('GET', '/v1/keys')).json();
  expect(keys).toMatchObject([{ name: 'seed', role: 'full', prefix: 'seed-key-num', status: 'active' }]);
  expect(await actionsOf(as(keyA))).toEqual(['developer.created', 'apikey.created', 'developer.updated']);
  expect((await as(keyA)('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  expect((await as(keyA)('GET', '/v1/agents')).json().agents).toEqual([]);
  expect(warn).not.toHaveBeenCalled();
});

test('seeding makes no developer without settings, and one developer for one key', async () => {
  const { seed, db } = await startSeeding();
  const names = async () =>
    (await db.selectFrom('developers').select('name').execute()).map(({ name }) => name);

  await seed({});
  expect(await names()).toEqual([]);
  await seed({ consentKey: newConsentKey() });
  expect(await names()).toEqual([]);
  await seed({ sandboxKey });
  expect(await names()).toEqual(['Sandbox']);
});

test('the same settings at the next start change nothing', async () => {
  const { seed, as, advance } = await startSeeding();
  const settings = { apiKey: keyA, sandboxKey, consentKey: newConsentKey() };
  await seed(settings);
  await as(keyA)('PATCH', '/v1/me', { name: 'Mine now', redirectUris: ['https://app.example/cb'] });
  const before = (await as(keyA)('GET', '/v1/me')).json();
  const told = await actionsOf(as(keyA));

  advance(86_400);
  await seed(settings);

  expect((await as(keyA)('GET', '/v1/me')).json()).toEqual(before);
  expect(await actionsOf(as(keyA))).toEqual(told);
});

test('another value replaces the former one, and leaves the developer’s own keys', async () => {
  const { seed, as, isGood } = await startSeeding();
  await seed({ apiKey: keyA });
  const { developerId } = (await as(keyA)('GET', '/v1/me')).json();
  const own = (await as(keyA)('POST', '/v1/keys', { name: 'mine' })).json().apiKey;

  await seed({ apiKey: keyB });

  expect([await isGood(keyA), await isGood(keyB), await isGood(own)]).toEqual([false, true, true]);
  expect((await as(keyB)('GET', '/v1/me')).json().developerId).toBe(developerId);
  const [revoked] = await entriesOf(as(keyB), 'apikey.revoked');
  expect(revoked?.metadata).toMatchObject({ name: 'seed', actor: 'system' });
});

test('a value that comes back works again', async () => {
  const { seed, as, isGood } = await startSeeding();
  await seed({ apiKey: keyA });
  await seed({ apiKey: keyB });

  await seed({ apiKey: keyA });

  expect([await isGood(keyA), await isGood(keyB)]).toEqual([true, false]);
  const { keys } = (await as(keyA)('GET', '/v1/keys')).json();
  expect(keys.map(({ status }: { status: string }) => status).sort()).toEqual([
    'active',
    'revoked',
    'revoked',
  ]);
  await seed({ apiKey: keyA });
  expect((await as(keyA)('GET', '/v1/keys')).json().keys).toHaveLength(3);
});

test.each([
  ['rotated', 0],
  ['rotated with an overlap', 300],
])(
  'a key that the developer has %s stays ended, although the setting still names it',
  async (_how, graceSeconds) => {
    const { seed, as, isGood, advance } = await startSeeding();
    await seed({ apiKey: keyA });
    const { apiKey: rotated } = (await as(keyA)('POST', '/v1/keys/rotate', { graceSeconds })).json();

    advance(graceSeconds);
    await seed({ apiKey: keyA });

    expect([await isGood(keyA), await isGood(rotated)]).toEqual([false, true]);
  },
);

test('a key that the developer has revoked stays revoked', async () => {
  const { seed, as, isGood } = await startSeeding();
  await seed({ apiKey: keyA });
  const own = (await as(keyA)('POST', '/v1/keys', { name: 'mine' })).json().apiKey;
  const [, seeded] = (await as(own)('GET', '/v1/keys'))
    .json()
    .keys.sort((a: { name: string }) => (a.name === 'seed' ? 1 : -1));
  await as(own)('DELETE', `/v1/keys/${seeded.id}`);

  await seed({ apiKey: keyA });

  expect([await isGood(keyA), await isGood(own)]).toEqual([false, true]);
});

test('a missing consent key is added, and the developer’s own keys stay', async () => {
  const { seed, as, consentKeysOf } = await startSeeding();
  const own = publicHalf(newConsentKey());
  const [first, second] = [newConsentKey(), newConsentKey()];
  await seed({ apiKey: keyA, consentKey: first });
  await as(keyA)('PATCH', '/v1/me', { consentKeys: [own] });

  await seed({ apiKey: keyA, consentKey: second });
  await seed({ apiKey: keyA, consentKey: second });

  expect(await consentKeysOf(keyA)).toMatchObject([own, publicHalf(second)]);
  const told = await entriesOf(as(keyA), 'developer.updated');
  expect(told).toHaveLength(3);
  const { old, new: now } = Object(told[2]?.metadata);
  expect(now.consentKeys).toEqual([...old.consentKeys, expect.stringMatching(/^[\w-]{43}$/)]);
});

test('a key that the developer has registered already is not added again', async () => {
  const { seed, as, consentKeysOf } = await startSeeding();
  const consentKey = newConsentKey();
  await seed({ apiKey: keyA });
  await as(keyA)('PATCH', '/v1/me', {
    consentKeys: [{ ...publicHalf(consentKey), kid: 'mine', alg: 'ES256' }],
  });

  await seed({ apiKey: keyA, consentKey });

  expect(await consentKeysOf(keyA)).toMatchObject([{ kid: 'mine' }]);
});

test('a new consent key replaces the oldest seeded one of five, and none of the developer’s own', async () => {
  const { seed, as, consentKeysOf } = await startSeeding();
  const [former, next] = [newConsentKey(), newConsentKey()];
  await seed({ apiKey: keyA, consentKey: former });
  const [seeded] = await consentKeysOf(keyA);
  const own = Array.from({ length: 5 }, () => publicHalf(newConsentKey()));
  await as(keyA)('PATCH', '/v1/me', { consentKeys: [...own.slice(0, 2), seeded, ...own.slice(2, 4)] });

  await seed({ apiKey: keyA, consentKey: next });

  expect(await consentKeysOf(keyA)).toMatchObject([...own.slice(0, 4), publicHalf(next)]);
  await as(keyA)('PATCH', '/v1/me', { consentKeys: own });
  await seed({ apiKey: keyA, consentKey: next });
  expect(await consentKeysOf(keyA)).toEqual(own);
});

test('a key of another developer seeds nothing, and the log says so once', async () => {
  const { seed, as, asDeveloper, db, warn } = await startSeeding();
  const { apiKey, developerId } = await asDeveloper();

  await seed({ apiKey, consentKey: newConsentKey() });

  expect(warn.mock.calls).toEqual([[expect.stringContaining('belongs to another developer')]]);
  expect(warn.mock.calls.join()).not.toContain(apiKey);
  expect(await db.selectFrom('developers').select('id').execute()).toEqual([{ id: developerId }]);
  expect(await actionsOf(as(apiKey))).toEqual(['developer.created']);
});

test('one value for both settings becomes the key of the live developer', async () => {
  const { seed, as, warn } = await startSeeding();

  await seed({ apiKey: keyA, sandboxKey: keyA });

  expect((await as(keyA)('GET', '/v1/me')).json().mode).toBe('live');
  expect(warn).toHaveBeenCalledOnce();
});

test('instances that start at once seed once', async () => {
  const { deps, warn, as, isGood, db, databaseUrl } = await startSeeding();
  const others = Array.from({ length: 4 }, () => openDatabase({ connectionString: databaseUrl }, 1));
  onTestFinished(async () => {
    for (const other of others) await other.destroy();
  });
  const consentKey = newConsentKey();
  const startAll = (apiKey: string) =>
    Promise.all(
      others.map((each) => seedDevelopers({ ...deps, db: each }, { apiKey, sandboxKey, consentKey }, warn)),
    );

  await startAll(keyA);
  expect(await actionsOf(as(keyA))).toEqual(['developer.created', 'apikey.created', 'developer.updated']);
  await startAll(keyB);

  expect([await isGood(keyA), await isGood(keyB), await isGood(sandboxKey)]).toEqual([false, true, true]);
  expect((await db.selectFrom('developers').select('id').execute()).length).toBe(2);
  expect((await as(keyB)('GET', '/v1/keys')).json().keys).toHaveLength(2);
  expect(warn).not.toHaveBeenCalled();
});
