import { AmountInput, Currency, Id, NextCursor, pageQuery, Time, textOf } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const RecordId = Type.String({ minLength: 1, maxLength: 256 });
/** Four decimals, such as `99.5000`, and up to nine where the amount has them, such as `0.000045`. */
const Amount = Type.String();
const Metadata = Type.Object({}, { additionalProperties: true });
const Nullable = Type.Union([Type.String(), Type.Null()]);

export type NewAllocation = Static<typeof NewAllocation>;
export const NewAllocation = Type.Object(
  {
    grantId: RecordId,
    initialBudget: AmountInput,
    currency: Type.String({ ...Currency, default: 'USD' }),
  },
  { additionalProperties: false },
);

const Status = Type.Enum(['active', 'exhausted', 'closed']);

export type Allocation = Static<typeof Allocation>;
export const Allocation = Type.Object({
  id: Id,
  grantId: Id,
  agentId: Id,
  developerId: Id,
  initialBudget: Amount,
  remainingBudget: Amount,
  spent: Amount,
  currency: Currency,
  status: Status,
  createdAt: Time,
  updatedAt: Time,
});

const noted = {
  description: Type.Optional(textOf(500)),
  metadata: Type.Optional(Metadata),
};

export type Debit = Static<typeof Debit>;
export const Debit = Type.Object(
  { grantId: RecordId, amount: AmountInput, ...noted },
  { additionalProperties: false },
);

export type Debited = Static<typeof Debited>;
export const Debited = Type.Object({
  remaining: Amount,
  transactionId: Id,
  grantId: Id,
  currency: Currency,
  allocationId: Id,
});

/** Without an amount, everything that is left of the debit. */
export type Refund = Static<typeof Refund>;
export const Refund = Type.Object(
  { transactionId: RecordId, amount: Type.Optional(AmountInput), ...noted },
  { additionalProperties: false },
);

export type Refunded = Static<typeof Refunded>;
export const Refunded = Type.Object({ ...Debited.properties, refundOf: Id, amount: Amount });

/** The faults are the allocations whose books do not add up, 100 at most. */
export type LedgerState = Static<typeof LedgerState>;
export const LedgerState = Type.Object({
  valid: Type.Boolean(),
  allocations: Type.Integer(),
  faults: Type.Array(Type.Object({ allocationId: Id, fault: Type.String() })),
});

export const GrantPath = Type.Object({ grantId: Id });

export type AllocationQuery = Static<typeof AllocationQuery>;
export const AllocationQuery = Type.Object({ status: Type.Optional(Status), ...pageQuery('bdg') });

export type AllocationPage = Static<typeof AllocationPage>;
export const AllocationPage = Type.Object({ allocations: Type.Array(Allocation), nextCursor: NextCursor });

export type TransactionQuery = Static<typeof TransactionQuery>;
export const TransactionQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  cursor: pageQuery('btx').cursor,
});

/** A refund has a negative amount, and names the debit that it takes back. */
export type Transaction = Static<typeof Transaction>;
export const Transaction = Type.Object({
  id: Id,
  grantId: Id,
  allocationId: Id,
  amount: Amount,
  description: Type.String(),
  metadata: Metadata,
  createdAt: Time,
  balanceAfter: Amount,
  sourceTransactionId: Nullable,
  sourceGrantId: Nullable,
  refundOf: Nullable,
});

export type TransactionPage = Static<typeof TransactionPage>;
export const TransactionPage = Type.Object({
  transactions: Type.Array(Transaction),
  total: Type.Integer(),
  page: Type.Integer(),
  pageSize: Type.Integer(),
  nextCursor: NextCursor,
});
