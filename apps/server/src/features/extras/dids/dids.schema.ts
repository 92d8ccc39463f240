import { Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** A DID of any method. The service refuses those that it cannot read, with its own code. */
export const DidPath = Type.Object({
  did: Type.String({ pattern: '^did:[a-z0-9]{1,32}:[!-~]{1,2048}$' }),
});

const KeyLife = Type.Object({
  kid: Type.String(),
  alg: Type.Enum(['RS256', 'ES256']),
  publishedAt: Time,
  activatedAt: Type.Union([Time, Type.Null()]),
  retiredAt: Type.Union([Time, Type.Null()]),
});

/** @see https://www.w3.org/TR/did-resolution/#did-resolution-result */
export type DidResolution = Static<typeof DidResolution>;
export const DidResolution = Type.Object({
  didDocument: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
    description: 'Null when the DID is deactivated.',
  }),
  didResolutionMetadata: Type.Object({ contentType: Type.Literal('application/did+json') }),
  didDocumentMetadata: Type.Object({
    created: Type.Optional(Time),
    updated: Type.Optional(Time),
    deactivated: Type.Boolean(),
    keyHistory: Type.Optional(
      Type.Array(KeyLife, {
        description: 'The signing keys of the service, oldest first, when the database holds them.',
      }),
    ),
  }),
});
