import type { webcrypto } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';

export const DEVELOPER = 'dev_1';
const AGENT_DID = 'did:web:auth.example.test:agents:ag_1';

interface TestKey {
  readonly kid: string;
  readonly sign: webcrypto.CryptoKey;
  readonly jwk: JWK;
}

async function newKey(kid: string, alg: 'ES256' | 'RS256'): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, sign: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An issuer that serves its keys over HTTP, rotates them, fails on demand and counts what it is asked. */
export async function startIssuer() {
  let keys = [await newKey('service-es256-first', 'ES256')];
  let fetches = 0;
  let answer: 'keys' | 'error' | 'silence' | 'redirect' | 'large' | 'nothing usable' = 'keys';
  let cacheControl = 'public, max-age=300';
  const server = createServer((_, response) => {
    fetches += 1;
    if (answer === 'silence') return;
    response.setHeader('cache-control', cacheControl);
    if (answer === 'error') response.writeHead(500).end();
    else if (answer === 'redirect') response.writeHead(302, { location: `${url}/elsewhere` }).end();
    else if (answer === 'large') response.end(JSON.stringify({ keys: [], filler: 'x'.repeat(300 * 1_024) }));
    else if (answer === 'nothing usable') response.end('{"keys":[{"kid":"a","kty":"oct","use":"sig"}]}');
    else response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address with a port.
  // Its own path: a later issuer may get the same port, and a cache of the process would take its keys for these.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${crypto.randomUUID()}`;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(stop);

  const claimsOf = (over: Record<string, unknown>) => {
    const now = Math.floor(Date.now() / 1_000);
    return {
      ...{ iss: url, sub: 'user_42', client_id: 'ag_1', dev: DEVELOPER, aud: 'https://api.example.test' },
      ...{ scp: ['calendar:read'], jti: `tok_${crypto.randomUUID()}` },
      ...{ iat: now - 1, nbf: now - 30, exp: now + 600, act: { sub: AGENT_DID } },
      'urn:service:grant': { grant_id: 'grnt_1', agent_did: AGENT_DID, developer_id: DEVELOPER },
      ...over,
    };
  };
  return {
    url,
    jwksUri: `${url}/.well-known/jwks.json`,
    stop,
    /** Signs a grant token with the newest key, or another. */
    async token(over: Record<string, unknown> = {}, key = keys.at(-1)): Promise<string> {
      if (!key) throw new Error('The issuer has no key.');
      const claims = Object.fromEntries(
        Object.entries(claimsOf(over)).filter(([, value]) => value !== undefined),
      );
      return new SignJWT(claims)
        .setProtectedHeader({ alg: String(key.jwk.alg), kid: key.kid, typ: 'at+jwt' })
        .sign(key.sign);
    },
    newKey,
    async rotate(kid: string, { keeps = true } = {}): Promise<void> {
      keys = [...(keeps ? keys : []), await newKey(kid, 'ES256')];
    },
    answers(with_: typeof answer): void {
      answer = with_;
    },
    caches(header: string): void {
      cacheControl = header;
    },
    get jwks() {
      return { keys: keys.map(({ jwk }) => jwk) };
    },
    get fetches() {
      return fetches;
    },
  };
}
