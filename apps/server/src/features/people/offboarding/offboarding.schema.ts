import { Id, NextCursor, PrincipalId, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** What a principal may hold; by the name of the list that shows it. */
const Holding = Type.Enum(['grants', 'passkeys', 'vault', 'directory']);
export type Holding = Static<typeof Holding>;

export type PrincipalQuery = Static<typeof PrincipalQuery>;
export const PrincipalQuery = Type.Object({
  /** The beginning of the id, in any case. */
  query: Type.Optional(PrincipalId),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  /** The id of the page's last principal. */
  cursor: Type.Optional(PrincipalId),
});

export type PrincipalPage = Static<typeof PrincipalPage>;
export const PrincipalPage = Type.Object({
  principals: Type.Array(Type.Object({ principalId: Type.String(), holds: Type.Array(Holding) })),
  nextCursor: NextCursor,
});

export const PrincipalPath = Type.Object({ principalId: PrincipalId });

/** Counts end at 1,000. */
const Count = Type.Integer({ minimum: 0, maximum: 1000 });

export type PrincipalSummary = Static<typeof PrincipalSummary>;
export const PrincipalSummary = Type.Object({
  principalId: Type.String(),
  /** Those that ended are of the newest 1,000 grants. */
  grants: Type.Object({ active: Count, revoked: Count, expired: Count }),
  /** Requests that wait for the principal, or are approved and not exchanged, of the newest 1,000. */
  openRequests: Count,
  /** Sessions on the page of the own permissions. */
  sessions: Count,
  /** The services for which the vault has a credential, at most 100. */
  services: Type.Array(Type.String()),
  passkeys: Count,
  /** Whether links are mailed to an address that the principal has proved. */
  hasAddress: Type.Boolean(),
  /** The user of the directory who stands for the principal. */
  directory: Type.Union([
    Type.Object({ userId: Id, userName: Type.String(), active: Type.Boolean() }),
    Type.Null(),
  ]),
  /** The newest audit entry about the principal. */
  lastActivityAt: Type.Union([Time, Type.Null()]),
  /** Whether a count has ended at 1,000. */
  truncated: Type.Boolean(),
});

export type OffboardInput = Static<typeof OffboardInput>;
export const OffboardInput = Type.Object(
  {
    /** Keep credentials of the vault, passkeys and the proved address. */
    keepCredentials: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);

export type Offboarding = Static<typeof Offboarding>;
export const Offboarding = Type.Object({
  principalId: Type.String(),
  grantsRevoked: Type.Integer(),
  requestsCancelled: Type.Integer(),
  sessionsEnded: Type.Integer(),
  credentialsDeleted: Type.Integer(),
  passkeysRemoved: Type.Integer(),
  addressRemoved: Type.Boolean(),
});
