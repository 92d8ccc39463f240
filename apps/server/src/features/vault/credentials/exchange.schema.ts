import { Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';
import { Service } from './credentials.schema.ts';

export type CredentialExchange = Static<typeof CredentialExchange>;
export const CredentialExchange = Type.Object(
  {
    service: Service,
    /** The scopes that the agent needs at the upstream. They are looked at for connected accounts only. */
    upstreamScopes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 50 }),
    ),
  },
  { additionalProperties: false },
);

export type ExchangedCredential = Static<typeof ExchangedCredential>;
export const ExchangedCredential = Type.Object({
  accessToken: Type.String(),
  service: Type.String(),
  credentialType: Type.String(),
  tokenExpiresAt: Type.Union([Time, Type.Null()]),
  metadata: Type.Object({}, { additionalProperties: true }),
});
