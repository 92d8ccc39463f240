import {
  Duration,
  Id,
  NextCursor,
  PrincipalId,
  PublicJwk,
  pageQuery,
  Time,
  textOf,
} from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Ed25519Jwk = Type.Object(
  {
    kty: Type.Literal('OKP'),
    crv: Type.Literal('Ed25519'),
    x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
    kid: Type.Optional(Type.String({ pattern: '^[ -~]{1,256}$' })),
    use: Type.Optional(Type.Literal('sig')),
    alg: Type.Optional(Type.Enum(['EdDSA', 'Ed25519'])),
  },
  { additionalProperties: false },
);

/** The claims that a holder may keep to itself. */
const SelectiveField = Type.Enum(['principalId', 'developerId', 'scopes', 'delegationDepth', 'grantId']);
export type SelectiveField = Static<typeof SelectiveField>;

export type NewVerifiableCredential = Static<typeof NewVerifiableCredential>;
export const NewVerifiableCredential = Type.Object(
  {
    grantId: Type.String({ minLength: 1, maxLength: 256 }),
    format: Type.Enum(['vc-jwt', 'sd-jwt']),
    expiresIn: Type.Optional(Duration),
    holderJwk: Type.Optional(Type.Union([PublicJwk, Ed25519Jwk])),
    selectiveFields: Type.Optional(Type.Array(SelectiveField, { maxItems: 5 })),
  },
  { additionalProperties: false },
);

const Status = Type.Enum(['active', 'revoked', 'expired']);

export type VerifiableCredential = Static<typeof VerifiableCredential>;
export const VerifiableCredential = Type.Object({
  id: Id,
  grantId: Id,
  developerId: Id,
  principalId: Type.String(),
  agentDid: Type.String(),
  credentialType: Type.String(),
  format: Type.Enum(['vc-jwt', 'sd-jwt', 'agent-passport']),
  credential: Type.String(),
  credentialJwt: Type.String(),
  status: Status,
  statusListIdx: Type.Integer(),
  statusListId: Id,
  issuedAt: Time,
  expiresAt: Time,
  revokedAt: Type.Union([Time, Type.Null()]),
});

export const CredentialPath = Type.Object({ id: Id });

export type CredentialQuery = Static<typeof CredentialQuery>;
export const CredentialQuery = Type.Object({
  ...pageQuery('vc'),
  grantId: Type.Optional(Id),
  principalId: Type.Optional(PrincipalId),
  status: Type.Optional(Status),
});

export type VerifiableCredentialPage = Static<typeof VerifiableCredentialPage>;
export const VerifiableCredentialPage = Type.Object({
  credentials: Type.Array(VerifiableCredential),
  nextCursor: NextCursor,
});

export const RevokeCredentialRequest = Type.Object(
  { reason: Type.Optional(textOf(500)) },
  { additionalProperties: false },
);

export type CredentialRevocation = Static<typeof CredentialRevocation>;
export const CredentialRevocation = Type.Object({ id: Id, status: Type.Literal('revoked'), revokedAt: Time });

const LONGEST = 65_536; // characters
/** The largest body with such a text, in bytes: the names of the members, a nonce and an audience are beside it. */
export const LARGEST_TO_VERIFY = 69_632;

export const VerifyCredentialRequest = Type.Object(
  { credential: Type.String({ minLength: 1, maxLength: LONGEST }) },
  { additionalProperties: false },
);

const codes = [
  'malformed',
  'typ_not_allowed',
  'issuer_unknown',
  'bad_signature',
  'not_yet_valid',
  'expired',
  'revoked',
  'suspended',
  'status_unavailable',
] as const;

/** The reason why a credential is not valid. */
const VerifyCode = Type.Enum([...codes]);
export type VerifyCode = (typeof codes)[number];

export type CredentialVerification = Static<typeof CredentialVerification>;
export const CredentialVerification = Type.Object({
  valid: Type.Boolean(),
  vcId: Type.Optional(Type.String()),
  credentialType: Type.Optional(Type.String()),
  issuer: Type.Optional(Type.String()),
  subject: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Time),
  payload: Type.Optional(Type.Object({}, { additionalProperties: true })),
  revoked: Type.Optional(Type.Boolean()),
  expired: Type.Optional(Type.Boolean()),
  error: Type.Optional(Type.String()),
  code: Type.Optional(VerifyCode),
});

export type VerifyPresentationRequest = Static<typeof VerifyPresentationRequest>;
export const VerifyPresentationRequest = Type.Object(
  {
    sdJwt: Type.String({ minLength: 1, maxLength: LONGEST }),
    nonce: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    audience: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { additionalProperties: false },
);

const presentCodes = [...codes, 'disclosure_invalid', 'key_binding_required', 'key_binding_invalid'] as const;

/** The reason why a presentation is not valid. */
const PresentCode = Type.Enum([...presentCodes]);
export type PresentCode = (typeof presentCodes)[number];

export type PresentationVerification = Static<typeof PresentationVerification>;
export const PresentationVerification = Type.Object({
  valid: Type.Boolean(),
  vcId: Type.Optional(Type.String()),
  disclosedClaims: Type.Optional(Type.Object({}, { additionalProperties: true })),
  keyBound: Type.Optional(Type.Boolean()),
  error: Type.Optional(Type.String()),
  code: Type.Optional(PresentCode),
});

export const ListPath = Type.Object({ listId: Id });

export const ListQuery = Type.Object({ profile: Type.Optional(Type.Literal('2021')) });

export const TokenListQuery = Type.Object({ time: Type.Optional(Type.String({ maxLength: 32 })) });

/** A Bitstring Status List credential; the proof is there with an Ed25519 key. */
export const StatusListCredential = Type.Object({
  '@context': Type.Array(Type.String()),
  id: Type.String(),
  type: Type.Array(Type.String()),
  issuer: Type.String(),
  validFrom: Time,
  validUntil: Time,
  credentialSubject: Type.Object({
    id: Type.String(),
    type: Type.Enum(['BitstringStatusList', 'StatusList2021']),
    statusPurpose: Type.Literal('revocation'),
    ttl: Type.Optional(Type.Integer()),
    encodedList: Type.String(),
  }),
  proof: Type.Optional(
    Type.Object({
      type: Type.Literal('DataIntegrityProof'),
      cryptosuite: Type.Literal('eddsa-jcs-2022'),
      created: Time,
      verificationMethod: Type.String(),
      proofPurpose: Type.Literal('assertionMethod'),
      proofValue: Type.String(),
    }),
  ),
});

export const CredentialContext = Type.Object({ '@context': Type.Object({}, { additionalProperties: true }) });
