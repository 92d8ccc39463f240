import { denialKeys } from '@behest/protocol/enforcement/sentences';
import { Id, NextCursor, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Status = Type.Enum(['success', 'failure', 'blocked']);
const Nullable = Type.Union([Type.String(), Type.Null()]);

/** `entryId` and `id` are equal, because some clients read the first and some the second. */
export type AuditEntry = Static<typeof AuditEntry>;
const chained = {
  entryId: Id,
  id: Id,
  seq: Type.Integer(),
  developerId: Id,
  agentId: Nullable,
  agentDid: Nullable,
  grantId: Nullable,
  principalId: Nullable,
  action: Type.String(),
  status: Status,
  metadata: Type.Object({}, { additionalProperties: true }),
  purpose: Nullable,
  timestamp: Time,
  prevHash: Nullable,
  hash: Type.String(),
  salt: Nullable,
  source: Type.Enum(['service', 'developer']),
  requestId: Nullable,
  /** The personal content was erased: the person, the salt, and members of the metadata. */
  erased: Type.Optional(Type.Literal(true)),
};
/** @public Exports have these members and no name, so that they stay the same while people come and go. */
export const chainedMembers = Object.keys(chained);
export const AuditEntry = Type.Object({
  ...chained,
  actorName: Type.Optional(
    Type.String({
      description:
        'The present name of the member who acted, or `Removed member`. It is beside the entry, and not hashed. Exports and keys that are bound to agents have none.',
    }),
  ),
  actorEmail: Type.Optional(
    Type.String({ description: 'The address of that member, for members of the account.' }),
  ),
});

export type NewAuditEntry = Static<typeof NewAuditEntry>;
export const NewAuditEntry = Type.Object(
  {
    agentId: Type.String({ minLength: 1, maxLength: 256 }),
    agentDid: Type.String({ minLength: 1, maxLength: 2048 }),
    grantId: Type.String({ minLength: 1, maxLength: 256 }),
    principalId: Type.String({ minLength: 1, maxLength: 256 }),
    action: Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9][A-Za-z0-9._:/-]*$' }),
    status: Type.Enum(['success', 'failure', 'blocked'], { default: 'success' }),
    metadata: Type.Object({}, { additionalProperties: true, default: {} }),
  },
  { additionalProperties: false },
);

export const EntryPath = Type.Object({ id: Id });

export type EntryQuery = Static<typeof EntryQuery>;
export const EntryQuery = Type.Object({
  agentId: Type.Optional(Type.String({ maxLength: 256 })),
  grantId: Type.Optional(Type.String({ maxLength: 256 })),
  principalId: Type.Optional(Type.String({ maxLength: 256 })),
  action: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}([.][*])?$' })),
  status: Type.Optional(Status),
  purpose: Type.Optional(Type.String({ maxLength: 128 })),
  /** Who did it, in entries of the service: `developer:<keyId>`, `principal`, `system` and the like. */
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  requestId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  /** Why a call was denied, in entries `tool.enforce`: `<reason_code>`, or `<reason_code>/<sub_reason>`. */
  denial: Type.Optional(Type.Enum([...denialKeys])),
  source: Type.Optional(Type.Enum(['service', 'developer'])),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  order: Type.Enum(['asc', 'desc'], { default: 'asc' }),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  /** The `seq` of the page's last entry. */
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
});

/** A JSON text, because the metadata in it are JSON texts already. */
export const AuditEntryPage = Type.Unsafe<string>(
  Type.Object({ entries: Type.Array(AuditEntry), nextCursor: NextCursor }),
);

export type AuditChainHead = Static<typeof AuditChainHead>;
export const AuditChainHead = Type.Object({
  seq: Type.Integer(),
  hash: Nullable,
  timestamp: Type.Union([Time, Type.Null()]),
  /** The newest checkpoint, a compact JWS. It is at most a minute behind the chain. */
  checkpoint: Nullable,
});

export type VerifyQuery = Static<typeof VerifyQuery>;
export const VerifyQuery = Type.Object({
  fromSeq: Type.Integer({ minimum: 1, maximum: 999_999_999_999_999, default: 1 }),
  toSeq: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 })),
});

export type AuditChainVerification = Static<typeof AuditChainVerification>;
export const AuditChainVerification = Type.Object({
  valid: Type.Boolean(),
  checkedEntries: Type.Integer(),
  firstBrokenAt: Nullable,
  problem: Nullable,
  /** Entries whose personal content was erased. They are checked by what is left of them. */
  erasedEntries: Type.Integer(),
  fromSeq: Type.Integer(),
  toSeq: Type.Integer(),
  head: Type.Object({ seq: Type.Integer(), hash: Nullable }),
  checkpoint: Nullable,
  /** Null without a checkpoint; false when its signature cannot be checked, or when it was changed. */
  checkpointVerified: Type.Union([Type.Boolean(), Type.Null()]),
});
