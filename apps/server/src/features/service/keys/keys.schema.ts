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
