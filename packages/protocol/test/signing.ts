import { createPrivateKey, createPublicKey, type KeyObject, sign, verify, webcrypto } from 'node:crypto';
import type { KeySet, VerificationJwk } from '../src/key-set.ts';
import {
  createAsyncTokenVerifier,
  createTokenVerifier,
  type SignatureToCheck,
  type TokenVerifier,
} from '../src/token-verifier.ts';

/**
 * The keys and the token of the documentation's test vectors. Everybody knows them: a service in production
 * refuses to start with one.
 */
const RSA_PKCS8 =
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCkKjf8VUlKd2iAGT3Xm/WFac836VkdSB8ain9Uh43uXRzb' +
  'dTjQ1CkC0af9Oh3tm4RXpE7ygW/k34Qgz3UZFluAD0Ju/gu67OWEg7Wg3v9a0PYpMQzFXkb9HWdZcFL3RuV4T+hGx1kWaghT' +
  'DKXLfC9rEvOwJxPEmZMvVH+j7iMCALgRcBNKq2ZWLZwt5pPEzuzb9QIAzUCNJ7QT+IS42vlgYU9fZSP3eDiaXhVTLEIrQvh+' +
  'Lr7+00sx36KLEfc7WKn47NP5o/wcRdUhi0+jj+7SEW/IbK/rdAmiyiktD+QoOwc676Dec7ZxfwRR6ShIHtklsAFhv78jR0J0' +
  'T8L3Z0mBAgMBAAECggEACg7RH8tc4mxW8XQ6cv2J6RreuIL6M/5Rc4eVPglRE4/OXw67RKYe/h54v53CLCbZUKJPOPHfuGLO' +
  'XlE/kCIryHiG3jR/5PuzIy+LnvfSps6DKmpoKSZ5zHOy+4qTdrV4BStGJKH9jg9Ag9AUT1eEMzf1yK7YOfUbzKxNZq6GJA7s' +
  'bDAqi/wgcgE1EMnjSlCQMC5eYQw1esme50OEbGQQ8YzuAY9kVbMqvbSFGr3plUuWDWfJBbm31J566+VFUHQ3VfTp+MZr5s7l' +
  'JRhEc+givYGa0VTiK7UHDGF7iXH2sziVU7L1RfuZFtM0m0lKbWhWJNSb+uEbBXNGKO9uaYac/QKBgQDmxw+ryvIQojPg7GMK' +
  'B13H5k8NI36JS80Cg39ppiaN36N4WfWT+JbhRa8r55xMNtdnHqtvUDDRDJXPzgecaDh5xnpRR2G9LZx6RNfUQb9oGXCdlWx9' +
  'iiKRu6/90kojM+HlE+3F8W9uRcB05mJVOMUtW1yuZTzt00BeTfL0nhJQlQKBgQC2G2XjarR6Tpuzks6PGT7O30QV9axHAu4K' +
  'JWHm+TwKnecKCxnIw+vA0yT4SmxxgKB2xWQTMS12sn16yy6mpjUAm4C3iexix+kI/7WRJNt3lfhi8ouuTUkyEBiQksRXgTN3' +
  'SCBxvyLI9vuQZJFYvt9JTp7zs86E9crC601GZ+4+PQKBgG0FPPH7Pb994OQwx9jFAhidRFsAmZZiqMa3OEnApBYBwEfqt4jf' +
  'tudU9BvZnoyim7+rTXGYgHdBasRwoEfTNFrS2JXtEs877OAWBZ/QL4wN+JV5MXdc+le+QrW10jAvIlgFwh3woKOHcBPJgkqg' +
  'NwXmUzJPwSjY01+5kzzcL+rBAoGALYumrP04DEryyDPUc5fFzKmsdq2OG+iQrnrxBHqbWLBrY2ipVzwhD4X/fhXnD3AzMeFm' +
  'iSJIk6JKndaJYWa6ZN9/jufw9je3geeqepW0SjF5AQ5Wfw6XWu0Jp8b9UkFfJNsmOiyqv4Z+Hnv4mjCK2ePO/3aeFUUAJEYD' +
  'erNts6UCgYEAjzS9cmMBNnwdTayE+UT1fDi9ziLYV8hM2qZp23BJWBQ1RazERFmbFrizYLOeW13sKFCp6QLOztWycMjwhJbr' +
  'z4/ijvdOodsmI5kdobReCarXymFOHiSM5kCMCh5VeLZW3tbyq1a9imdxU4eqrh61Kbxkq/iwCW770ty2zLM9R3c=';
const EC_PKCS8 =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJcyFVGEsr9gQEmfYqnH/uaxJR4V9YOZPRHkMQFPlrSChRANC' +
  'AAR+YRK3wfH5FDF2cKjjvmyc7eR4RoPTImLjkICEjgC5ZYJJqPRtKVm2yEusyvYxu/xrI+uUBeVeKe/d4dlr0Vto';

const privateKey = (base64: string) =>
  createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'pkcs8' });

interface KeyPair {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function keyPair(kid: string, key: KeyObject): KeyPair {
  return { kid, privateKey: key, publicKey: createPublicKey(key) };
}

export const RSA_KEY_ID = 'service-rs256-SaszmOe4T02EYaFnITyD8TTWBDyyOWpp3uKUi6H5K6o';
export const EC_KEY_ID = 'service-es256-TZ0K0Gv44oItHlNBQqtw7lE8j7NCGy1n3xDkO0qGgWs';
export const rsa = keyPair(RSA_KEY_ID, privateKey(RSA_PKCS8));
export const ec = keyPair(EC_KEY_ID, privateKey(EC_PKCS8));

export const ES256_TOKEN =
  'eyJhbGciOiJFUzI1NiIsImtpZCI6InNlcnZpY2UtZXMyNTYtVFowSzBHdjQ0b0l0SGxOQlFxdHc3bEU4ajdOQ0d5MW4zeERr' +
  'TzBxR2dXcyIsInR5cCI6ImF0K2p3dCJ9.eyJpc3MiOiJodHRwczovL2F1dGguZXhhbXBsZS50ZXN0Iiwic3ViIjoidXNlcl8' +
  '0MiIsImF1ZCI6Imh0dHBzOi8vYXBpLmV4YW1wbGUudGVzdCIsImRldiI6ImRldl8wMVRFU1RWRUNUT1IiLCJzY3AiOlsiY2F' +
  'sZW5kYXI6cmVhZCJdLCJzY29wZSI6ImNhbGVuZGFyOnJlYWQiLCJjbGllbnRfaWQiOiJhZ18wMVRFU1RWRUNUT1IiLCJqdGk' +
  'iOiJ0b2tfMDFURVNUVkVDVE9SIiwiaWF0IjoxNzY3MjI1NjAwLCJleHAiOjQwNzA5MDg4MDB9.XDcyyw3cM-wHhog7WYBJJe' +
  'q8fAHXaeVLrKUBP2-7JQJJrq6zCjYw-A2YGeIfNkp2HETNFMwpLVXy8KMrJ_ZohQ';

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
