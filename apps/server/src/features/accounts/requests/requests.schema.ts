import { Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Code = Type.String({ pattern: '^[A-Z_]{1,64}$' });
const Nullable = Type.Union([Type.String(), Type.Null()]);

export type FailedRequest = Static<typeof FailedRequest>;
export const FailedRequest = Type.Object({
  id: Id,
  requestId: Type.String(),
  at: Time,
  operationId: Type.String(),
  method: Type.String(),
  route: Type.String({ description: 'The pattern of the path, without ids and query.' }),
  status: Type.Integer(),
  code: Type.String(),
  subReason: Nullable,
  agentId: Type.Union([Type.String(), Type.Null()], {
    description: 'The agent that the body or the path named, if any.',
  }),
  keyId: Nullable,
  durationMs: Type.Integer({ minimum: 0 }),
});

export type FailedRequestQuery = Static<typeof FailedRequestQuery>;
export const FailedRequestQuery = Type.Object({
  code: Type.Optional(Code),
  operationId: Type.Optional(Type.String({ maxLength: 128 })),
  status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
  keyId: Type.Optional(Id),
  agentId: Type.Optional(Id),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  ...pageQuery('freq'),
});

const Truncated = Type.Boolean({
  description: 'Whether some requests of the 72 hours are only counted, because a flood has no row for each.',
});

export type FailedRequestPage = Static<typeof FailedRequestPage>;
export const FailedRequestPage = Type.Object({
  requests: Type.Array(FailedRequest),
  nextCursor: NextCursor,
  truncated: Truncated,
});

export type FailedRequestGroups = Static<typeof FailedRequestGroups>;
export const FailedRequestGroups = Type.Object({
  since: Time,
  groups: Type.Array(
    Type.Object({
      code: Type.String(),
      operationId: Type.String(),
      count: Type.Integer({ minimum: 1 }),
      lastAt: Time,
      lastRequestId: Type.String(),
    }),
    { description: 'The most frequent first, at most 200.' },
  ),
  truncated: Truncated,
});

export const FailedRequestPath = Type.Object({ requestId: Type.String({ minLength: 1, maxLength: 128 }) });
