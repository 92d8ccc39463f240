import { sign, verify, webcrypto } from 'node:crypto';
import type { KeySet, VerificationJwk } from '../src/key-set.ts';
import {
  createAsyncTokenVerifier,
  createTokenVerifier,
  type SignatureToCheck,
  type TokenVerifier,
} from '../src/token-verifier.ts';
import { ec, type KeyPair, rsa } from './documented-keys.ts';

export const ISSUER = 'https://auth.example.test';
export const NOW = new Date('2026-02-01T12:00:00Z');
export const NOW_SECONDS = NOW.getTime() / 1_000;

export const standardPayload = {
  iss: ISSUER,
  sub: 'user_42',
  client_id: 'ag_1',
  dev: 'dev_1',
  scp: ['calendar:read'],
  scope: 'calendar:read',
  jti: 'tok_1',
  iat: NOW_SECONDS - 60,
  nbf: NOW_SECONDS - 90,
  exp: NOW_SECONDS + 3_600,
  act: { sub: 'did:web:auth.example.test:agents:ag_1' },
  'urn:service:grant': {
    grant_id: 'grnt_1',
    agent_did: 'did:web:auth.example.test:agents:ag_1',
    developer_id: 'dev_1',
  },
};

export interface ServiceKey extends VerificationJwk {
  readonly pair: KeyPair;
}

export function serviceKey(pair: KeyPair, alg: 'RS256' | 'ES256'): ServiceKey {
  return { ...pair.publicKey.export({ format: 'jwk' }), kid: pair.kid, use: 'sig', alg, pair };
}

/** As the server has them: every key under its thumbprint, the RSA key as the legacy key. */
export const serviceKeys: KeySet<ServiceKey> = {
  byId: new Map([
    [rsa.kid, serviceKey(rsa, 'RS256')],
    [ec.kid, serviceKey(ec, 'ES256')],
  ]),
  legacy: serviceKey(rsa, 'RS256'),
};

/** As the server does it. */
export function verifyWithNode({ key, signed, signature }: SignatureToCheck<ServiceKey>): boolean {
  return verify('sha256', signed, { key: key.pair.publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

/** As a browser does it. */
async function verifyWithWebCrypto(check: SignatureToCheck<ServiceKey>): Promise<boolean> {
  const { alg, key, signature, signed } = check;
  const algorithm =
    alg === 'RS256'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
      : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const jwk = key.pair.publicKey.export({ format: 'jwk' });
  const imported = await webcrypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
  return webcrypto.subtle.verify(algorithm, imported, signature, signed);
}

export const verifier: TokenVerifier = createTokenVerifier({
  keys: () => serviceKeys,
  issuer: ISSUER,
  developerId: 'dev_1',
  maxLifetimeSeconds: 365 * 86_400,
  verifySignature: verifyWithNode,
});

export const asyncVerifier = createAsyncTokenVerifier({
  keys: () => serviceKeys,
  issuer: ISSUER,
  developerId: 'dev_1',
  maxLifetimeSeconds: 365 * 86_400,
  verifySignature: verifyWithWebCrypto,
});

export function base64url(content: string | Uint8Array | object): string {
  const isRaw = typeof content === 'string' || content instanceof Uint8Array;
  return Buffer.from(isRaw ? content : JSON.stringify(content)).toString('base64url');
}

/** Signs any header and payload, text or object, however little sense they make together. */
export function jws(header: object | string, payload: object | string, pair: KeyPair = rsa): string {
  const signed = `${base64url(header)}.${base64url(payload)}`;
  const key = { key: pair.privateKey, dsaEncoding: 'ieee-p1363' as const };
  return `${signed}.${base64url(sign('sha256', Buffer.from(signed), key))}`;
}

export const rsaHeader = { alg: 'RS256', kid: rsa.kid, typ: 'at+jwt' };
export const ecHeader = { alg: 'ES256', kid: ec.kid, typ: 'at+jwt' };

/** A genuine grant token, apart from what is changed. A change to undefined leaves the claim out. */
export function grantToken(changes: object = {}, header: object = rsaHeader, pair: KeyPair = rsa): string {
  return jws(header, { ...standardPayload, ...changes }, pair);
}

/** `accepted`, or why it was not. */
export function outcome(
  token: unknown,
  expected: Partial<Parameters<TokenVerifier['verify']>[1]> = {},
): string {
  const verdict = verifier.verify(token, { now: NOW, ...expected });
  return verdict.ok ? 'accepted' : verdict.reason;
}
