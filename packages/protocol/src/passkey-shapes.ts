import { type Static, Type } from 'typebox';
import { Id } from './shapes.ts';

/** A document of WebAuthn, whose members the browser and the standard define. */
export const OfStandard = Type.Object({}, { additionalProperties: true });

/** A part of an answer of an authenticator, in base64url. */
const Encoded = Type.String({ maxLength: 65_536, pattern: '^[A-Za-z0-9_-]*$' });
const CredentialId = Type.String({ minLength: 1, maxLength: 8192, pattern: '^[A-Za-z0-9_-]+$' });

/** Answers of browsers have members that the service does not read. */
const open = { additionalProperties: true } as const;

/** The answer of `navigator.credentials.create`, as its `toJSON` writes it. Further members are ignored. */
export type RegistrationResponse = Static<typeof RegistrationResponse>;
export const RegistrationResponse = Type.Object(
  {
    id: CredentialId,
    rawId: CredentialId,
    type: Type.Literal('public-key'),
    response: Type.Object(
      {
        clientDataJSON: Encoded,
        attestationObject: Encoded,
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 32, pattern: '^[a-z-]*$' }), { maxItems: 16 }),
        ),
      },
      open,
    ),
  },
  open,
);

/** `publicKey` is for `PublicKeyCredential.parseRequestOptionsFromJSON`. `nonce` is the chance in its challenge. */
export type AssertionOptions = Static<typeof AssertionOptions>;
export const AssertionOptions = Type.Object({
  challengeId: Id,
  nonce: Type.String(),
  publicKey: OfStandard,
});

/** The answer of `navigator.credentials.get`, as its `toJSON` writes it. Further members are ignored. */
export type AssertionResponse = Static<typeof AssertionResponse>;
export const AssertionResponse = Type.Object(
  {
    id: CredentialId,
    rawId: CredentialId,
    type: Type.Literal('public-key'),
    response: Type.Object({ clientDataJSON: Encoded, authenticatorData: Encoded, signature: Encoded }, open),
  },
  open,
);

export type Assertion = Static<typeof Assertion>;
export const Assertion = Type.Object(
  { challengeId: Id, response: AssertionResponse },
  { additionalProperties: false },
);
