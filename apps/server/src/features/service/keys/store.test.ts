import { createHash } from 'node:crypto';
import { verifyChain } from '@behest/protocol/audit-chain';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test, vi } from 'vitest';
import { enrolApprover, payer } from '../../../../test/app/approving.ts';
import { grantTo, openSession, partsOf } from '../../../../test/app/flow.ts';
import {
  ADMIN_API_KEY,
  type Developer,
  newDatabase,
  type Service,
  startApp,
  type TestOptions,
} from '../../../../test/app/start-app.ts';
import vectors from './keys.vectors.json' with { type: 'json' };

const ecKid = `service-es256-${vectors.ec.thumbprint}`;
const DAY = 86_400;

const env = {
  SIGNING_KEY_STORE: 'postgres',
  JWT_SIGNING_ALG: 'ES256',
  EC_PRIVATE_KEY: vectors.ec.privateKey,
  RSA_PRIVATE_KEY: vectors.rsa.privateKey,
  SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '900',
  SIGNING_KEY_RETIRED_GRACE_SECONDS: String(3 * DAY),
  MAX_GRANT_LIFETIME_SECONDS: String(2 * DAY),
};

/** An instance on a database, which is new unless it is given. */
async function startInstance(more: TestOptions['env'] = {}, databaseUrl?: string) {
  const service = await startApp({
    databaseUrl: databaseUrl ?? (await newDatabase()),
    env: { ...env, ...more },
  });
  const operator = service.calling(ADMIN_API_KEY);
  const rotate = async () => {
    const answer = await operator('POST', '/v1/admin/keys/rotate', {});
    expect(answer.statusCode).toBe(200);
    return String(answer.json().kid);
  };
  return { ...service, service, operator, rotate };
}

const signingKid = ({ keyRing }: Pick<Service, 'keyRing'>) => keyRing.signer().kid;
const verifies = ({ keyRing }: Pick<Service, 'keyRing'>, kid: string) =>
  keyRing.verificationKeys().byId.has(kid);

async function publishedKids({ app }: Pick<Service, 'app'>): Promise<string[]> {
  const { keys } = (await app.inject('/.well-known/jwks.json')).json();
  return keys.map(({ kid }: { kid: string }) => kid).filter((kid: string) => !/-\d{4}-\d\d$/.test(kid));
}

const rowsOf = ({ db }: Pick<Service, 'db'>) =>
  db.selectFrom('signingKeys').selectAll().orderBy('publishedAt').execute();

/** Moves the clock, and lets the instances do the work that is due by then. */
async function pass(seconds: number, ...instances: Service[]) {
  for (const { advance } of instances) advance(seconds);
  for (const { runJob } of instances) await runJob('signing_keys');
}

test('an empty store takes the keys of the settings, and signs as after a start until the delay is over', async () => {
  const { service } = await startInstance();

  expect(signingKid(service)).toBe('service-2026-01');
  await pass(899, service);
  expect(signingKid(service)).toBe('service-2026-01');
  await pass(1, service);
  expect(signingKid(service)).toBe(ecKid);
  expect(await rowsOf(service)).toMatchObject([
    { alg: expect.any(String), state: 'active' },
    { alg: expect.any(String), state: 'active' },
  ]);
});

test.each([
  ['39', 1],
  ['40', 0],
])('a delay of %s seconds is warned of %i times at the start', async (delay, times) => {
  const { logLines } = await startApp({
    env: { ...env, SIGNING_KEY_ACTIVATION_DELAY_SECONDS: delay },
    logLevel: 'warn',
  });

  expect(logLines.filter((line) => line.includes('_DELAY_SECONDS is shorter than 40'))).toHaveLength(times);
});

test('a restart repeats no delay', async () => {
  const { service, databaseUrl } = await startInstance();
  await pass(900, service);

  const later = await startApp({ databaseUrl, env, startsAt: '2026-01-01T00:15:00Z' });

  expect(signingKid(later)).toBe(ecKid);
});

test('two instances that start together insert each key once', async () => {
  const databaseUrl = await newDatabase();

  const [one, other] = await Promise.all([startInstance({}, databaseUrl), startInstance({}, databaseUrl)]);

  expect(await rowsOf(one)).toHaveLength(2);
  expect(signingKid(other)).toBe(signingKid(one));
});

test('a key is published for the delay before any instance signs with it, and all turn to it by the clock alone', async () => {
  const { service: one, rotate, databaseUrl } = await startInstance();
  const { service: other } = await startInstance({}, databaseUrl);
  await pass(900, one, other);
  const next = await rotate();
  await pass(10, one, other);

  expect(await publishedKids(other)).toContain(next);
  await pass(880, one, other);
  for (const { advance } of [one, other]) advance(9);
  expect([signingKid(one), signingKid(other)]).toEqual([ecKid, ecKid]);
  for (const { advance } of [one, other]) advance(1);
  expect([signingKid(one), signingKid(other)]).toEqual([next, next]);
});

