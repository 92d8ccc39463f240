import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { type SigningAlg, type SigningKey, verificationKey } from './keys.rules.ts';

const newKeyPair = promisify(generateKeyPair);

/** Makes a key pair on libuv's threads. An RSA key takes some tenths of a second. */
export async function newSigningKey(alg: SigningAlg): Promise<SigningKey> {
  const { publicKey, privateKey } = await (alg === 'RS256'
    ? newKeyPair('rsa', { modulusLength: 2048 })
    : newKeyPair('ec', { namedCurve: 'P-256' }));
  return { ...verificationKey(publicKey), privateKey };
}
