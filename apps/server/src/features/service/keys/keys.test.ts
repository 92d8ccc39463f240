import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto';
import Fastify from 'fastify';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyRing, verificationKey } from './index.ts';
import { keyRoutes } from './keys.routes.ts';
import { JwkSet } from './keys.schema.ts';
import vectors from './keys.vectors.json' with { type: 'json' };

const app = Fastify();
let now = new Date('2026-11-21T10:00:00Z');

beforeAll(async () => {
  const privateKey = createPrivateKey(vectors.rsa.privateKey);
  const settings = {
    rsa: { ...verificationKey(createPublicKey(privateKey)), privateKey },
    ec: undefined,
    ed25519: undefined,
    generatesMissing: false,
    signingAlg: 'RS256',
    verificationKeys: [],
    legacyKey: undefined,
    legacyMonths: 13,
    activationDelaySeconds: 900,
    vaultKey: createSecretKey(Buffer.alloc(32, 1)),
    previousVaultKeys: [],
    store: undefined,
    formerIdentities: [],
  } as const;
  const keyRing = await createKeyRing(settings, {
    clock: () => now,
    startedAt: now,
    warn: expect.fail,
    uses: [],
  });
  await app.register(keyRoutes, {
    keyRing,
    didHost: 'auth.test',
    publicBaseUrl: 'https://auth.test',
  });
});
afterAll(() => app.close());

const get = (headers = {}) => app.inject({ url: '/.well-known/jwks.json', headers });

describe('GET /.well-known/jwks.json', () => {
  test('J21: answers the set to any caller, from any page, with its own media type', async () => {
    const answer = await get();

    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/jwk-set+json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(answer.headers.etag).toMatch(/^"[\w-]{43}"$/);
    expect(answer.json().keys).toHaveLength(14);
    expect(Value.Check(JwkSet, answer.json())).toBe(true);
  });

  test('does not send the set again to a client that holds it', async () => {
    const { etag = '' } = (await get()).headers;

    for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get({ 'if-none-match': held });
      expect(answer.statusCode).toBe(304);
      expect(answer.body).toBe('');
      expect(answer.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=300' });
    }
    expect((await get({ 'if-none-match': '"other"' })).statusCode).toBe(200);
  });

  test('sends the set of a new month to a client that holds the old set', async () => {
    const { etag = '' } = (await get()).headers;
    now = new Date('2026-12-01T00:00:00Z');

    const answer = await get({ 'if-none-match': etag });
    expect(answer.statusCode).toBe(200);
    expect(answer.json().keys[1].kid).toBe('service-2026-12');
  });

  test('answers HEAD with the same headers', async () => {
    const answer = await app.inject({ method: 'HEAD', url: '/.well-known/jwks.json' });

    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/jwk-set+json');
    expect(answer.body).toBe('');
  });
});
