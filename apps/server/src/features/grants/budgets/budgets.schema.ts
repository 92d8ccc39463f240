import { AmountInput, Currency, Id, NextCursor, pageQuery, Time, textOf } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const RecordId = Type.String({ minLength: 1, maxLength: 256 });
/** Four decimals, such as `99.5000`, and up to nine where the amount has them, such as `0.000045`. */
const Amount = Type.String();
const Metadata = Type.Object({}, { additionalProperties: true });
const Nullable = Type.Union([Type.String(), Type.Null()]);

export type NewBudgetAllocation = Static<typeof NewBudgetAllocation>;
export const NewBudgetAllocation = Type.Object(
  {
    grantId: RecordId,
    initialBudget: AmountInput,
    currency: Type.String({ ...Currency, default: 'USD' }),
  },
  { additionalProperties: false },
);

const Status = Type.Enum(['active', 'exhausted', 'closed']);

export type BudgetAllocation = Static<typeof BudgetAllocation>;
export const BudgetAllocation = Type.Object({
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

export type BudgetDebitRequest = Static<typeof BudgetDebitRequest>;
export const BudgetDebitRequest = Type.Object(
  { grantId: RecordId, amount: AmountInput, ...noted },
  { additionalProperties: false },
);

export type BudgetDebit = Static<typeof BudgetDebit>;
export const BudgetDebit = Type.Object({
  remaining: Amount,
  transactionId: Id,
  grantId: Id,
  currency: Currency,
  allocationId: Id,
});

/** Without an amount, everything that is left of the debit. */
export type BudgetRefundRequest = Static<typeof BudgetRefundRequest>;
export const BudgetRefundRequest = Type.Object(
  { transactionId: RecordId, amount: Type.Optional(AmountInput), ...noted },
  { additionalProperties: false },
);

export type BudgetRefund = Static<typeof BudgetRefund>;
export const BudgetRefund = Type.Object({ ...BudgetDebit.properties, refundOf: Id, amount: Amount });

/** The faults are the allocations whose books do not add up, 100 at most. */
export type BudgetLedgerCheck = Static<typeof BudgetLedgerCheck>;
export const BudgetLedgerCheck = Type.Object({
  valid: Type.Boolean(),
  allocations: Type.Integer(),
  faults: Type.Array(Type.Object({ allocationId: Id, fault: Type.String() })),
});

export const GrantPath = Type.Object({ grantId: Id });

export type BudgetAllocationQuery = Static<typeof BudgetAllocationQuery>;
export const BudgetAllocationQuery = Type.Object({ status: Type.Optional(Status), ...pageQuery('bdg') });

export type BudgetAllocationPage = Static<typeof BudgetAllocationPage>;
export const BudgetAllocationPage = Type.Object({
  allocations: Type.Array(BudgetAllocation),
  nextCursor: NextCursor,
});

export type BudgetTransactionQuery = Static<typeof BudgetTransactionQuery>;
export const BudgetTransactionQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  cursor: pageQuery('btx').cursor,
});

/** A refund has a negative amount, and names the debit that it takes back. */
export type BudgetTransaction = Static<typeof BudgetTransaction>;
export const BudgetTransaction = Type.Object({
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

export type BudgetTransactionPage = Static<typeof BudgetTransactionPage>;
export const BudgetTransactionPage = Type.Object({
  transactions: Type.Array(BudgetTransaction),
  total: Type.Integer(),
  page: Type.Integer(),
  pageSize: Type.Integer(),
  nextCursor: NextCursor,
});
