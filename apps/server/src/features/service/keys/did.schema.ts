import { type Static, Type } from 'typebox';

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
