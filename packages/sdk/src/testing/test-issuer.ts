import { didOfHost } from '@behest/protocol/did';
import { decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { Behest } from '../behest.ts';
import type { BehestOptions } from '../client/options.ts';
import type { Fetch } from '../verify/fetch-keys.ts';
import { keyCache } from '../verify/key-cache.ts';
import type { VerifyOptions } from '../verify.ts';
import { type MockCall, type MockState, mockRoutes } from './mock-routes.ts';

const ISSUER = 'https://auth.example.test';
const [ES256, LEGACY] = ['service-es256-test', 'service-2025-01'];

export interface TestIssuerOptions {
  /** Default: `https://auth.example.test`. Nobody connects to it. */
  readonly issuer?: string;
  /** The account whose tokens are signed. Default: `dev_test`. */
  readonly developerId?: string;
}

type Claims = Readonly<Record<string, unknown>>;

/** An issuer of grant tokens for tests. Its keys are its own, and it needs no network. */
export interface TestIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  readonly developerId: string;
  /** The public keys, as the service publishes them. */
  readonly jwks: { readonly keys: readonly JWK[] };
  /** Answers with the keys at `jwksUri`, and with 404 elsewhere. */
  readonly fetch: Fetch;
  /** Settings with which `createVerifier`, the middleware and `new Behest` take the tokens of this issuer. */
  readonly options: Pick<VerifyOptions, 'jwksUri' | 'issuer' | 'developerId' | 'cache'> & { fetch: Fetch };
  /** Signs a token with these claims in the place of the usual ones. A claim that is `undefined` is left out. */
  signGrantToken(claims?: Claims): Promise<string>;
  /** A token that ended a minute ago. */
  expired(claims?: Claims): Promise<string>;
  /** A token whose scopes were changed after it was signed. */
  tampered(claims?: Claims): Promise<string>;
  /** A token with the claim names, the algorithm and the key id from before 0.6. */
  legacy(claims?: Claims): Promise<string>;
  /** A genuine token of another account of the same service. */
  otherDeveloper(claims?: Claims): Promise<string>;
  /** A token of a sandbox account, which no person has approved. */
  sandbox(claims?: Claims): Promise<string>;
}

/**
 * Makes an issuer.
 *
 * @example
 * ```ts
 * const issuer = await createTestIssuer();
 * app.use(requireGrantToken({ ...issuer.options, audience: 'https://api.example.com' }));
 * const token = await issuer.signGrantToken({ scp: ['calendar:read'], aud: 'https://api.example.com' });
 * ```
 */
export async function createTestIssuer(options: TestIssuerOptions = {}): Promise<TestIssuer> {
  const { issuer = ISSUER, developerId = 'dev_test' } = options;
  const jwksUri = `${issuer}/.well-known/jwks.json`;
  const [current, old] = [await generateKeyPair('ES256'), await generateKeyPair('RS256')];
  const jwks = {
    keys: [
      { ...(await exportJWK(current.publicKey)), kid: ES256, alg: 'ES256', use: 'sig' },
      { ...(await exportJWK(old.publicKey)), kid: LEGACY, alg: 'RS256', use: 'sig' },
    ],
  };
  const fetch: Fetch = async (url) =>
    url === jwksUri ? Response.json(jwks) : Response.json({ code: 'NOT_FOUND' }, { status: 404 });
  const claimsOf = (over: Claims) => usualClaims(issuer, developerId, over);

  const signGrantToken = (over: Claims = {}) =>
    new SignJWT(claimsOf(over))
      .setProtectedHeader({ alg: 'ES256', kid: ES256, typ: 'at+jwt' })
      .sign(current.privateKey);
  return {
    ...{ issuer, jwksUri, developerId, jwks, fetch, signGrantToken },
    options: { jwksUri, issuer, developerId, fetch, cache: keyCache() },
    expired: (over) => signGrantToken({ iat: inSeconds(-3_660), exp: inSeconds(-60), ...over }),
    async tampered(over) {
      const [header = '', payload = '', signature = ''] = (await signGrantToken(over)).split('.');
      const changed = { ...decodeJwt(`${header}.${payload}.`), scp: ['*'], scope: '*' };
      return [header, textOf(changed), signature].join('.');
    },
    legacy(over = {}) {
      const { act: _, client_id: __, scope: ___, 'urn:service:grant': grant, ...rest } = claimsOf(over);
      const { grant_id, agent_did } = Object(grant);
      return new SignJWT({ ...rest, grnt: grant_id, agt: agent_did })
        .setProtectedHeader({ alg: 'RS256', kid: LEGACY, typ: 'JWT' })
        .sign(old.privateKey);
    },
    otherDeveloper(over) {
      const { 'urn:service:grant': grant } = claimsOf({ dev: 'dev_other', ...over });
      return signGrantToken({ dev: 'dev_other', 'urn:service:grant': grant, ...over });
    },
    sandbox: (over) => signGrantToken({ sandbox: true, ...over }),
  };
}

