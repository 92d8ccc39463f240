import { Id, NextCursor, nameOf, PrincipalId, pageQuery, recordOf, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const Nullable = Type.Union([Type.String(), Type.Null()]);
const Count = Type.Integer();
const GrantStatus = Type.Enum(['active', 'revoked', 'expired']);

/** No id contains a control character, and Postgres cannot store NUL. */
const Filter = Type.Optional(
  Type.String({ maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }),
);

const MONTH_AND_DAY = '(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])';
const HOUR = '([01][0-9]|2[0-3])';
const TIME_OF_DAY = `${HOUR}:[0-5][0-9]:[0-5][0-9]`;
/** A time of RFC 3339, or a day, which stands for its midnight in UTC. */
const Bound = Type.Optional(
  Type.String({
    pattern: `^[0-9]{4}-${MONTH_AND_DAY}(T${TIME_OF_DAY}([.][0-9]{1,9})?(Z|[+-]${HOUR}:[0-5][0-9]))?$`,
  }),
);
const span = { since: Bound, until: Bound };

export type Span = Static<typeof SpanQuery>;
export const SpanQuery = Type.Object(span);

export type Form = Static<typeof Form>;
const Form = Type.Enum(['json', 'ndjson', 'csv']);
export type EntryForm = Static<typeof EntryForm>;
const EntryForm = Type.Enum(['json', 'ndjson', 'csv', 'ocsf']);
/** Without `format`, the `Accept` header chooses. */
const form = { format: Type.Optional(Form) };

export type GrantExportQuery = Static<typeof GrantExportQuery>;
export const GrantExportQuery = Type.Object({
  ...span,
  ...form,
  status: Type.Optional(GrantStatus),
  agentId: Filter,
  principalId: Filter,
});

export type EntryExportQuery = Static<typeof EntryExportQuery>;
export const EntryExportQuery = Type.Object({
  ...span,
  format: Type.Optional(EntryForm),
  agentId: Filter,
  principalId: Filter,
  grantId: Filter,
  action: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$' })),
  status: Type.Optional(Type.Enum(['success', 'failure', 'blocked'])),
});

export const PersonQuery = Type.Object({ principalId: PrincipalId });

/** How many records there are of each kind. */
export type Counts = Static<typeof Counts>;
const Counts = Type.Object({
  since: Type.Optional(Type.String()),
  until: Type.Optional(Type.String()),
  agents: Type.Object({ total: Count, active: Count, suspended: Count, revoked: Count }),
  grants: Type.Object({ total: Count, active: Count, revoked: Count, expired: Count }),
  auditEntries: Type.Object({ total: Count, success: Count, failure: Count, blocked: Count }),
  policies: Type.Object({ total: Count }),
  plan: Type.String(),
});

export type ComplianceSummary = Static<typeof ComplianceSummary>;
export const ComplianceSummary = Type.Object({ generatedAt: Time, ...Counts.properties });

/** `id` and `grantId` are equal, because some clients read the first and some the second. */
export type ExportedGrant = Static<typeof ExportedGrant>;
export const ExportedGrant = Type.Object({
  id: Id,
  grantId: Id,
  agentId: Id,
  agentDid: Type.String(),
  principalId: Type.String(),
  developerId: Id,
  scopes: Type.Array(Type.String()),
  status: GrantStatus,
  issuedAt: Time,
  expiresAt: Time,
  revokedAt: Type.Union([Time, Type.Null()]),
  delegationDepth: Count,
  parentGrantId: Nullable,
  purpose: Nullable,
  revokedReason: Nullable,
  consentMethod: Type.String(),
});

/** Whom or what a pack is about. All that are given have to fit. */
export type PackSubject = Static<typeof PackSubject>;
const PackSubject = Type.Object({ agentId: Filter, principalId: Filter, caseId: Filter });

const Framework = Type.Enum(['soc2', 'gdpr', 'all']);
export type PackQuery = Static<typeof PackQuery>;
export const PackQuery = Type.Object({
  ...span,
  ...PackSubject.properties,
  framework: Type.Enum(['soc2', 'gdpr', 'all'], { default: 'all' }),
  format: Type.Enum(['json', 'zip'], { default: 'json' }),
});

export type ComplianceControl = Static<typeof ComplianceControl>;
export const ComplianceControl = Type.Object({
  id: Type.String(),
  framework: Type.Enum(['soc2', 'gdpr']),
  title: Type.String(),
  /** Numbers of the pack that bear on the control. */
  evidence: recordOf(Type.String(), Type.Number()),
});

/** The members of a pack beside its lists. */
export const packMembers = {
  meta: Type.Object({
    schemaVersion: Type.Literal('1.0'),
    generatedAt: Time,
    since: Type.Optional(Type.String()),
    until: Type.Optional(Type.String()),
    framework: Framework,
    /** Absent from a pack about the whole account. */
    subject: Type.Optional(PackSubject),
  }),
  summary: Counts,
  controls: Type.Array(ComplianceControl),
  attestation: Type.Object({
    sections: Type.Object({ grants: Type.String(), auditEntries: Type.String(), policies: Type.String() }),
    digest: Type.String(),
    alg: Type.String(),
    kid: Type.String(),
    signature: Type.String(),
  }),
};

const orNull = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

export type NewLegalHold = Static<typeof NewLegalHold>;
export const NewLegalHold = Type.Object(
  {
    name: nameOf(200),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    /** The person whom the matter is about. Without it, the hold is about the whole account. */
    principalId: Type.Optional(PrincipalId),
  },
  { additionalProperties: false },
);

export type LegalHold = Static<typeof LegalHold>;
export const LegalHold = Type.Object({
  id: Id,
  name: Type.String(),
  reason: orNull(Type.String()),
  principalId: orNull(Type.String()),
  createdAt: Time,
  releasedAt: orNull(Time),
});

export const HoldPath = Type.Object({ id: Id });

export type HoldQuery = Static<typeof HoldQuery>;
export const HoldQuery = Type.Object({
  ...pageQuery('hold'),
  /** Only those that were not released. */
  standing: Type.Optional(Type.Literal('true')),
});

export type LegalHoldPage = Static<typeof LegalHoldPage>;
export const LegalHoldPage = Type.Object({ holds: Type.Array(LegalHold), nextCursor: NextCursor });

export const NoFields = Type.Object({}, { additionalProperties: false });
