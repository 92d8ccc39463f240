import { decode } from 'base58-universal';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { ed25519Multikey, multibase, readMultikey } from './did.rules.ts';
import vectors from './keys.vectors.json' with { type: 'json' };

let service: Service;
beforeAll(async () => {
  service = await startApp({
    isShared: true,
    startsAt: '2026-11-21T10:00:00Z',
    env: {
      RSA_PRIVATE_KEY: vectors.rsa.privateKey,
      EC_PRIVATE_KEY: vectors.ec.privateKey,
      ED25519_PRIVATE_KEY: vectors.ed25519.privateKey,
      JWT_SIGNING_ALG: 'ES256',
      SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '900',
      PUBLIC_BASE_URL: 'https://auth.test:8443',
    },
  });
});
afterAll(() => service.stop());

const did = 'did:web:auth.test%3A8443';
const rsa = `${did}#service-rs256-${vectors.rsa.thumbprint}`;
const ec = `${did}#service-es256-${vectors.ec.thumbprint}`;
const ed25519 = `${did}#service-ed25519-${vectors.ed25519.thumbprint}`;
const multikey = `${did}#${vectors.ed25519.multikey}`;
const get = (headers = {}) => service.app.inject({ url: '/.well-known/did.json', headers });

describe('GET /.well-known/did.json', () => {
  test('names every key of the service once, the Ed25519 key in both its forms', async () => {
    const document = (await get()).json();
    const { keys } = (await service.app.inject('/.well-known/jwks.json')).json();

    const asJwk = { type: 'JsonWebKey2020', controller: did };
    const kid = `service-ed25519-${vectors.ed25519.thumbprint}`;
    expect(document).toEqual({
      '@context': [
        'https://www.w3.org/ns/did/v1',
        'https://w3id.org/security/suites/jws-2020/v1',
        'https://w3id.org/security/multikey/v1',
      ],
      id: did,
      verificationMethod: [
        { id: rsa, ...asJwk, publicKeyJwk: keys[0] },
        { id: ec, ...asJwk, publicKeyJwk: keys[1] },
        { id: ed25519, ...asJwk, publicKeyJwk: { ...JSON.parse(vectors.ed25519.hashed), kid } },
        { id: multikey, type: 'Multikey', controller: did, publicKeyMultibase: vectors.ed25519.multikey },
      ],
      authentication: [rsa, ed25519, multikey],
      assertionMethod: [rsa, ec, ed25519, multikey],
      service: [
        {
          id: `${did}#jwks`,
          type: 'JsonWebKeySet',
          serviceEndpoint: 'https://auth.test:8443/.well-known/jwks.json',
        },
        {
          id: `${did}#authorization`,
          type: 'AgentAuthorizationService',
          serviceEndpoint: 'https://auth.test:8443/v1',
        },
      ],
    });
  });

  test('J21: shows no private half', async () => {
    const { body } = await get();

    const secrets = [vectors.rsa, vectors.ec, vectors.ed25519].map(({ privateKey }) =>
      privateKey.split('\n').slice(1, 2).join(''),
    );
    for (const secret of [...secrets, '"d":', '"p":', '"q":']) expect(body).not.toContain(secret);
  });

  test('is public for every page, and cached for five minutes', async () => {
    const { statusCode, headers } = await get({ origin: 'https://elsewhere.example' });

    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/did+json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-ratelimit-limit': expect.any(String),
    });
  });

  test('authenticates with the current signing key, which changes when the activation delay ends', async () => {
    service.advance(900);

    expect((await get()).json().authentication).toEqual([ec, ed25519, multikey]);
  });
});

test('without an Ed25519 key the document has only the keys of tokens', async () => {
  const { app } = await startApp({ env: { RSA_PRIVATE_KEY: vectors.rsa.privateKey } });

  const { id, verificationMethod, authentication } = (await app.inject('/.well-known/did.json')).json();

  expect(id).toBe('did:web:auth.test');
  expect(verificationMethod).toHaveLength(1);
  expect(authentication).toEqual([`${id}#service-rs256-${vectors.rsa.thumbprint}`]);
});

test('names former Ed25519 keys, so that old proofs verify, and lets none of them authenticate', async () => {
  const former = 'z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
  const env = {
    ED25519_PRIVATE_KEY: vectors.ed25519.privateKey,
    ED25519_PREVIOUS_PUBLIC_KEYS: `${former}, ${vectors.ed25519.multikey}`,
  };
  const { app } = await startApp({ env });

  const { verificationMethod, authentication, assertionMethod } = (
    await app.inject('/.well-known/did.json')
  ).json();

  const id = `did:web:auth.test#${former}`;
  const ids: string[] = verificationMethod.map((method: { id: string }) => method.id);
  expect(verificationMethod).toContainEqual({
    id,
    type: 'Multikey',
    controller: 'did:web:auth.test',
    publicKeyMultibase: former,
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(assertionMethod).toContain(id);
  expect(authentication).not.toContain(id);
});

const zerosFirst = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.uint8Array({ maxLength: 64 }))
  .map(([zeros, rest]) => Buffer.concat([Buffer.alloc(zeros), rest]))
  .filter((bytes) => bytes.length > 0);

test('another library reads the same bytes, zeros at the beginning too', () => {
  fc.assert(
    fc.property(zerosFirst, (bytes) => {
      const text = multibase(bytes);
      expect(text[0]).toBe('z');
      expect(Buffer.from(decode(text.slice(1)))).toEqual(bytes);
    }),
  );
});

test('a key is read as it was written, and another length is no key', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 31, maxLength: 33 }), (key) => {
      const read = readMultikey(ed25519Multikey(key));
      expect(read).toEqual(key.length === 32 ? { kind: 'Ed25519', publicKey: Buffer.from(key) } : undefined);
    }),
  );
});