const inSeconds = (more: number) => Math.floor(Date.now() / 1_000) + more;

const textOf = (value: object) =>
  btoa(JSON.stringify(value)).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_');

/** The claims of a token that is good for an hour. */
function usualClaims(issuer: string, developerId: string, over: Claims): Claims & Record<string, unknown> {
  const { client_id: agentId = 'ag_test', dev = developerId, scp = ['calendar:read'] } = over;
  const did = `${didOfHost(new URL(issuer).host)}:agents:${agentId}`;
  const claims = {
    ...{ iss: issuer, sub: 'user_test', client_id: agentId, dev, scp },
    ...(Array.isArray(scp) && { scope: scp.join(' ') }),
    ...{ jti: `tok_${crypto.randomUUID()}`, iat: inSeconds(-1), nbf: inSeconds(-30), exp: inSeconds(3_600) },
    act: { sub: did },
    'urn:service:grant': { grant_id: 'grnt_test', agent_did: did, developer_id: dev },
    ...over,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

export interface MockOptions extends Omit<BehestOptions, 'fetch' | 'baseUrl' | 'apiKey'> {
  /** The issuer whose keys sign the tokens. Default: a new one. */
  readonly testIssuer?: TestIssuer;
}

/** A client of a service that is in this process. */
export interface MockBehest {
  readonly behest: Behest;
  readonly issuer: TestIssuer;
  /** The service as a function, for clients that a test makes itself. */
  readonly fetch: Fetch;
  /** The calls that it has answered, the first one first. */
  readonly calls: readonly MockCall[];
}

/**
 * Makes a service in memory, and its client. It has agents, requests that are approved at once, tokens and grants; other calls are answered with 501. It checks no input and no plan: tests of those need the service itself.
 *
 * @example
 * ```ts
 * const { behest, calls } = await mockBehest();
 * await bookTravel(behest);
 * expect(calls.map(({ route }) => route)).toContain('POST /v1/authorize');
 * ```
 */
export async function mockBehest({ testIssuer, ...options }: MockOptions = {}): Promise<MockBehest> {
  const issuer = testIssuer ?? (await createTestIssuer());
  const state: MockState = { issuer, agents: new Map(), codes: new Map(), grants: new Map() };
  const calls: MockCall[] = [];
  const routes = mockRoutes(state);

  const fetch: Fetch = async (address, { method = 'GET', body }) => {
    const { pathname } = new URL(address);
    if (address === issuer.jwksUri) return issuer.fetch(address, {});
    for (const [route, answer] of routes) {
      const [verb, template = ''] = route.split(' ');
      const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
      const found = verb === method ? pattern.exec(pathname) : null;
      if (!found) continue;
      const sent: object = body == null ? {} : Object(JSON.parse(String(body)));
      calls.push({ route, body: sent });
      const { status, value } = await answer({ id: decodeURIComponent(found[1] ?? ''), body: sent });
      return value === undefined ? new Response(null, { status }) : Response.json(value, { status });
    }
    const message = `mockBehest() has no ${method} ${pathname}.`;
    return Response.json({ code: 'NOT_SUPPORTED', message, requestId: 'req_test' }, { status: 501 });
  };
  const { cache: _, ...known } = issuer.options;
  const behest = new Behest({ ...known, ...options, apiKey: 'bh_test_mock', baseUrl: issuer.issuer, fetch });
  return { behest, issuer, fetch, calls };
}
