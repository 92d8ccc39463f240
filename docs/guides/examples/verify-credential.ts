import { gunzipSync } from 'node:zlib';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';

export interface IssuerSettings {
  /** The service's address, which publishes its keys and its status lists. */
  readonly baseUrl: string;
  /** The DID of the service, `id` in its `/.well-known/did.json`. */
  readonly did: string;
  /** The developer whose agents you know. All accounts of a service sign with the same keys. */
  readonly developerId: string;
  /** True to take credentials of a sandbox account, where no person has to approve. Default: false. */
  readonly allowSandbox?: boolean;
}

/** Verifies W3C credentials about grants. Make one verifier for the life of the process: it keeps the keys. */
export function credentialVerifier({ baseUrl, did, developerId, allowSandbox = false }: IssuerSettings) {
  const keys = createRemoteJWKSet(new URL(`${baseUrl}/.well-known/jwks.json`));
  const signed = async (text: string): Promise<JWTPayload> => {
    const options = { algorithms: ['RS256', 'ES256'], typ: 'vc+jwt', issuer: did, requiredClaims: ['exp'] };
    return (await jwtVerify(text, keys, options)).payload;
  };

  return async (credential: string): Promise<JWTPayload> => {
    const payload = await signed(credential);
    const { credentialSubject, credentialStatus } = Object(payload);
    if (credentialSubject?.developerId !== developerId)
      throw new Error("The credential is of another account's agent.");
    if (credentialSubject.sandbox !== undefined && !allowSandbox)
      throw new Error('The credential is of a sandbox account, where no person has to approve.');
    const [entry] = credentialStatus;
    const { statusListCredential: address, statusListIndex } = entry;
    if (!address.startsWith(`${baseUrl}/`)) throw new Error('The issuer does not publish this status list.');
    const answer = await fetch(address, { headers: { accept: 'application/vc+jwt' }, redirect: 'error' });
    if (!answer.ok) throw new Error(`The status list answers ${answer.status}.`);
    const list = await signed(await answer.text());
    if (list.sub !== address) throw new Error('The status list is another one.');
    const bits = gunzipSync(Buffer.from(Object(list.credentialSubject).encodedList.slice(1), 'base64url'));
    const byte = bits[statusListIndex >> 3];
    if (byte === undefined) throw new Error('The status list has no such entry.');
    if (byte & (0x80 >> (statusListIndex & 7))) throw new Error('The credential is revoked.');
    return payload;
  };
}
