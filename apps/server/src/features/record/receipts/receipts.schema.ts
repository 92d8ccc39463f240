import { Id, recordOf, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export const GrantPath = Type.Object({ id: Id });

export type ReceiptQuery = Static<typeof ReceiptQuery>;
export const ReceiptQuery = Type.Object({
  format: Type.Enum(['json', 'html'], { default: 'json' }),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
});

const Nullable = Type.Union([Type.String(), Type.Null()]);
const Parts = Type.Array(Type.String());

const Count = Type.Integer({ minimum: 0 });
const Limits = Type.Object({
  /** Null where entries are hidden, so that nobody can tell. */
  holds: Type.Union([Type.Boolean(), Type.Null()]),
  first: Type.Union([
    Type.Object({
      seq: Type.Integer(),
      grantId: Id,
      problem: Type.Enum(['cap_exceeded', 'not_counted', 'budget_exceeded', 'balance_differs']),
    }),
    Type.Null(),
  ]),
  calls: Count,
  refunded: Count,
  unread: Count,
  caps: Type.Array(
    Type.Object({
      grantId: Id,
      connector: Type.String(),
      /** Absent for the cap on cost units. */
      tool: Type.Optional(Type.String()),
      window: Type.Enum(['per_hour', 'per_day', 'per_case']),
      limit: Count,
      peak: Count,
    }),
  ),
  budgets: Type.Array(
    Type.Object({
      grantId: Id,
      allocationId: Id,
      currency: Type.String(),
      limit: Type.String(),
      peak: Type.String(),
      spent: Type.String(),
    }),
  ),
});

/**
 * What was asked, shown, approved and done under a grant and all that was delegated from it, and how it ended, as a file
 * that proves itself. A part is a salted disclosure, or `#` and its digest where it is hidden.
 */
export type Receipt = Static<typeof Receipt>;
export const Receipt = Type.Object({
  format: Type.Literal('behest.receipt/1'),
  issuer: Type.String(),
  issuerDid: Type.String(),
  generatedAt: Time,
  audience: Type.Enum(['principal', 'developer']),
  sandbox: Type.Optional(Type.Literal(true)),
  grantId: Id,
  rootGrantId: Id,
  /** Without `since` and `until`, the receipt has every entry of the grants. */
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  log: Type.Object({ origin: Type.String(), url: Type.String(), vkey: Nullable }),
  checkpoint: Type.Object({ size: Type.Integer(), root: Type.String(), note: Nullable }),
  /** For display: nothing proves them. */
  labels: Type.Object({
    agents: recordOf(Type.String(), Type.String()),
    scopes: recordOf(Type.String(), Type.String()),
  }),
  warnings: Type.Array(Type.String()),
  keys: Type.Object({
    did: Type.Unknown(),
    jwks: Type.Unknown(),
    witnesses: Type.Array(Type.String()),
  }),
  /** The record of the approval; null where nobody was asked, and where the record is erased. */
  consent: Type.Union([Type.Object({ parts: Parts }), Type.Null()]),
  /** In the order of the log. */
  entries: Type.Array(Type.Object({ index: Type.Integer(), hash: Type.String(), parts: Parts })),
  /** The roots of the ranges of the log beside the entries, from left to right. */
  proof: Type.Array(Type.String()),
  /**
   * How far the caps and budgets of the grants were used, as the entries that are shown add up. Absent with `since` and
   * `until`.
   */
  limits: Type.Optional(Limits),
  /** A JWS: the service says that these are all entries of the grants up to the checkpoint. */
  statement: Type.String(),
});
