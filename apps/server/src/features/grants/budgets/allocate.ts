import { writeAmount } from '@behest/protocol/amounts';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, mustBeWhole, pageOf, positionOf } from '../../../platform/paging.ts';
import { prepareActs } from '../../record/audit/index.ts';
import { findGrant } from '../grants/grants.queries.ts';
import type { OnGrantsRead } from '../grants/index.ts';
import { findBudgets } from './budgets.queries.ts';
import {
  addUpLedger,
  countTransactions,
  findAllocation,
  insertAllocation,
  listAllocationRows,
  listChain,
  listTransactionRows,
} from './budgets.repo.ts';
import { grantInactive, shownBudget, toAllocation, toTransaction, unitsOf } from './budgets.rules.ts';
import type {
  BudgetAllocation,
  BudgetAllocationPage,
  BudgetAllocationQuery,
  BudgetLedgerCheck,
  BudgetTransactionPage,
  BudgetTransactionQuery,
  NewBudgetAllocation,
} from './budgets.schema.ts';

export interface BudgetDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** @throws BAD_REQUEST, NOT_FOUND, GRANT_INACTIVE, CONFLICT, CURRENCY_MISMATCH, INSUFFICIENT_BUDGET */
export async function allocate(
  { db, clock }: BudgetDeps,
  caller: Caller,
  { grantId, initialBudget, currency }: NewBudgetAllocation,
): Promise<BudgetAllocation> {
  const initial = unitsOf('initialBudget', initialBudget);
  const grant = await findGrant(db, caller, grantId);
  if (!grant) throw notFound();
  const at = clock();
  const allocation = { id: newId('bdg', at), grantId, currency, initial };
  const act = budgetAllocated(concerning({ ...grant, grantId }), allocation);
  const records = prepareActs(caller, [act], at);
  const refusal = await insertAllocation(db, caller.tenant, at, { allocation, records });
  if (refusal === 'revoked' || refusal === 'expired') throw grantInactive(refusal);
  if (refusal === 'allocated') throw new AppError('CONFLICT', 'The grant has a budget already.');
  if (refusal) {
    const above = { parentGrantId: String(grant.parentGrantId), initial };
    throw await allocationRefused({ db }, caller, refusal, above);
  }
  const ends = { agentId: grant.agentId, grantStatus: grant.status, grantExpiresAt: grant.expiresAt };
  const times = { createdAt: at, updatedAt: at };
  return toAllocation({ ...allocation, ...caller.tenant, ...times, ...ends, remaining: initial }, at);
}

export const budgetAllocated = (
  about: ReturnType<typeof concerning>,
  { id, initial, currency }: { readonly id: string; readonly initial: string; readonly currency: string },
) =>
  ({
    type: 'budget.allocated',
    ...about,
    data: { allocationId: id, initialBudget: writeAmount(initial), currency },
  }) as const;

/** Why a part of a grant did not get its budget. */
export async function allocationRefused(
  deps: Pick<BudgetDeps, 'db'>,
  caller: Caller,
  refusal: 'currency_mismatch' | 'insufficient',
  { parentGrantId, initial }: { readonly parentGrantId: string; readonly initial: string },
): Promise<AppError> {
  if (refusal === 'currency_mismatch') return currencyMismatch();
  return insufficient((await listChain(deps.db, caller, parentGrantId)).toReversed(), initial);
}

const currencyMismatch = () =>
  new AppError('CURRENCY_MISMATCH', 'A budget above this one has another currency; use the same.');

interface AllocationBalance {
  readonly grantId: string;
  readonly allocationId: string | null;
  readonly remaining: string | null;
  readonly currency: string | null;
}

/** @param held allocations root first, of which the first that cannot cover the amount is named */
export function insufficient(held: readonly AllocationBalance[], requested: string): AppError {
  const least = held.find(({ remaining }) => remaining !== null && BigInt(remaining) < BigInt(requested));
  return new AppError('INSUFFICIENT_BUDGET', 'The budget does not cover this amount; ask for less.', {
    remaining: writeAmount(least?.remaining ?? '0'),
    currency: least?.currency,
    requested: writeAmount(requested),
    grantId: least?.grantId,
    allocationId: least?.allocationId,
  });
}

/** @throws NOT_FOUND */
export async function getBalance(
  { db, clock }: BudgetDeps,
  caller: Caller,
  grantId: string,
): Promise<BudgetAllocation> {
  const found = await findAllocation(db, caller, grantId);
  if (!found) throw notFound();
  return toAllocation(found, clock());
}

/** The member `budget` of each grant that has one. */
export const budgetsOfGrants: OnGrantsRead = async (db, tenant, grantIds) => {
  const budgets = await findBudgets(db, tenant, grantIds);
  return new Map([...budgets].map(([grantId, budget]) => [grantId, shownBudget(budget)]));
};

export async function listAllocations(
  { db, clock }: BudgetDeps,
  caller: Caller,
  query: BudgetAllocationQuery,
): Promise<BudgetAllocationPage> {
  const now = clock();
  const rows = await listAllocationRows(db, caller, query, now);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toAllocation(row, now));
  return { allocations: page, nextCursor };
}

/** Whether each movement comes to zero, and each balance is the sum of its entries. */
export async function verifyLedger({ db }: BudgetDeps, caller: Caller): Promise<BudgetLedgerCheck> {
  const { allocations, faults } = await addUpLedger(db, caller.tenant);
  return { valid: faults.length === 0, allocations, faults };
}

const PAGE_SIZE = 50; // older clients expect it

/** @throws NOT_FOUND for a grant, or BAD_REQUEST for a page that the query cannot name */
export async function listTransactions(
  { db }: BudgetDeps,
  caller: Caller,
  grantId: string,
  query: BudgetTransactionQuery,
): Promise<BudgetTransactionPage> {
  const position = positionOf(query, PAGE_SIZE);
  const { page, pageSize } = position;
  const allocation = await findAllocation(db, caller, grantId);
  if (!allocation) {
    if (!(await findGrant(db, caller, grantId))) throw notFound();
    return { transactions: [], total: 0, page, pageSize, nextCursor: null };
  }
  const rows = await listTransactionRows(db, caller.tenant, allocation.id, position);
  const total = await countTransactions(db, caller.tenant, allocation.id);
  const shown = pageOf(rows, byId, toTransaction);
  mustBeWhole(position, shown);
  return { transactions: shown.page, total, page, pageSize, nextCursor: shown.nextCursor };
}
