import { didOfHost } from '@behest/protocol/did';
import { base58 } from '@scure/base';
import type { IdentityKey } from './keys.rules.ts';
import type { PublishedJwk, ServiceDidDocument } from './keys.schema.ts';

/** `z` means base58. @see https://www.w3.org/TR/cid-1.0/#multibase-0 */
export const multibase = (bytes: Uint8Array): string => `z${base58.encode(bytes)}`;

/** The bytes of a multibase text in base58. @returns undefined for any other text, and for one above 200 digits */
const bytesOf = (text: string): Buffer | undefined =>
  /^z[1-9A-HJ-NP-Za-km-z]{1,200}$/.test(text) ? Buffer.from(base58.decode(text.slice(1))) : undefined;

/** The kinds of keys, with the varint of their multicodec and their length in bytes. */
const KINDS = [
  { kind: 'Ed25519', prefix: [0xed, 0x01], length: 32 },
  { kind: 'X25519', prefix: [0xec, 0x01], length: 32 },
  { kind: 'P-256', prefix: [0x80, 0x24], length: 33 },
  { kind: 'P-384', prefix: [0x81, 0x24], length: 49 },
  { kind: 'secp256k1', prefix: [0xe7, 0x01], length: 33 },
] as const;

interface Multikey {
  readonly kind: (typeof KINDS)[number]['kind'];
  readonly publicKey: Buffer;
}

/** @see https://www.w3.org/TR/cid-1.0/#Multikey */
export const ed25519Multikey = (publicKey: Uint8Array): string =>
  multibase(Buffer.from([...KINDS[0].prefix, ...publicKey]));

/** @returns undefined for a text that is no public key of these kinds */
export function readMultikey(text: string): Multikey | undefined {
  const bytes = bytesOf(text);
  const found = KINDS.find(
    ({ prefix, length }) =>
      bytes?.length === prefix.length + length && bytes[0] === prefix[0] && bytes[1] === prefix[1],
  );
  return bytes && found && { kind: found.kind, publicKey: bytes.subarray(found.prefix.length) };
}

/** The keys of the service that its DID document names. */
export interface ServiceIdentity {
  /** The keys that verify tokens, under their thumbprints: other ids may not fit in a URL. */
  readonly keys: readonly PublishedJwk[];
  /** The id of the key that signs tokens now. Undefined while no key may sign. */
  readonly signingKid: string | undefined;
  readonly ed25519: IdentityKey['jwk'] | undefined;
  /** Former Ed25519 keys, as Multikeys. They prove what they signed, and sign nothing. */
  readonly former: readonly string[];
}

/**
 * @param host the service's host, as in a URL. The DID has no path, even when the service's URL has a path.
 */
export function serviceDidDocument(
  host: string,
  baseUrl: string,
  identity: ServiceIdentity,
): ServiceDidDocument {
  const { keys, signingKid, ed25519, former } = identity;
  const did = didOfHost(host);
  const asJwk = (jwk: PublishedJwk | IdentityKey['jwk']) => ({
    id: `${did}#${jwk.kid}`,
    type: 'JsonWebKey2020' as const,
    controller: did,
    publicKeyJwk: jwk,
  });
  const own = ed25519 && multikeyOf(ed25519);
  const identityMethods = ed25519 && own ? [asJwk(ed25519), asMultikey(did, own)] : [];
  const formerMethods = former.filter((key) => key !== own).map((key) => asMultikey(did, key));
  const methods = [...keys.map(asJwk), ...identityMethods, ...formerMethods];
  const signing = signingKid === undefined ? [] : [`${did}#${signingKid}`];
  return {
    '@context': [
      'https://www.w3.org/ns/did/v1',
      'https://w3id.org/security/suites/jws-2020/v1',
      'https://w3id.org/security/multikey/v1',
    ],
    id: did,
    verificationMethod: methods,
    authentication: [...signing, ...identityMethods.map(({ id }) => id)],
    assertionMethod: methods.map(({ id }) => id),
    service: [
      { id: `${did}#jwks`, type: 'JsonWebKeySet', serviceEndpoint: `${baseUrl}/.well-known/jwks.json` },
      { id: `${did}#authorization`, type: 'AgentAuthorizationService', serviceEndpoint: `${baseUrl}/v1` },
    ],
  };
}

/** The verification method of the identity key that proofs name. @param host as in a URL */
export const identityMethod = (host: string, jwk: IdentityKey['jwk']) =>
  `${didOfHost(host)}#${multikeyOf(jwk)}`;

const asMultikey = (did: string, publicKeyMultibase: string) => ({
  id: `${did}#${publicKeyMultibase}`,
  type: 'Multikey' as const,
  controller: did,
  publicKeyMultibase,
});

const multikeyOf = ({ x }: IdentityKey['jwk']) => ed25519Multikey(Buffer.from(x, 'base64url'));
