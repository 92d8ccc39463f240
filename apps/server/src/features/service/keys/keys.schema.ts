import { Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Base64url = Type.String({ pattern: '^[A-Za-z0-9_-]+$' });

const RsaJwk = Type.Object({
  kty: Type.Literal('RSA'),
  kid: Type.String(),
  use: Type.Literal('sig'),
  alg: Type.Literal('RS256'),
  n: Base64url,
  e: Base64url,
});

const EcJwk = Type.Object({
  kty: Type.Literal('EC'),
  kid: Type.String(),
  use: Type.Literal('sig'),
  alg: Type.Literal('ES256'),
  crv: Type.Literal('P-256'),
  x: Base64url,
  y: Base64url,
});

/** @see RFC 7517 and RFC 7518 section 6; exactly these members, so no member of a private key */
export const PublishedJwk = Type.Union([RsaJwk, EcJwk]);
export type PublishedJwk = Static<typeof PublishedJwk>;

export const JwkSet = Type.Object({ keys: Type.Array(PublishedJwk) });
export type JwkSet = Static<typeof JwkSet>;

const Method = { id: Type.String(), controller: Type.String() };

/** @see https://www.w3.org/TR/did-core/#verification-methods; a JWK of RFC 7517, or a Multikey */
const VerificationMethod = Type.Union([
  Type.Object({
    ...Method,
    type: Type.Literal('JsonWebKey2020'),
    publicKeyJwk: Type.Object({}, { additionalProperties: true }),
  }),
  Type.Object({ ...Method, type: Type.Literal('Multikey'), publicKeyMultibase: Type.String() }),
]);

export type ServiceDidDocument = Static<typeof ServiceDidDocument>;
export const ServiceDidDocument = Type.Object({
  '@context': Type.Array(Type.String()),
  id: Type.String(),
  verificationMethod: Type.Array(VerificationMethod),
  authentication: Type.Array(Type.String()),
  assertionMethod: Type.Array(Type.String()),
  service: Type.Array(
    Type.Object({ id: Type.String(), type: Type.String(), serviceEndpoint: Type.String() }),
  ),
});

const Maybe = Type.Union([Time, Type.Null()]);
const Alg = Type.Enum(['RS256', 'ES256']);

/** A key without its private half. The times are null where the settings alone hold the keys. */
export type ManagedKey = Static<typeof ManagedKey>;
export const ManagedKey = Type.Object({
  kid: Type.String(),
  alg: Alg,
  state: Type.Enum(['pending', 'active', 'retired', 'removed']),
  isSigning: Type.Boolean({ description: 'Whether it signs new tokens now.' }),
  publishedAt: Maybe,
  signsFrom: Type.Union([Time, Type.Null()], {
    description: 'The end of the activation delay. A key signs only after it.',
  }),
  activatedAt: Maybe,
  retiredAt: Maybe,
  removedAt: Maybe,
});

export type ManagedKeys = Static<typeof ManagedKeys>;
export const ManagedKeys = Type.Object({
  store: Type.Enum(['env', 'postgres']),
  keys: Type.Array(ManagedKey),
});

export type NewKeyRotation = Static<typeof NewKeyRotation>;
export const NewKeyRotation = Type.Object({ alg: Type.Optional(Alg) }, { additionalProperties: false });

export const KeyPath = Type.Object({
  kid: Type.String({ pattern: '^service-(rs256|es256)-[A-Za-z0-9_-]{43}$' }),
});
