import { readAmount, writeAmount } from './amounts.ts';
import {
  type BudgetUse,
  isPartial,
  type LimitEntry,
  type LimitFault,
  MAX_DEPTH,
  type Problem,
} from './limits-report.ts';

/** A grant as far as budgets need it. */
export interface BudgetedGrant {
  readonly id: string;
  readonly parent: BudgetedGrant | undefined;
  /** The grants above it. */
  readonly depth: number;
  allocation?: Allocation;
}

/** The budgets of a tree of grants. */
export interface Budgets {
  readonly grants: ReadonlyMap<string, BudgetedGrant>;
  readonly allocations: Map<string, Allocation>;
}

export interface Allocation extends Pick<BudgetUse, 'grantId' | 'allocationId' | 'currency'> {
  readonly seq: number;
  readonly grant: BudgetedGrant;
  readonly limit: bigint;
  /** The debits by their transaction. */
  readonly debits: Map<string, { readonly seq: number; readonly units: bigint; refunded: bigint }>;
  spent: bigint;
  peak: bigint;
}

/** Debits that are looked at in one step. */
const STEP = 5_000;

/** Billionths; zero for what is no amount above zero. */
const unitsOf = (amount: unknown): bigint => (typeof amount === 'string' && readAmount(amount)) || 0n;

/** Follows `budget.allocated`. */
export function allocate(tree: Budgets, entry: LimitEntry): Problem {
  const { seq, grantId, metadata } = entry;
  const { allocationId, currency, initialBudget } = metadata;
  const grant = tree.grants.get(String(grantId));
  if (!grant || ([allocationId, currency, initialBudget].includes(undefined) && isPartial(entry)))
    return 'unread';
  if (grant.allocation) return 'balance_differs';
  const limit = unitsOf(initialBudget);
  const named = { grantId: grant.id, allocationId: String(allocationId), currency: String(currency) };
  const made = { ...named, seq, grant, limit, debits: new Map(), spent: 0n, peak: 0n };
  grant.allocation = made;
  tree.allocations.set(made.allocationId, made);
  return undefined;
}

/** The nearest allocation above a grant that was there before an entry. */
function allocationAbove({ parent }: BudgetedGrant, seq: number): Allocation | undefined {
  for (let each = parent; each && each.depth <= MAX_DEPTH; each = each.parent)
    if (each.allocation && each.allocation.seq < seq) return each.allocation;
  return undefined;
}

/** Follows `budget.debited` and `budget.refunded`. */
export function move(tree: Budgets, entry: LimitEntry): Problem {
  const { seq, action, metadata } = entry;
  const { allocationId, amount, remaining, transactionId, refundOf } = metadata;
  const from = tree.allocations.get(String(allocationId));
  if (!from || ([amount, remaining, transactionId].includes(undefined) && isPartial(entry))) return 'unread';
  const units = unitsOf(amount);
  if (action === 'budget.debited') {
    from.debits.set(String(transactionId), { seq, units, refunded: 0n });
    from.spent += units;
    if (from.spent > from.peak) from.peak = from.spent;
    if (from.spent > from.limit) return 'budget_exceeded';
  } else {
    const debit = from.debits.get(String(refundOf));
    if (!debit) return isPartial(entry) ? 'unread' : 'balance_differs';
    debit.refunded += units;
    from.spent -= units;
    if (debit.refunded > debit.units) return 'balance_differs';
  }
  return unitsOf(remaining) === from.limit - from.spent ? undefined : 'balance_differs';
}

/** The last debits of allocations of which more was spent than was taken from the allocation above them. */
export function* unmatched({ allocations }: Budgets): Generator<void, LimitFault[]> {
  const passedOn = new Map<Allocation, { units: bigint; seq: number; grantId: string }>();
  let looked = 0;
  for (const { grant, debits } of allocations.values()) {
    for (const { seq, units, refunded } of debits.values()) {
      looked += 1;
      if (looked % STEP === 0) yield;
      const above = allocationAbove(grant, seq);
      const sum = above && (passedOn.get(above)?.units ?? 0n) + units - refunded;
      if (above && sum !== undefined) passedOn.set(above, { units: sum, seq, grantId: grant.id });
    }
  }
  return [...passedOn].flatMap(([above, { units, seq, grantId }]) =>
    units > above.spent ? [{ seq, grantId, problem: 'balance_differs' as const }] : [],
  );
}

/** How far an allocation was used. */
export const budgetUse = ({
  grantId,
  allocationId,
  currency,
  limit,
  peak,
  spent,
}: Allocation): BudgetUse => ({
  ...{ grantId, allocationId, currency },
  ...{ limit: writeAmount(limit), peak: writeAmount(peak), spent: writeAmount(spent) },
});