test('J21: a retired key loses its private half, verifies for the grace, and not at its end', async () => {
  const { service, rotate } = await startInstance();
  await pass(900, service);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { grantToken } = await grantTo(acme, { expiresIn: '2d' });
  expect(partsOf(grantToken).header.kid).toBe(ecKid);
  const next = await rotate();
  await pass(900, service);

  const [row] = (await rowsOf(service)).filter(({ kid }) => kid === ecKid);
  expect(row).toMatchObject({ state: 'retired', dataKey: null, privateSealed: null });
  expect(signingKid(service)).toBe(next);
  expect(await publishedKids(service)).toContain(ecKid);
  expect((await acme('POST', '/v1/tokens/verify', { token: grantToken })).json().valid).toBe(true);
  await pass(3 * DAY - 1, service);
  expect(verifies(service, ecKid)).toBe(true);
  service.advance(1);
  expect(verifies(service, ecKid)).toBe(false);
  expect(await publishedKids(service)).not.toContain(ecKid);
  await service.runJob('signing_keys');
  expect((await rowsOf(service)).find(({ kid }) => kid === ecKid)).toMatchObject({ state: 'removed' });
});

test('a removed key verifies under no name, not even as the legacy key', async () => {
  const { service, operator } = await startInstance({ JWT_SIGNING_ALG: 'RS256' });
  await pass(900, service);
  expect(service.keyRing.verificationKeys().legacy).toBeDefined();
  await operator('POST', '/v1/admin/keys/rotate', { alg: 'RS256' });
  await pass(900, service);
  await pass(3 * DAY, service);

  expect(service.keyRing.verificationKeys().legacy).toBeUndefined();
  const { keys } = (await service.app.inject('/.well-known/jwks.json')).json();
  expect(keys.filter(({ kid }: { kid: string }) => /-\d{4}-\d\d$/.test(kid))).toEqual([]);
});

test('a key of the settings is inserted once in its life', async () => {
  const { service, rotate, databaseUrl } = await startInstance();
  await rotate();
  await pass(900, service);
  await pass(3 * DAY, service);

  const later = await startApp({ databaseUrl, env, startsAt: service.clock().toISOString() });

  expect((await rowsOf(later)).find(({ kid }) => kid === ecKid)?.state).toBe('removed');
});

test('the schedule publishes one key for all instances', async () => {
  const { service: one, databaseUrl } = await startInstance({ SIGNING_KEY_ROTATION_SECONDS: '3600' });
  const { service: other } = await startInstance({ SIGNING_KEY_ROTATION_SECONDS: '3600' }, databaseUrl);
  await pass(3599, one, other);
  expect(await rowsOf(one)).toHaveLength(2);
  for (const { advance } of [one, other]) advance(1);

  await Promise.all([one, other].map(({ runJob }) => runJob('signing_keys')));

  const pending = (await rowsOf(one)).filter(({ state }) => state === 'pending');
  expect(pending).toMatchObject([{ alg: 'ES256' }]);
});

test('instances hear of a rotation before their next read', async () => {
  const { rotate, databaseUrl } = await startInstance();
  const { service: other } = await startInstance({}, databaseUrl);
  other.startFeatures();

  const next = await rotate();

  await vi.waitUntil(() => verifies(other, next));
  expect(signingKid(other)).not.toBe(next);
});

test('an instance that has not read the keys for 300 seconds verifies and does not sign', async () => {
  const { service } = await startInstance();
  await pass(900, service);
  service.advance(299);
  expect(signingKid(service)).toBe(ecKid);
  service.advance(1);

  expect(() => service.keyRing.signer()).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
  expect(() => service.keyRing.rsaSigner()).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
  expect(verifies(service, ecKid)).toBe(true);
  const did = (await service.app.inject('/.well-known/did.json')).json();
  expect(did.authentication).toEqual([]);
  await service.runJob('signing_keys');
  expect(signingKid(service)).toBe(ecKid);
});

test('V6: a new vault key seals the keys again at the next start, and a lost one stops the start', async () => {
  const { service, databaseUrl } = await startInstance();
  const [former] = await rowsOf(service);
  const VAULT_ENCRYPTION_KEY = 'cd'.repeat(32);

  const lost = startApp({ databaseUrl, env: { ...env, VAULT_ENCRYPTION_KEY } });
  await expect(lost).rejects.toThrow('VAULT_ENCRYPTION_KEY does not open values sealed in this database');
  const renewed = { ...env, VAULT_ENCRYPTION_KEY, VAULT_ENCRYPTION_KEYS_PREVIOUS: 'ab'.repeat(32) };
  const later = await startApp({ databaseUrl, env: renewed });

  const row = (await rowsOf(later)).find(({ kid }) => kid === former?.kid);
  expect(row?.dataKey).not.toBe(former?.dataKey);
  expect(row?.dataKey).toContain(later.keyRing.vault.current?.id);
  expect(row?.privateSealed).toBe(former?.privateSealed);
  const alone = await startApp({ databaseUrl, env: { ...env, VAULT_ENCRYPTION_KEY } });
  expect(signingKid(alone)).toBe('service-2026-01');
});

