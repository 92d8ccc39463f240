import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { createDpopKey } from './dpop.ts';
import { generatePkce, pkceChallenge } from './pkce.ts';

test('a verifier has the challenge of the published vector, and each is new', () => {
  const verifier = 'behest-test-vector-verifier-0123456789-ABCDEFG~._';
  const [one, other] = [generatePkce(), generatePkce()];

  expect(pkceChallenge(verifier)).toBe('Z12ur8NMjV1B4zGTAWhy-ES6jh1Ui07L0S0iCByfNIk');
  expect(one).toEqual({
    codeVerifier: expect.stringMatching(/^[\w-]{43}$/),
    codeChallenge: pkceChallenge(one.codeVerifier),
    codeChallengeMethod: 'S256',
  });
  expect(other.codeVerifier).not.toBe(one.codeVerifier);
});

test.each(['ES256', 'EdDSA'] as const)(
  'a proof by %s names the call, the token and the nonce, once',
  async (alg) => {
    const key = await createDpopKey(alg);
    const url = 'https://auth.example/v1/vault/credentials/exchange';

    const proof = await key.proof('post', `${url}?a=b#c`, { accessToken: 'token', nonce: 'n1' });

    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [alg],
    });
    expect(payload).toEqual({
      ...{ htm: 'POST', htu: url, nonce: 'n1', iat: expect.any(Number) },
      ...{ jti: expect.any(String), ath: 'PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A' },
    });
    expect(await calculateJwkThumbprint(protectedHeader.jwk ?? {})).toBe(key.thumbprint);
    expect(protectedHeader.jwk).not.toHaveProperty('d');
    const plain = await key.proof('GET', url);
    expect(Object.keys(decodeProtectedHeader(plain)).toSorted()).toEqual(['alg', 'jwk', 'typ']);
    expect(plain).not.toBe(await key.proof('GET', url));
  },
);
