import { didOfHost } from '@behest/protocol/did';
import type { IdentityKey } from './keys.rules.ts';
import type { PublishedJwk, ServiceDidDocument } from './keys.schema.ts';
import { ed25519Multikey } from './multikey.rules.ts';

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
