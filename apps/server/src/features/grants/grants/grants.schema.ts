import { Budget, Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';
import { waiting } from '../verifiers/index.ts';

const Status = Type.Enum(['active', 'revoked', 'expired']);

/** `grantId` and `id` are equal: some clients read the first, some the second. */
export type Grant = Static<typeof Grant>;
export const Grant = Type.Object({
  grantId: Id,
  id: Id,
  agentId: Id,
  agentDid: Type.String(),
  principalId: Type.String(),
  developerId: Id,
  scopes: Type.Array(Type.String()),
  status: Status,
  /** While the agent is `suspended`, an active grant of it is refused everywhere, and is good again when it is resumed. */
  agentStatus: Type.Enum(['active', 'suspended', 'revoked']),
  issuedAt: Time,
  expiresAt: Time,
  revokedAt: Type.Optional(Time),
  revokedReason: Type.Optional(Type.String()),
  parentGrantId: Type.Optional(Id),
  /** The token that the grant was delegated with. The grant ends when that token is revoked. */
  parentTokenId: Type.Optional(Id),
  rootGrantId: Id,
  delegationDepth: Type.Integer(),
  audience: Type.Optional(Type.String()),
  purpose: Type.Optional(Type.String()),
  authorizationDetails: Type.Optional(Type.Array(Type.Unknown())),
  /** The manifests under which the person agreed. */
  manifests: Type.Optional(
    Type.Array(Type.Object({ connector: Type.String(), version: Type.String(), sha256: Type.String() })),
  ),
  budget: Type.Optional(Budget),
  consentMethod: Type.String(),
  /** The policy that approved in the person's place. */
  policyId: Type.Optional(Id),
  unverified: Type.Optional(Type.Literal(true)),
  authRequestId: Type.Optional(Id),
  lastUsedAt: Type.Union([Time, Type.Null()]),
  sandbox: Type.Optional(Type.Literal(true)),
});

export const GrantPath = Type.Object({ id: Id });

/** No id contains a control character, and Postgres cannot store NUL. */
const Filter = Type.Optional(
  Type.String({ maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }),
);
export type GrantQuery = Static<typeof GrantQuery>;
export const GrantQuery = Type.Object({
  agentId: Filter,
  principalId: Filter,
  status: Type.Optional(Status),
  parentGrantId: Filter,
  rootGrantId: Filter,
  purpose: Filter,
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  ...pageQuery('grnt'),
});

export type GrantPage = Static<typeof GrantPage>;
export const GrantPage = Type.Object({ grants: Type.Array(Grant), nextCursor: NextCursor });

/** At most one of them; none stands for the whole account. */
export type StopQuery = Static<typeof StopQuery>;
export const StopQuery = Type.Object({ agentId: Filter, principalId: Filter, grantId: Filter });

/** Counts end at 1,000. */
const Count = Type.Integer({ minimum: 0, maximum: 1000 });

export type StopPreview = Static<typeof StopPreview>;
export const StopPreview = Type.Object({
  /** Grants that are good now, with those that were delegated from them. */
  grants: Count,
  /** The agents and the principals of these grants. */
  agents: Count,
  principals: Count,
  /** Open requests for consent, of the newest 1,000. They end with an agent or a principal. */
  requests: Count,
  /** Calls through the vault proxy that are under way now, of the newest 1,000 of the last hour. */
  calls: Count,
  /** Whether a count has ended before all were counted. */
  truncated: Type.Boolean(),
});

export type RevokeQuery = Static<typeof RevokeQuery>;
export const RevokeQuery = Type.Object({
  reason: Type.Optional(Type.String({ maxLength: 200, pattern: '^[^\\u0000]*$' })),
  ...waiting,
});
