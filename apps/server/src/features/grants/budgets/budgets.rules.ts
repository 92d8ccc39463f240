import { readAmount, writeAmount } from '@behest/protocol/amounts';
import { AppError, badField } from '../../../platform/errors.ts';
import type { BudgetAllocation, BudgetTransaction } from './budgets.schema.ts';

/** Billionths, as the database has them. @throws BAD_REQUEST */
export function unitsOf(field: string, amount: string | number): string {
  const units = readAmount(amount);
  if (units !== undefined) return String(units);
  throw badField(
    field,
    'format',
    'An amount is above zero, at most 999999999999, and has at most nine decimals.',
  );
}

const MAX_METADATA_BYTES = 8_192;
const MAX_METADATA_DEPTH = 5;

/** @throws BAD_REQUEST */
export function mustBeSmall(metadata: object): void {
  const isLong = Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES;
  if (isLong || depthOf(metadata) > MAX_METADATA_DEPTH) throw badField('metadata', 'too_long');
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

export const grantInactive = (status: 'revoked' | 'expired') =>
  new AppError('GRANT_INACTIVE', 'The grant has ended, or one above it; ask for consent again.', { status });

/** An allocation with the end of its grant. */
export interface AllocationRow {
  readonly id: string;
  readonly developerId: string;
  readonly grantId: string;
  readonly agentId: string;
  readonly currency: string;
  readonly initial: string;
  readonly remaining: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly grantStatus: 'active' | 'revoked';
  readonly grantExpiresAt: Date;
}

export function toAllocation(row: AllocationRow, now: Date): BudgetAllocation {
  return {
    id: row.id,
    grantId: row.grantId,
    agentId: row.agentId,
    developerId: row.developerId,
    initialBudget: writeAmount(row.initial),
    remainingBudget: writeAmount(row.remaining),
    spent: writeAmount(BigInt(row.initial) - BigInt(row.remaining)),
    currency: row.currency,
    status: statusOf(row, now),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function statusOf(
  { grantStatus, grantExpiresAt, remaining }: AllocationRow,
  now: Date,
): BudgetAllocation['status'] {
  if (grantStatus === 'revoked' || grantExpiresAt <= now) return 'closed';
  return remaining === '0' ? 'exhausted' : 'active';
}

export interface TransactionRow {
  readonly id: string;
  readonly grantId: string;
  readonly allocationId: string;
  readonly amount: string;
  readonly balanceAfter: string;
  readonly description: string;
  readonly metadata: unknown;
  readonly sourceTransactionId: string | null;
  readonly sourceGrantId: string | null;
  readonly refundOf: string | null;
  readonly createdAt: Date;
}

export function toTransaction(row: TransactionRow): BudgetTransaction {
  return {
    id: row.id,
    grantId: row.grantId,
    allocationId: row.allocationId,
    amount: writeAmount(row.amount),
    description: row.description,
    metadata: Object(row.metadata),
    createdAt: row.createdAt.toISOString(),
    balanceAfter: writeAmount(row.balanceAfter),
    sourceTransactionId: row.sourceTransactionId,
    sourceGrantId: row.sourceGrantId,
    refundOf: row.refundOf,
  };
}

/** The member of an answer about a grant that has a budget of its own. */
export const shownBudget = ({
  initial,
  remaining,
  currency,
}: Readonly<Record<'initial' | 'remaining' | 'currency', string>>) => ({
  budget: { amount: writeAmount(initial), remaining: writeAmount(remaining), currency },
});
