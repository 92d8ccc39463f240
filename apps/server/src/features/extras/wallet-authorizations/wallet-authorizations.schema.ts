import { Duration, Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** CAIP-10: a chain and an account on it. */
const Account = Type.String({ pattern: '^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[-.%a-zA-Z0-9]{1,128}$' });
const MaxAmount = Type.Object(
  {
    amount: Type.Union([Type.Number(), Type.String({ maxLength: 32 })]),
    /** A name that can stand in a scope. */
    asset: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
  },
  { additionalProperties: false },
);
const Nonce = Type.String({ pattern: '^[ -~]{1,256}$' });

export type NewWalletAuthorization = Static<typeof NewWalletAuthorization>;
export const NewWalletAuthorization = Type.Object(
  {
    grantId: Type.String({ minLength: 1, maxLength: 256 }),
    account: Account,
    maxAmount: MaxAmount,
    payee: Type.Optional(Account),
    expiresIn: Type.String({ ...Duration, default: '10m' }),
    nonce: Type.Optional(Nonce),
  },
  { additionalProperties: false },
);

export type IssuedWalletAuthorization = Static<typeof IssuedWalletAuthorization>;
export const IssuedWalletAuthorization = Type.Object({
  id: Id,
  authorization: Type.String(),
  expiresAt: Time,
});

const Status = Type.Enum(['active', 'consumed', 'revoked', 'expired']);
export type Status = Static<typeof Status>;

const stated = {
  grantId: Id,
  agentId: Id,
  principalId: Type.String(),
  account: Type.String(),
  maxAmount: MaxAmount,
  payee: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
};

export type WalletAuthorization = Static<typeof WalletAuthorization>;
export const WalletAuthorization = Type.Object({
  id: Id,
  ...stated,
  authorization: Type.String(),
  status: Status,
  issuedAt: Time,
  expiresAt: Time,
  consumedAt: Type.Union([Time, Type.Null()]),
  revokedAt: Type.Union([Time, Type.Null()]),
});

export const AuthorizationPath = Type.Object({ id: Id });

export type AuthorizationQuery = Static<typeof AuthorizationQuery>;
export const AuthorizationQuery = Type.Object({ ...pageQuery('wal'), grantId: Type.Optional(Id) });

export type WalletAuthorizationPage = Static<typeof WalletAuthorizationPage>;
export const WalletAuthorizationPage = Type.Object({
  authorizations: Type.Array(WalletAuthorization),
  nextCursor: NextCursor,
});

export const VerifyWalletAuthorizationRequest = Type.Object(
  { authorization: Type.String({ minLength: 1, maxLength: 16_384 }) },
  { additionalProperties: false },
);

const codes = [
  ...(['malformed', 'typ_not_allowed', 'issuer_unknown', 'bad_signature', 'not_yet_valid'] as const),
  ...(['expired', 'revoked', 'suspended', 'status_unavailable', 'consumed'] as const),
];
export type AuthorizationCode = (typeof codes)[number];

export type WalletAuthorizationVerification = Static<typeof WalletAuthorizationVerification>;
export const WalletAuthorizationVerification = Type.Object({
  valid: Type.Boolean(),
  id: Type.Optional(Type.String()),
  account: Type.Optional(Type.String()),
  maxAmount: Type.Optional(MaxAmount),
  payee: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Time),
  error: Type.Optional(Type.String()),
  code: Type.Optional(Type.Enum(codes)),
});
