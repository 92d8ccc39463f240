import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { expect, test, vi } from 'vitest';
import { DEVELOPER, startIssuer } from '../test/issuer.ts';
import { createDpopKey } from './dpop.ts';
import { generatePkce, pkceChallenge } from './pkce.ts';
import { createVerifier, keyCache, verifyGrantToken, verifyGrantTokenDetailed } from './verify.ts';

const [method, url] = ['POST', 'https://api.example.test/orders?page=2'];

async function start() {
  const issuer = await startIssuer();
  const key = await createDpopKey();
  const token = await issuer.token({ cnf: { jkt: key.thumbprint } });
  const options = { jwksUri: issuer.jwksUri, developerId: DEVELOPER };
  const proofFor = (...[by, to, accessToken]: Parameters<typeof key.proof> | [string, string, string]) =>
    key.proof(String(by), String(to), { accessToken: String(accessToken) });
  return { issuer, key, token, options, proofFor };
}

test('a token that is bound to a key is taken with a proof of that key, for this request, and nothing less', async () => {
  const { issuer, key, token, options, proofFor } = await start();
  const other = await createDpopKey();
  const verifier = createVerifier(options);
  const proof = await proofFor(method, url, token);
  const outcome = async (given: string | undefined, what = token, to = url) => {
    const result = await verifier.detailed(what, { proof: given, method, url: to });
    return result.ok ? 'taken' : result.reason;
  };

  expect((await verifier.verify(token, { proof, method, url })).confirmation).toEqual({
    jkt: key.thumbprint,
  });
  // From here on the token is remembered, which must not replace the proof.
  expect(await outcome(proof)).toBe('taken');
  expect(await verifier.detailed(token)).toMatchObject({ ok: false, reason: 'dpop_required' });
  const wrong = {
    'no proof': undefined,
    'no JWT': 'proof',
    'another key': await other.proof(method, url, { accessToken: token }),
    'another method': await proofFor('GET', url, token),
    'another place': await proofFor(method, 'https://api.example.test/payments', token),
    'another token': await proofFor(method, url, await issuer.token()),
    'no token': await key.proof(method, url),
    'the token itself': token,
  };
  for (const [name, given] of Object.entries(wrong)) expect(await outcome(given), name).toBe('dpop_required');
  const unbound = await issuer.token();
  expect(await outcome(await proofFor(method, url, unbound), unbound)).toBe('dpop_required');
  expect(await verifyGrantTokenDetailed(token, { ...options, dpop: { proof, method, url } })).toMatchObject({
    ok: true,
  });
});

test('a proof is good for a minute, and once where proofs are remembered', async () => {
  const { token, options, proofFor } = await start();
  const proof = await proofFor(method, url, token);
  const ids = new Set<string>();
  const seen = (id: string) => ids.size === ids.add(id).size;
  const reasonAt = async (seconds: number) => {
    vi.useFakeTimers({ now: Date.now() + seconds * 1_000, toFake: ['Date'] });
    try {
      const result = await verifyGrantTokenDetailed(token, { ...options, dpop: { proof, method, url } });
      return result.ok ? 'taken' : result.reason;
    } finally {
      vi.useRealTimers();
    }
  };

  expect([await reasonAt(55), await reasonAt(65), await reasonAt(-65)]).toEqual([
    ...['taken', 'dpop_required', 'dpop_required'],
  ]);
  const once = { ...options, dpop: { proof, method, url, seen } };
  expect(await verifyGrantTokenDetailed(token, once)).toMatchObject({ ok: true });
  expect(await verifyGrantTokenDetailed(token, once)).toMatchObject({ reason: 'dpop_required' });
});

test('an issuer may be named by its DID', async () => {
  const issuer = await startIssuer();
  const { port } = new URL(issuer.url);
  const options = { jwksUri: issuer.jwksUri, developerId: DEVELOPER };
  const token = await issuer.token();

  const grant = await verifyGrantToken(token, { ...options, issuerDid: `did:web:127.0.0.1%3A${port}` });

  expect(grant.issuer).toBe(issuer.url);
  for (const issuerDid of ['did:web:auth.example.com', `did:web:127.0.0.1%3A${port}:other`])
    expect(await verifyGrantTokenDetailed(token, { ...options, issuerDid })).toMatchObject({ ok: false });
  for (const issuerDid of ['did:key:z6Mk', 'did:web:', 'did:web:a/b'])
    await expect(verifyGrantToken(token, { ...options, issuerDid })).rejects.toThrow(issuerDid);
});

test('keys may be kept apart from those of the process', async () => {
  const issuer = await startIssuer();
  const options = { jwksUri: issuer.jwksUri, developerId: DEVELOPER, cache: keyCache() };
  const verified = await verifyGrantToken(await issuer.token(), options);
  await verifyGrantToken(await issuer.token(), { ...options });

  await verifyGrantToken(await issuer.token(), { ...options, cache: keyCache() });

  expect(verified.principalId).toBe('user_42');
  expect(issuer.fetches).toBe(2);
});

test('a grant tells of the manifests that the person saw', async () => {
  const issuer = await startIssuer();
  const manifests = { crm: 'sha256:abc' };
  const claim = { grant_id: 'grnt_1', developer_id: DEVELOPER, manifests, manifest_mode: 'enforce' };
  const token = await issuer.token({ act: undefined, 'urn:service:grant': claim });

  const grant = await verifyGrantToken(token, { jwksUri: issuer.jwksUri, developerId: DEVELOPER });

  expect(grant).toMatchObject({ manifests, manifestMode: 'enforce', confirmation: undefined });
});

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
