import { Duration, Id, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const categories = [
  ...([
    'inference',
    'compute',
    'data',
    'storage',
    'search',
    'media',
    'delivery',
    'browser',
    'general',
  ] as const),
];
export type Category = (typeof categories)[number];
const Category = Type.Enum(categories);
const Categories = Type.Array(Category, { minItems: 1, maxItems: 9 });
const Rails = Type.Array(Type.Enum(['tempo']), { minItems: 1, maxItems: 1 });
const Amount = Type.Union([Type.Number(), Type.String({ maxLength: 32 })]);
/** ISO 4217, or the symbol of a token. */
const PaymentCurrency = Type.String({ pattern: '^[A-Z][A-Z0-9]{2,11}$' });
const PassportId = Type.String({ pattern: '^urn:behest:passport:[0-9A-HJKMNP-TV-Z]{26}$' });
const RecordId = Type.String({ minLength: 1, maxLength: 256 });

export type NewPassport = Static<typeof NewPassport>;
export const NewPassport = Type.Object(
  {
    agentId: RecordId,
    grantId: RecordId,
    allowedMPPCategories: Categories,
    maxTransactionAmount: Type.Object(
      { amount: Amount, currency: PaymentCurrency },
      { additionalProperties: false },
    ),
    paymentRails: Type.Array(Type.Enum(['tempo']), { minItems: 1, maxItems: 1, default: ['tempo'] }),
    /** `24h` by default, and no longer than the operator allows and than the parent. */
    expiresIn: Type.Optional(Duration),
    parentPassportId: Type.Optional(PassportId),
  },
  { additionalProperties: false },
);

const MaxAmount = Type.Object({ amount: Amount, currency: PaymentCurrency });

export type PassportCredential = Static<typeof PassportCredential>;
export const PassportCredential = Type.Object({
  '@context': Type.Array(Type.String()),
  id: PassportId,
  type: Type.Array(Type.String()),
  issuer: Type.String(),
  validFrom: Time,
  validUntil: Time,
  credentialSubject: Type.Object({
    id: Type.String(),
    type: Type.Literal('AIAgent'),
    /** A name of chance for the principal, the same in each passport of the developer. */
    humanPrincipal: Type.String(),
    organizationDID: Type.String(),
    grantId: Id,
    allowedMPPCategories: Categories,
    maxTransactionAmount: MaxAmount,
    paymentRails: Rails,
    delegationDepth: Type.Integer(),
    sandbox: Type.Optional(Type.Literal(true, { description: 'There for accounts of the sandbox.' })),
    parentPassportId: Type.Optional(PassportId),
  }),
  credentialStatus: Type.Array(Type.Object({}, { additionalProperties: true })),
  /** An `eddsa-jcs-2022` proof, where the service has an Ed25519 key. */
  proof: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

const Status = Type.Enum(['active', 'revoked', 'expired']);

export type Passport = Static<typeof Passport>;
export const Passport = Type.Object({ ...PassportCredential.properties, status: Status });

export type IssuedPassport = Static<typeof IssuedPassport>;
export const IssuedPassport = Type.Object({
  passportId: PassportId,
  credential: PassportCredential,
  encodedCredential: Type.String(),
  passportJwt: Type.String(),
  expiresAt: Time,
});

export const PassportPath = Type.Object({ id: Id });

export type PassportQuery = Static<typeof PassportQuery>;
export const PassportQuery = Type.Object({
  cursor: pageQuery('vc').cursor,
  agentId: Type.Optional(Id),
  grantId: Type.Optional(Id),
  status: Type.Optional(Status),
});

export type ListedPassport = Static<typeof ListedPassport>;
const ListedPassport = Type.Object({
  passportId: PassportId,
  agentId: Id,
  grantId: Id,
  status: Status,
  expiresAt: Time,
  createdAt: Time,
});

export const PassportList = Type.Array(ListedPassport);

export const PassportRevocation = Type.Object({ revoked: Type.Literal(true), revokedAt: Time });

/** The largest body with a passport of 64 KiB, in bytes. */
export const LARGEST_TO_VERIFY = 69_632;

export const VerifyPassportRequest = Type.Object(
  { passport: Type.String({ minLength: 1, maxLength: 65_536 }) },
  { additionalProperties: false },
);

export type PassportVerification = Static<typeof PassportVerification>;
export const PassportVerification = Type.Object({
  valid: Type.Boolean(),
  passportId: Type.Optional(Type.String()),
  agentDid: Type.Optional(Type.String()),
  grantId: Type.Optional(Type.String()),
  categories: Type.Optional(Type.Array(Type.String())),
  maxTransactionAmount: Type.Optional(MaxAmount),
  expiresAt: Type.Optional(Time),
  error: Type.Optional(Type.String()),
  code: Type.Optional(
    Type.Enum([
      ...['malformed', 'typ_not_allowed', 'issuer_unknown', 'bad_signature', 'not_yet_valid'],
      ...['expired', 'revoked', 'suspended', 'status_unavailable'],
    ]),
  ),
});
