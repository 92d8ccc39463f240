import { didOfHost } from '@behest/protocol/did';
import type { ServiceDidDocument } from './keys.did.schema.ts';
import type { IdentityKey } from './keys.rules.ts';
import type { PublishedJwk } from './keys.schema.ts';

/** The keys of the service that its DID document names. */
export interface ServiceIdentity {
  /** The keys that verify tokens, under their thumbprints: other ids may not fit in a URL. */
  readonly keys: readonly PublishedJwk[];
  /** The id of the key that signs tokens now. */
  readonly signingKid: string;
  readonly ed25519: IdentityKey['jwk'] | undefined;
}

/**
 * @param host the service's host, as in a URL. The DID has no path, even when the service's URL has a path.
 */
export function serviceDidDocument(
  host: string,
  baseUrl: string,
  identity: ServiceIdentity,
): ServiceDidDocument {
  const { keys, signingKid, ed25519 } = identity;
  const did = didOfHost(host);
  const asJwk = (jwk: PublishedJwk | IdentityKey['jwk']) => ({
    id: `${did}#${jwk.kid}`,
    type: 'JsonWebKey2020' as const,
    controller: did,
    publicKeyJwk: jwk,
  });
  const identityMethods = ed25519 ? [asJwk(ed25519), asMultikey(did, ed25519)] : [];
  const methods = [...keys.map(asJwk), ...identityMethods];
  return {
    '@context': [
      'https://www.w3.org/ns/did/v1',
      'https://w3id.org/security/suites/jws-2020/v1',
      'https://w3id.org/security/multikey/v1',
    ],
    id: did,
    verificationMethod: methods,
    authentication: [`${did}#${signingKid}`, ...identityMethods.map(({ id }) => id)],
    assertionMethod: methods.map(({ id }) => id),
    service: [
      { id: `${did}#jwks`, type: 'JsonWebKeySet', serviceEndpoint: `${baseUrl}/.well-known/jwks.json` },
      { id: `${did}#authorization`, type: 'AgentAuthorizationService', serviceEndpoint: `${baseUrl}/v1` },
    ],
  };
}

/** The verification method of the identity key that proofs name. @param host as in a URL */
export const identityMethod = (host: string, { x }: IdentityKey['jwk']) =>
  `${didOfHost(host)}#${multikey(Buffer.from(x, 'base64url'))}`;

function asMultikey(did: string, { x }: IdentityKey['jwk']) {
  const publicKeyMultibase = multikey(Buffer.from(x, 'base64url'));
  return {
    id: `${did}#${publicKeyMultibase}`,
    type: 'Multikey' as const,
    controller: did,
    publicKeyMultibase,
  };
}

const ED25519_PUB = [0xed, 0x01]; // the multicodec of the key's kind, as a varint
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** @see https://www.w3.org/TR/cid-1.0/#Multikey */
const multikey = (publicKey: Uint8Array): string => multibase(Buffer.from([...ED25519_PUB, ...publicKey]));

/** `z` means base58, which writes the bytes as one number. @see https://www.w3.org/TR/cid-1.0/#multibase-0 */
export function multibase(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let digits = '1'.repeat(bytes.findIndex((byte) => byte !== 0)); // a zero at the beginning is a digit of its own
  for (; rest > 0n; rest /= 58n) digits = BASE58.charAt(Number(rest % 58n)) + digits;
  return `z${digits}`;
}