test('a key moved to another row does not open there', async () => {
  const { service, databaseUrl } = await startInstance();
  const [one, other] = await rowsOf(service);
  const { dataKey, privateSealed } = { ...one };
  await service.db
    .updateTable('signingKeys')
    .set({ dataKey, privateSealed })
    .where('kid', '=', String(other?.kid))
    .execute();

  await expect(startApp({ databaseUrl, env })).rejects.toThrow('does not open');
});

test('the store needs an EC key to sign with ES256', async () => {
  const started = startInstance({ EC_PRIVATE_KEY: '' });

  await expect(started).rejects.toThrow('JWT_SIGNING_ALG=ES256 requires EC_PRIVATE_KEY');
});

test('every change of a key is an entry of the operator’s own chain', async () => {
  const { service, operator, rotate } = await startInstance();
  const next = await rotate();
  await pass(900, service);

  const { entries } = (await operator('GET', '/v1/admin/entries')).json();

  const told = entries.map(({ action, metadata }: { action: string; metadata: object }) => ({
    action,
    ...metadata,
  }));
  const act = { action: 'signing_key.rotated', alg: 'ES256' };
  expect(told.slice(2)).toEqual([
    { ...act, actor: 'admin', kid: next, from: null, to: 'pending' },
    { ...act, actor: 'system', kid: ecKid, from: 'active', to: 'retired' },
    { ...act, actor: 'system', kid: next, from: 'pending', to: 'active' },
  ]);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(verifyChain(entries, {}, sha256)).toMatchObject({ valid: true, checkedEntries: 5 });
});

/** One token of each kind that the service signs for others, by its kind. */
async function oneOfEach(service: Service, acme: Developer) {
  const scopes = ['payments:mpp:data', 'wallet:authorize'];
  const { agentId, grantId, grantToken } = await grantTo(acme, { scopes });
  const issue = async (url: string, body: object) => (await acme('POST', url, body)).json();
  const vc = (await issue('/v1/credentials', { grantId, format: 'vc-jwt' })).credential;
  const sdJwt = (await issue('/v1/credentials', { grantId, format: 'sd-jwt' })).credential;
  const passport = await issue('/v1/passport/issue', {
    ...{ agentId, grantId, allowedMPPCategories: ['data'] },
    maxTransactionAmount: { amount: 1, currency: 'USD' },
  });
  const account = 'eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb';
  const maxAmount = { amount: '1', asset: 'USDC' };
  const wallet = await issue('/v1/wallet/authorizations', { grantId, account, maxAmount });
  const { statusListId } = (await acme('GET', '/v1/credentials')).json().credentials[0];
  const published = async (url: string, accept: string) =>
    (await service.app.inject({ url, headers: { accept } })).body;
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, `${crypto.randomUUID()}@example.org`);
  const { decisionId } = (await agent.ask()).json();
  await ada.approve(decisionId);
  const [decision] = await agent.grantsOf(decisionId);
  return {
    'at+jwt': grantToken,
    'vc+jwt': vc,
    'dc+sd-jwt': sdJwt.split('~')[0],
    'agent-passport+jwt': passport.passportJwt,
    'wallet-authorization+jwt': wallet.authorization,
    'principal-session+jwt': (await openSession(acme)).json().sessionToken,
    'decision+jwt': decision,
    'statuslist+jwt': await published(`/v1/status-lists/${statusListId}`, 'application/statuslist+jwt'),
    'bitstring list': await published(`/v1/credentials/status/${statusListId}`, 'application/vc+jwt'),
  };
}

test('the key of the store signs each kind of token with ES256, and the next key does after a rotation', async () => {
  const service = await startApp({
    env: {
      SIGNING_KEY_STORE: 'postgres',
      JWT_SIGNING_ALG: 'ES256',
      EC_PRIVATE_KEY: vectors.ec.privateKey,
      SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '60',
    },
  });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const operator = service.calling(ADMIN_API_KEY);
  service.advance(60);
  const first = await oneOfEach(service, acme);
  const { kid } = (await operator('POST', '/v1/admin/keys/rotate', {})).json();
  service.advance(60);
  await service.runJob('signing_keys');
  const second = await oneOfEach(service, acme);

  const keys = createLocalJWKSet((await service.app.inject('/.well-known/jwks.json')).json());
  const firstKid = `service-es256-${vectors.ec.thumbprint}`;
  for (const [tokens, ofKey] of [
    [first, firstKid],
    [second, kid],
  ] as const) {
    for (const [name, token] of Object.entries(tokens)) {
      const text = String(token);
      expect(decodeProtectedHeader(text), name).toMatchObject({ alg: 'ES256', kid: ofKey });
      await jwtVerify(text, keys, { algorithms: ['ES256'], currentDate: service.clock() });
    }
  }
  expect(Object.keys(second)).toHaveLength(9);
});
