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

export const EndedAgentPath = Type.Object({ id: Id });

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
  /** The last offboarding for good, whose statement can be read. Closed means that nothing is given to the principal. */
  offboarding: Type.Union([
    Type.Object({ offboardingId: Id, endedAt: Time, isClosed: Type.Boolean() }),
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
  /** Signed by the service, as `GET` answers it later; null with `keepCredentials`. */
  statement: Type.Union([Type.String(), Type.Null()]),
});

/** By kind, such as `grants` or `requests`. */
const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }));

export type ToldUpstream = Static<typeof ToldUpstream>;
const ToldUpstream = Type.Object({
  credentialId: Id,
  service: Type.String(),
  /** Whether the upstream has taken its tokens back. One without an address for it is `unsupported`. */
  state: Type.Enum(['pending', 'revoked', 'failed', 'unsupported']),
  at: Type.Union([Time, Type.Null()]),
});

const Deliveries = Type.Object({
  pending: Type.Integer({ minimum: 0 }),
  delivered: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
});

export type ToldReceiver = Static<typeof ToldReceiver>;
/** The id of a webhook, or of a stream of signals. */
const ToldReceiver = Type.Object({ webhookId: Id, ...Deliveries.properties });

export type OffboardingProof = Static<typeof OffboardingProof>;
export const OffboardingProof = Type.Object({
  offboardingId: Id,
  kind: Type.Enum(['principal', 'agent']),
  /** The id of the agent, or the id by which the person was offboarded. */
  subjectId: Type.String(),
  /** Every id of the person that was closed: also those that the directory or single sign-on has for them. None for an agent. */
  principalIds: Type.Array(Type.String()),
  /** Those of them that count in any case, in lower case. */
  principalIdsInAnyCase: Type.Array(Type.String()),
  /** False once the person is admitted again. An agent never is. */
  isClosed: Type.Boolean(),
  endedAt: Time,
  /** The first and the last audit entry of the offboarding, and the hash of the last. */
  firstSeq: Type.Integer({ minimum: 1 }),
  seq: Type.Integer({ minimum: 1 }),
  hash: Type.String(),
  /** What ended. */
  ended: Counts,
  /** What was still of use at that entry: each kind with 0. */
  remaining: Counts,
  /** The services that are told to take back their tokens, the first 500 by name. */
  upstream: Type.Array(ToldUpstream),
  /** How many there are in all, by state, with those that the list leaves out. */
  upstreamStates: Type.Object({
    pending: Type.Integer({ minimum: 0 }),
    revoked: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0 }),
    unsupported: Type.Integer({ minimum: 0 }),
  }),
  /** The webhooks and streams that are told of it, the first 100, with its deliveries of the last 30 days. */
  receivers: Type.Array(ToldReceiver),
  /** The deliveries to all of them. */
  deliveries: Deliveries,
  /** All of this, signed: a JWS of the type `offboarding-statement+jwt`. */
  statement: Type.String(),
});
