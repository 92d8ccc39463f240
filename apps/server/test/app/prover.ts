import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { hashOf } from '../../src/platform/ids.ts';
import type { Service } from './start-app.ts';

type Members = Record<string, unknown>;

/** The key of a client, and the proofs that it makes (RFC 9449). */
export async function newProver({ clock }: Pick<Service, 'clock'>, baseUrl: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const header = { alg: 'ES256', typ: 'dpop+jwt', jwk };
  const proof = (changes: Members = {}, headerChanges: Members = {}) =>
    new SignJWT({
      jti: crypto.randomUUID(),
      htm: 'POST',
      htu: `${baseUrl}/oauth/token`,
      iat: Math.floor(clock().getTime() / 1000),
      ...changes,
    })
      .setProtectedHeader({ ...header, ...headerChanges } as { alg: string })
      .sign(privateKey);
  /** A proof for a call of the service with a token. */
  const proofAt = (path: string, token: string, changes: Members = {}) =>
    proof({ htu: `${baseUrl}${path}`, ath: hashOf(token).toString('base64url'), ...changes });
  return { proof, proofAt, jwk, privateJwk: await exportJWK(privateKey) };
}
