import {
  Audience,
  Budget,
  BudgetInput,
  Duration,
  Id,
  LONGEST_STATE,
  NextCursor,
  PrincipalId,
  pageQuery,
  ScopeList,
  Time,
} from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** The current status of a request. `expired` follows from the clock; the row has every other status. */
export type AuthorizationRequestStatus = Static<typeof AuthorizationRequestStatus>;
export const AuthorizationRequestStatus = Type.Enum([
  'pending',
  'approved',
  'denied',
  'cancelled',
  'consumed',
  'expired',
]);

/** The protocol's own reader checks the entries and names every fault. */
const Details = Type.Array(Type.Unknown(), { maxItems: 20 });

export type AuthorizationInput = Static<typeof AuthorizationInput>;
export const AuthorizationInput = Type.Object(
  {
    agentId: Type.String({ minLength: 1, maxLength: 256 }),
    principalId: PrincipalId,
    scopes: ScopeList,
    expiresIn: Type.String({ ...Duration, default: '24h' }),
    tokenExpiresIn: Type.Optional(Duration),
    redirectUri: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
    state: Type.Optional(Type.String({ maxLength: LONGEST_STATE })),
    codeChallenge: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })),
    codeChallengeMethod: Type.Optional(Type.Enum(['S256'])),
    audience: Type.Optional(Audience),
    purpose: Type.Optional(Type.String({ maxLength: 128 })),
    authorizationDetails: Type.Optional(Details),
    authorization_details: Type.Optional(Details),
    budget: Type.Optional(BudgetInput),
    /** A living grant of the agent for the principal, which ends when the new one begins. */
    replacesGrantId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    consentExpiresIn: Type.String({ ...Duration, default: '1h' }),
    autoApprove: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** `authRequestId` and `id` are equal: some clients read the first, some the second. */
const members = {
  authRequestId: Id,
  id: Id,
  agentId: Id,
  principalId: Type.String(),
  scopes: Type.Array(Type.String()),
  expiresIn: Type.String(),
  status: AuthorizationRequestStatus,
  createdAt: Time,
  /** The end of the request, or of its code once the request is approved. */
  expiresAt: Time,
  redirectUri: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  audience: Type.Optional(Type.String()),
  purpose: Type.Optional(Type.String()),
  authorizationDetails: Type.Optional(Type.Array(Type.Unknown())),
  /** Allocated with the grant. */
  budget: Type.Optional(Type.Omit(Budget, ['remaining'])),
  /** The grant that ends when the new one begins. */
  replacesGrantId: Type.Optional(Id),
  /** The client learns the decision by asking for it, and there is no code. */
  channel: Type.Optional(Type.Enum(['device', 'ciba'])),
  sandbox: Type.Optional(Type.Literal(true)),
  decidedAt: Type.Optional(Time),
};
export type AuthorizationRequest = Static<typeof AuthorizationRequest>;
export const AuthorizationRequest = Type.Object(members);

/** The only answer with the ticket. It has a code when no person has to be asked. */
export type CreatedAuthorizationRequest = Static<typeof CreatedAuthorizationRequest>;
export const CreatedAuthorizationRequest = Type.Object({
  ...members,
  consentUrl: Type.String(),
  code: Type.Optional(Type.String()),
  /** With the next two: a policy approved the request. */
  policyEnforced: Type.Optional(Type.Literal(true)),
  effect: Type.Optional(Type.Literal('allow')),
  policyId: Type.Optional(Id),
});

export type RequestQuery = Static<typeof RequestQuery>;
export const RequestQuery = Type.Object({
  status: Type.Optional(AuthorizationRequestStatus),
  agentId: Type.Optional(Type.String({ maxLength: 256 })),
  principalId: Type.Optional(Type.String({ maxLength: 256 })),
  /** When the request was made. */
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  ...pageQuery('areq'),
});

export type RequestPage = Static<typeof RequestPage>;
export const RequestPage = Type.Object({
  requests: Type.Array(AuthorizationRequest),
  nextCursor: NextCursor,
});

export const AuthorizationRequestPath = Type.Object({ id: Id });

export type AuthorizationCode = Static<typeof AuthorizationCode>;
export const AuthorizationCode = Type.Object({ authRequestId: Id, code: Type.String(), expiresAt: Time });

/** The request can be decided until `expiresAt`. */
export type ConsentLink = Static<typeof ConsentLink>;
export const ConsentLink = Type.Object({ authRequestId: Id, consentUrl: Type.String(), expiresAt: Time });

export type SandboxDecision = Static<typeof SandboxDecision>;
export const SandboxDecision = Type.Object({
  requestId: Id,
  authRequestId: Id,
  status: AuthorizationRequestStatus,
  code: Type.Optional(Type.String()),
});
