import { expect, test } from 'vitest';
import { refusalOf } from '../../../../test/app/flow.ts';
import { ADMIN_API_KEY, newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';
import vectors from './keys.vectors.json' with { type: 'json' };

const rsaKid = `service-rs256-${vectors.rsa.thumbprint}`;
const ecKid = `service-es256-${vectors.ec.thumbprint}`;

const env = {
  JWT_SIGNING_ALG: 'ES256',
  EC_PRIVATE_KEY: vectors.ec.privateKey,
  RSA_PRIVATE_KEY: vectors.rsa.privateKey,
  SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '900',
};

/** A service on a database of its own, because the keys belong to no developer. */
const startStore = async () =>
  startApp({ databaseUrl: await newDatabase(), env: { ...env, SIGNING_KEY_STORE: 'postgres' } });

const statesOf = async (service: Service) => {
  const { keys } = (await service.calling(ADMIN_API_KEY)('GET', '/v1/admin/keys')).json();
  return Object.fromEntries(keys.map(({ kid, state }: { kid: string; state: string }) => [kid, state]));
};

async function pass(service: Service, seconds: number) {
  service.advance(seconds);
  await service.runJob('signing_keys');
}

test('the list tells the life of each key, and shows no private half', async () => {
  const service = await startStore();
  const operator = service.calling(ADMIN_API_KEY);
  await pass(service, 900);
  const next = (await operator('POST', '/v1/admin/keys/rotate', {})).json();
  const times = { activatedAt: null, retiredAt: null, removedAt: null };
  expect(next).toEqual({
    kid: expect.stringMatching(/^service-es256-[\w-]{43}$/),
    alg: 'ES256',
    state: 'pending',
    isSigning: false,
    publishedAt: '2026-01-01T00:15:00.000Z',
    signsFrom: '2026-01-01T00:30:00.000Z',
    ...times,
  });

  const answer = await operator('GET', '/v1/admin/keys');

  const first = { publishedAt: '2026-01-01T00:00:00.000Z', signsFrom: '2026-01-01T00:15:00.000Z' };
  const active = { state: 'active', ...times, ...first, activatedAt: first.publishedAt };
  expect(answer.json()).toEqual({
    store: 'postgres',
    keys: [
      next,
      { kid: ecKid, alg: 'ES256', isSigning: true, ...active },
      { kid: rsaKid, alg: 'RS256', isSigning: false, ...active },
    ],
  });
});

test('rotating makes a key of the algorithm that the operator names', async () => {
  const service = await startStore();

  const answer = await service.calling(ADMIN_API_KEY)('POST', '/v1/admin/keys/rotate', { alg: 'RS256' });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ alg: 'RS256', state: 'pending' });
});

test('eleven keys do not wait at once', async () => {
  const service = await startStore();
  const rotate = () => service.calling(ADMIN_API_KEY)('POST', '/v1/admin/keys/rotate', {});
  for (let made = 0; made < 10; made += 1) expect((await rotate()).statusCode).toBe(200);

  expect(refusalOf(await rotate())).toBe('409 CONFLICT');
});

test('a key that waits is withdrawn, and never signs', async () => {
  const service = await startStore();
  const operator = service.calling(ADMIN_API_KEY);
  const { kid } = (await operator('POST', '/v1/admin/keys/rotate', {})).json();

  const answer = await operator('POST', `/v1/admin/keys/${kid}/retire`, {});

  expect(answer.json()).toMatchObject({ kid, state: 'removed', isSigning: false });
  await pass(service, 900);
  expect(service.keyRing.signer().kid).toBe(ecKid);
  expect(service.keyRing.verificationKeys().byId.has(kid)).toBe(false);
});

test('the active key is replaced before it can be taken from use', async () => {
  const service = await startStore();
  const operator = service.calling(ADMIN_API_KEY);
  const retire = (kid: string) => operator('POST', `/v1/admin/keys/${kid}/retire`, {});
  expect(refusalOf(await retire(ecKid))).toBe('409 CONFLICT');
  await operator('POST', '/v1/admin/keys/rotate', {});
  await pass(service, 900);
  expect(await statesOf(service)).toMatchObject({ [ecKid]: 'retired' });

  expect((await retire(ecKid)).json()).toMatchObject({ state: 'removed' });

  expect(service.keyRing.verificationKeys().byId.has(ecKid)).toBe(false);
  expect(refusalOf(await retire(ecKid))).toBe('404 NOT_FOUND');
});

test('keys of the settings are shown, and changed only there', async () => {
  const service = await startApp({ env });
  const operator = service.calling(ADMIN_API_KEY);

  const { store, keys } = (await operator('GET', '/v1/admin/keys')).json();

  expect(store).toBe('env');
  expect(keys).toMatchObject([
    { kid: rsaKid, state: 'active', isSigning: true, publishedAt: null },
    { kid: ecKid, state: 'active', isSigning: false, publishedAt: null },
  ]);
  for (const path of ['rotate', `${ecKid}/retire`]) {
    const answer = await operator('POST', `/v1/admin/keys/${path}`, {});
    expect(refusalOf(answer)).toBe('409 KEY_STORE_READ_ONLY');
  }
});
